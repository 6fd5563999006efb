// Start with 50,000 Pods in etcd, beside a bare process that reads the same range with the same
// client.
// Run: npm run bench -- start [number of Pods]
import { samplePod } from '../micro/sample-pod.ts';
import { median, verdict } from '../support/compare.ts';
import { podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';

const podCount = Number(process.argv[2] ?? 50_000);
const rounds = 3;

await withBench(async (bench) => {
  await bench.stopServer(await bench.server()); // its certificates are made once
  await bench.fill(bench.resource('pods'), podCount, (index) =>
    podIn(samplePod(index), `team-${String(index % 20)}`, index),
  );
  const bareMs: number[] = [];
  const fillMs: number[] = [];
  const readyMs: number[] = [];
  const turnsMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const bare = await bench.bare('bare-range.ts', [bench.etcd.endpoints.join(','), '/registry/']);
    bareMs.push(numberIn(bare.process.output, /ms=(\d+)/));
    await bench.stopServer(bare);
    const startedMs = performance.now();
    const server = await bench.server({ watchStalls: true });
    readyMs.push(performance.now() - startedMs);
    turnsMs.push((await server.process.stalls()).cpuMaxMs);
    fillMs.push(numberIn(server.process.output, /"tookMs":(\d+)/));
    await bench.stopServer(server);
  }
  console.log(`start with ${String(podCount)} Pods of 2.5 KB in etcd`);
  console.log(`  bare, range read by pages      ${median(bareMs).toFixed(0)} ms`);
  console.log(`  server, cache filled           ${median(fillMs).toFixed(0)} ms`);
  console.log(`  server, process start to ready ${median(readyMs).toFixed(0)} ms`);
  verdict('filling to bare reading', median(fillMs) / median(bareMs), { atMost: 2 });
  verdict('most CPU in one turn once listening, ms', median(turnsMs), { atMost: 50 });
});

function numberIn(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`no ${String(pattern)} in ${text}`);
  return Number(found);
}
