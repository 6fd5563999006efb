// From the create of a definition until it is established, with one replica and with three on one
// etcd; and the CPU of a definition of 800 KB that is admitted.
// Run: npm run bench -- established
import { percentile, verdict } from '../support/compare.ts';
import { Asker, createBytes, definitionOf, nameOf } from '../support/definitions.ts';
import { withBench } from '../support/server.ts';
import type { Target } from '../support/server.ts';

const [smallCount, largeCount, warmUpCount] = [40, 5, 10];
let nextIndex = 0;

await withBench(async (bench) => {
  const first = await bench.server();
  const one = await smallOnes([first]);
  verdict('established with one replica, p90 ms', one, { atMost: 200 });
  await largeOnes(first);
  const another = (name: string) => bench.server({ flags: [`--data-dir=${bench.file(name)}`] });
  const three = [first, await another('second'), await another('third')];
  const together = await smallOnes(three);
  verdict('established with three replicas, p90 ms', together, { atMost: 1_000 });
});

/** Each is written through one replica and asked of the next. @returns the p90 in ms. */
async function smallOnes(replicas: readonly Target[]): Promise<number> {
  const askers = await Promise.all(replicas.map(({ port }) => Asker.open(port)));
  const waitsMs: number[] = [];
  for (let at = 0; at < warmUpCount + smallCount; at++) {
    const [writer, reader] = [askers[at % askers.length], askers[(at + 1) % askers.length]];
    const definition = definitionOf(nextIndex++, { bytes: 20_000 });
    const startedMs = performance.now();
    await writer?.ask(createBytes(definition));
    await reader?.established(nameOf(definition));
    if (at >= warmUpCount) waitsMs.push(performance.now() - startedMs);
  }
  for (const asker of askers) asker.close();
  const [p50, p90, max] = [50, 90, 100].map((percent) => percentile(waitsMs, percent).toFixed(0));
  console.log(
    `${String(replicas.length)} replicas, 20 KB, created until established: ` +
      `p50 ${p50 ?? ''} ms, p90 ${p90 ?? ''} ms, most ${max ?? ''} ms`,
  );
  return percentile(waitsMs, 90);
}

async function largeOnes({ port, process }: Target): Promise<void> {
  const asker = await Asker.open(port);
  const [secondsOfCpu, turnsMs]: [number[], number[]] = [[], []];
  for (let at = 0; at < largeCount; at++) {
    const definition = definitionOf(nextIndex++, { bytes: 800_000 });
    const { result, micros } = await process.cpuOf(() =>
      process.stallsOf(async () => {
        await asker.ask(createBytes(definition));
        await asker.established(nameOf(definition));
      }),
    );
    secondsOfCpu.push(micros / 1e6);
    turnsMs.push(result.stalls.cpuMaxMs);
  }
  asker.close();
  const all = secondsOfCpu.map((seconds) => seconds.toFixed(2)).join(', ');
  console.log(`800 KB, created until established: ${all} s of CPU`);
  verdict('a definition of 800 KB, the first, s of CPU', secondsOfCpu[0] ?? NaN, { atMost: 1 });
  verdict('most CPU in one turn, ms', Math.max(...turnsMs), { atMost: 50 });
}
