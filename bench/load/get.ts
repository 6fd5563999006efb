// GET of one Pod, consistent, 64 keep-alive TLS connections, beside a bare node:https server with
// the same answer.
import { samplePod } from '../micro/sample-pod.ts';
import { bareAnswer } from '../support/bare.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import { podIn } from '../support/objects.ts';
import { printMetrics } from '../support/server-metrics.ts';
import { withBench } from '../support/server.ts';

const bounds = { durationMs: 2_000, countMax: 100_000 };
const connectionCount = 64;

await withBench(async (bench) => {
  await bench.fill(bench.resource('pods'), 100, (index) => podIn(samplePod(index), 'busy', index));
  const request = requestBytes('GET', '/api/v1/namespaces/busy/pods/web-000007');
  const server = await bench.server();
  const bare = await bareAnswer(bench, server, request);
  const run = async (port: number) => {
    const connections = await openConnections(port, connectionCount);
    return () => closedLoop(connections, () => request, bounds);
  };
  const sides = await compare([
    { name: 'bare node:https', process: bare.process, run: await run(bare.port) },
    { name: 'server, consistent', process: server.process, run: await run(server.port) },
  ]);
  if (process.env['BENCH_METRICS'] !== undefined) await printMetrics(server);
  console.log('GET of a Pod of 2.5 KB, 64 connections');
  printSides(sides);
  const [base, own] = sides;
  verdict('requests per CPU-second, server to bare', base.microsPerRequest / own.microsPerRequest, {
    atLeast: 0.6,
  });
  verdict('requests/s, server to bare', own.perSecond / base.perSecond, { atLeast: 0.6 });
});
