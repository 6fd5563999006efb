// What a quiet time costs: CREATE of a ConfigMap after a pause beside the same while busy, and what
// memory a server keeps through it that answered LISTs before. With another tree, both by turns.
// Run: npm run bench -- quiet [rounds [seconds [/path/to/the/other/tree]]]
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { samplePod } from '../micro/sample-pod.ts';
import { median, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import { accountObject, namespaceObject, podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Bench, Target } from '../support/server.ts';
import { writeCases } from '../support/writes.ts';

const [rounds = '4', seconds = '20', other = ''] = process.argv.slice(2);
const podCount = 10_000;
/** Of 1,500 each: the optimizing compiler is done then. */
const warmUpRuns = 30;
/** Before each pause: the compiler starts anew after the one before. */
const busyRuns = 10;
const listBytes = requestBytes('GET', '/api/v1/namespaces/bench/pods');
const lists = { durationMs: 10_000, countMax: 40 };
const kilobytesInMega = 1024;

interface Figures {
  readonly busyMicros: number[];
  readonly afterMicros: number[];
  readonly burstMega: number[];
  readonly quietMega: number[];
}

interface Side {
  readonly server: Target;
  /** CPU-µs a CREATE of one run. */
  readonly create: () => Promise<number>;
  readonly list: () => Promise<void>;
  readonly figures: Figures;
}

await withBench(async (bench) => {
  const own = await sideOf(bench);
  if (other === '') await measure({ server: own });
  else
    await withBench(async (second) => measure({ other: await sideOf(second, other), server: own }));
});

async function measure(sides: Readonly<Record<string, Side>>): Promise<void> {
  for (let run = 0; run < warmUpRuns; run++) {
    for (const { create } of Object.values(sides)) await create();
  }
  for (let round = 0; round < Number(rounds); round++) {
    for (const side of Object.values(sides)) await keepBusy(side);
    await sleep(Number(seconds) * 1_000);
    for (const { server, create, figures } of Object.values(sides)) {
      figures.quietMega.push(rssMega(server));
      figures.afterMicros.push(mean([await create(), await create(), await create()]));
    }
  }
  console.log(`CREATE of a ConfigMap before and after ${seconds} s without a request`);
  for (const [name, { figures }] of Object.entries(sides)) {
    const [busy, after] = [median(figures.busyMicros), median(figures.afterMicros)];
    const [burst, quiet] = [median(figures.burstMega), median(figures.quietMega)];
    console.log(
      `  ${name.padEnd(8)} ${busy.toFixed(1)} CPU-µs while busy, ${after.toFixed(1)} after;` +
        ` RSS ${burst.toFixed(1)} MB after LISTs, ${quiet.toFixed(1)} MB at the end of the pause`,
    );
    verdict('CPU of the first 4,500 after the pause, to before', after / busy, { atMost: 1.25 });
  }
}

async function keepBusy({ server, create, list, figures }: Side): Promise<void> {
  const runs: number[] = [];
  for (let run = 0; run < busyRuns; run++) runs.push(await create());
  figures.busyMicros.push(median(runs.slice(busyRuns / 2)));
  await list();
  figures.burstMega.push(rssMega(server));
}

async function sideOf(bench: Bench, folder?: string): Promise<Side> {
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('bench'));
  await bench.fill(bench.resource('serviceaccounts'), 1, () => accountObject('bench'));
  await bench.fill(bench.resource('pods'), podCount, (index) =>
    podIn(samplePod(index), 'bench', index),
  );
  const server = await bench.server(folder === undefined ? {} : { folder });
  const writeCase = writeCases(bench)['CREATE of a ConfigMap'];
  if (writeCase === undefined) throw new Error('no such case');
  const load = writeCase.start(await openConnections(server.port, 16, { keepBodies: true }));
  return {
    server,
    figures: { busyMicros: [], afterMicros: [], burstMega: [], quietMega: [] },
    async create() {
      const { result, micros } = await server.process.cpuOf(() => load.run());
      return micros / result.count;
    },
    async list() {
      const readers = await openConnections(server.port, 4);
      await closedLoop(readers, () => listBytes, lists);
      for (const reader of readers) reader.close();
    },
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** As it is, without a collection that is asked for. */
function rssMega({ process: { pid } }: Target): number {
  const [, kilobytes = ''] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / kilobytesInMega;
}
