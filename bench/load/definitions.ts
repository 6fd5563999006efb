// Definitions of custom resources in number: 2,000 of 20 KB with three rules each, written by 16
// writers, beside the same server without any: time, memory, start, idle CPU, what one more costs,
// what others notice, OpenAPI v2 of all, and what is left when they are gone.
// Run: npm run bench -- definitions [count]
import { samplePod } from '../micro/sample-pod.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import { median, percentile, verdict } from '../support/compare.ts';
import {
  Asker,
  createBytes,
  definitionOf,
  definitionsPath,
  discoveryRequest,
  nameOf,
} from '../support/definitions.ts';
import { podIn } from '../support/objects.ts';
import type { MemoryAnswer } from '../support/probe.ts';
import { withBench } from '../support/server.ts';
import type { Bench, Target } from '../support/server.ts';

const count = Number(process.argv[2] ?? 2_000);
const shape = { bytes: 20_000 };
const [writers, sampleCount, startRounds] = [16, 30, 2];
const idleMs = 10_000;
const giveUpMs = 240_000;
const mega = 1024 * 1024;
const pod = requestBytes('GET', '/api/v1/namespaces/busy/pods/web-000007');
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

await withBench(async (bench) => {
  await bench.fill(bench.resource('pods'), 100, (index) => podIn(samplePod(index), 'busy', index));
  const emptyStart = await startOf(bench);
  const server = await bench.server();
  const asker = await Asker.open(server.port);
  const former = await costOfEach(server, asker, count);
  await remove(server, asker, sampleCount);
  const emptyDiscovery = await unchangedDiscovery(server);
  const quietMs = await paced(server, pause(3_000));
  const empty = await server.process.memory();
  console.log(
    `${String(count)} definitions of ${String(shape.bytes / 1_000)} KB with 3 rules each`,
  );
  print('empty', empty);

  const busyMs = await writeAll(server, asker, quietMs);
  print('written', await server.process.memory());
  verdict('p99 of a GET of a Pod meanwhile, to before', busyMs / quietMs, { atMost: 2 });
  const idle = await server.process.cpuOf(() => pause(idleMs));
  verdict('idle CPU, %', idle.micros / idleMs / 10, { atMost: 1 });
  const later = await costOfEach(server, asker, count);
  console.log(`  one more costs ${later.toFixed(1)} CPU-ms, the first ones ${former.toFixed(1)}`);
  verdict('one more beside all, to one of the first', later / former, { atMost: 1.5 });
  const fullDiscovery = await unchangedDiscovery(server);
  console.log(
    `  304 of discovery: ${emptyDiscovery.toFixed(1)} CPU-µs, with all ${fullDiscovery.toFixed(1)}`,
  );
  verdict('304 of discovery, with all to without', fullDiscovery / emptyDiscovery, { atMost: 1.2 });
  await readOpenApi(server, asker);
  print('v2 read', await server.process.memory());
  asker.close();
  await bench.stopServer(server);

  const fullStart = await startOf(bench);
  verdict('start, s longer', (fullStart.ms - emptyStart.ms) / 1_000, { atMost: 5 });
  verdict('start, CPU-s more', (fullStart.cpuMs - emptyStart.cpuMs) / 1_000, { atMost: 5 });
  const again = await bench.server();
  const full = await again.process.memory();
  print('started', full);
  const snapshot = process.env['BENCH_HEAP_SNAPSHOT'];
  if (snapshot !== undefined) await again.process.heapSnapshot(snapshot);
  verdict('RSS above empty, MB', (full.rssBytes - empty.rssBytes) / mega, { atMost: 300 });
  const last = await Asker.open(again.port);
  await remove(again, last, count + sampleCount);
  const gone = await again.process.memory();
  print('deleted', gone);
  verdict('heap that stays, MB', (gone.heapBytes - empty.heapBytes) / mega, { atMost: 15 });
  last.close();
});

/** CPU-ms of one after the other until each is established. */
async function costOfEach(server: Target, asker: Asker, first: number): Promise<number> {
  const samples: number[] = [];
  for (let at = 0; at < sampleCount; at++) {
    const definition = definitionOf(first + at, shape);
    const { micros } = await server.process.cpuOf(async () => {
      await asker.ask(createBytes(definition));
      await asker.established(nameOf(definition));
    });
    samples.push(micros / 1_000);
  }
  return median(samples.slice(sampleCount / 3));
}

async function remove(server: Target, asker: Asker, of: number): Promise<void> {
  const startedMs = performance.now();
  const { micros } = await server.process.cpuOf(async () => {
    await asker.ask(requestBytes('DELETE', definitionsPath));
    await until(async () => (await asker.discovered()) === 0);
  });
  const seconds = (performance.now() - startedMs) / 1_000;
  const each = (micros / of / 1_000).toFixed(1);
  console.log(`  ${String(of)} deleted in ${seconds.toFixed(1)} s, ${each} CPU-ms each`);
}

/** @returns the p99 of GETs of a Pod meanwhile, in ms. */
async function writeAll(server: Target, asker: Asker, quietMs: number): Promise<number> {
  const connections = await openConnections(server.port, writers);
  const startedMs = performance.now();
  const profileTo = process.env['BENCH_PROFILE'];
  const work = async (): Promise<void> => {
    const next = (index: number): Buffer => createBytes(definitionOf(index, shape));
    await closedLoop(connections, next, { durationMs: giveUpMs, countMax: count });
    console.log(`  answered after ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
    await until(async () => (await asker.discovered()) === count);
  };
  const run = (): Promise<void> =>
    profileTo === undefined ? work() : server.process.profileOf(profileTo, work);
  const { result, micros } = await server.process.cpuOf(() =>
    server.process.stallsOf(() => paced(server, run())),
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  for (const connection of connections) connection.close();
  console.log(
    `  written: ${(micros / count / 1_000).toFixed(1)} CPU-ms each; GET of a Pod p99 ` +
      `${quietMs.toFixed(1)} ms before, ${result.result.toFixed(1)} ms meanwhile`,
  );
  verdict('all established and in discovery, s', seconds, { atMost: 60 });
  verdict('CPU of it, s', micros / 1e6, { atMost: 60 });
  verdict('most CPU in one turn, ms', result.stalls.cpuMaxMs, { atMost: 50 });
  return result.result;
}

/** GETs of a Pod, one every 5 ms, while `work` is done. @returns their p99 in ms. */
async function paced(server: Target, work: Promise<void>): Promise<number> {
  const [connection] = await openConnections(server.port, 1);
  const latenciesMs: number[] = [];
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  while (!isDone) {
    const sentMs = performance.now();
    await connection?.request(pod);
    latenciesMs.push(performance.now() - sentMs);
    await pause(5);
  }
  await done;
  connection?.close();
  return percentile(latenciesMs, 99);
}

/** CPU-µs of an answer that nothing has changed. */
async function unchangedDiscovery(server: Target): Promise<number> {
  const asker = await Asker.open(server.port);
  const { head } = await asker.ask(discoveryRequest());
  const tag = /etag: ("[^"]+")/i.exec(head)?.[1] ?? '';
  const request = discoveryRequest([`if-none-match: ${tag}`]);
  const samples: number[] = [];
  for (let round = 0; round < 5; round++) {
    const { micros } = await server.process.cpuOf(async () => {
      for (let at = 0; at < 1_000; at++) {
        if ((await asker.ask(request)).status !== 304) throw new Error('discovery has changed');
      }
    });
    samples.push(micros / 1_000);
  }
  asker.close();
  return median(samples);
}

async function readOpenApi(server: Target, asker: Asker): Promise<void> {
  const startedMs = performance.now();
  const { result, stalls } = await server.process.stallsOf(() =>
    asker.ask(requestBytes('GET', '/openapi/v2')),
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  const size = (result.bodyBytes / mega).toFixed(1);
  console.log(`  OpenAPI v2 of all: ${size} MB, ${seconds.toFixed(1)} s`);
  verdict('most CPU in one turn of OpenAPI v2, ms', stalls.cpuMaxMs, { atMost: 50 });
}

async function startOf(bench: Bench): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const samples: { ms: number; cpuMs: number }[] = [];
  await bench.stopServer(await bench.server()); // its certificates are made once
  for (let round = 0; round < startRounds; round++) {
    const startedMs = performance.now();
    const server = await bench.server();
    const ms = performance.now() - startedMs;
    samples.push({ ms, cpuMs: (await server.process.cpuMicros()) / 1_000 });
    await bench.stopServer(server);
  }
  const of = (pick: (one: { ms: number; cpuMs: number }) => number): number =>
    Math.min(...samples.map(pick));
  const found = { ms: of(({ ms }) => ms), cpuMs: of(({ cpuMs }) => cpuMs) };
  console.log(`  start ${found.ms.toFixed(0)} ms, ${found.cpuMs.toFixed(0)} CPU-ms`);
  return found;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + giveUpMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error('it did not come to pass');
    await pause(200);
  }
}

function print(name: string, memory: MemoryAnswer): void {
  const text = (['rssBytes', 'heapBytes', 'externalBytes'] as const)
    .map((part) => `${part.slice(0, -'Bytes'.length)} ${(memory[part] / mega).toFixed(1)}`)
    .join(', ');
  console.log(`  ${name.padEnd(8)} ${text} MB`);
}
