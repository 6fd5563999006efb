// 2,000 definitions of 20 KB with three rules each, written by 16 writers, beside the same server
// without any: time, memory, start, what others notice, OpenAPI, what is left when they are gone.
// Run: npm run bench -- definitions [count [ms to wait for what the event log keeps]]
import { samplePod } from '../micro/sample-pod.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import { compare, median, percentile, printSides, verdict } from '../support/compare.ts';
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
/** The event log keeps what was deleted so long, and half a minute more until it is cut. */
const logWindowMs = 330_000;
const mega = 1024 * 1024;
const pod = requestBytes('GET', '/api/v1/namespaces/busy/pods/web-000007');
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

await withBench(async (bench) => {
  await bench.fill(bench.resource('pods'), 100, (index) => podIn(samplePod(index), 'busy', index));
  const emptyStart = await startOf(bench);
  const server = await bench.server();
  const empty = await server.process.memory();
  const asker = await Asker.open(server.port);
  const emptyIdle = await idleOf(server);
  const former = await costOfEach(server, asker, count);
  await remove(server, asker, sampleCount);
  const quietMs = await paced(server, pause(3_000));
  console.log(
    `${String(count)} definitions of ${String(shape.bytes / 1_000)} KB with 3 rules each`,
  );
  print('empty', empty);

  const busyMs = await writeAll(server, asker, quietMs);
  print('written', await server.process.memory());
  verdict('p99 of a GET of a Pod meanwhile, to before', busyMs / quietMs, { atMost: 2 });
  const idle = await idleOf(server);
  console.log(`  idle: ${idle.toFixed(2)} % of a core, without any ${emptyIdle.toFixed(2)} %`);
  verdict('idle CPU more than without any, %', idle - emptyIdle, { atMost: 1 });
  const later = await costOfEach(server, asker, count);
  console.log(`  one more costs ${later.toFixed(1)} CPU-ms, the first ones ${former.toFixed(1)}`);
  verdict('one more beside all, to one of the first', later / former, { atMost: 1.5 });
  await withBench(async (other) => unchangedDiscovery(await other.server(), server));
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
  await pause(Number(process.argv[3] ?? logWindowMs));
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
  const bodies = Array.from({ length: count }, (_, index) =>
    createBytes(definitionOf(index, shape)),
  );
  const startedMs = performance.now();
  const profileTo = process.env['BENCH_PROFILE'];
  const work = async (): Promise<void> => {
    const next = (index: number): Buffer => bodies[index] ?? Buffer.alloc(0);
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

/** Answers that nothing has changed, by a server without any and by the one with all. */
async function unchangedDiscovery(without: Target, withAll: Target): Promise<void> {
  const sideOf = async (name: string, { port, process }: Target) => {
    const asker = await Asker.open(port);
    const { head } = await asker.ask(discoveryRequest());
    asker.close();
    const tag = /etag: ("[^"]+")/i.exec(head)?.[1] ?? '';
    const request = discoveryRequest([`if-none-match: ${tag}`]);
    const bounds = { durationMs: 2_000, countMax: 5_000, statusMax: 304 };
    const connections = await openConnections(port, 8);
    return { name, process, run: () => closedLoop(connections, () => request, bounds) };
  };
  const sides = await compare([
    await sideOf('304 without any', without),
    await sideOf('304 with all', withAll),
  ]);
  printSides(sides);
  const [base, own] = sides;
  verdict('304 of discovery, with all to without', own.microsPerRequest / base.microsPerRequest, {
    atMost: 1.2,
  });
}

/** Percent of a core. */
async function idleOf({ process }: Target): Promise<number> {
  return (await process.cpuOf(() => pause(idleMs))).micros / idleMs / 10;
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
