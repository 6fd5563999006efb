// RSS after forced collections of a server with 20,000 Pods of 2.5 KB, minus the same server
// without objects.
import { samplePod } from '../micro/sample-pod.ts';
import { verdict } from '../support/compare.ts';
import { podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { MemoryAnswer } from '../support/probe.ts';

const podCount = Number(process.argv[2] ?? 20_000);
const mega = 1024 * 1024;

await withBench(async (bench) => {
  const first = await bench.server();
  const empty = await first.process.memory();
  await bench.stopServer(first);
  const pods = bench.resource('pods');
  const jsonBytes = await bench.fill(pods, podCount, (index) =>
    podIn(samplePod(index), `team-${String(index % 20)}`, index),
  );
  const server = await bench.server();
  const full = await server.process.memory();
  const snapshot = process.env['BENCH_HEAP_SNAPSHOT'];
  if (snapshot !== undefined) await server.process.heapSnapshot(snapshot);
  const perPod = (jsonBytes / podCount).toFixed(0);
  console.log(
    `memory with ${String(podCount)} Pods of ${perPod} bytes,` +
      ` ${(jsonBytes / mega).toFixed(1)} MB of JSON`,
  );
  print('empty', empty);
  print('full', full);
  verdict('RSS for the objects, to their JSON', (full.rssBytes - empty.rssBytes) / jsonBytes, {
    atMost: 1.4,
  });
  verdict('RSS in total, MB', full.rssBytes / mega, { atMost: 220 });
});

function print(name: string, memory: MemoryAnswer): void {
  const text = (['rssBytes', 'heapBytes', 'externalBytes'] as const)
    .map((part) => `${part.slice(0, -'Bytes'.length)} ${(memory[part] / mega).toFixed(1)}`)
    .join(', ');
  console.log(`  ${name.padEnd(8)} ${text} MB`);
}
