// GET of one Pod, consistent, 64 keep-alive TLS connections, beside a bare node:https server with the same answer.
import { samplePod } from '../micro/sample-pod.ts';
import { bareAnswer } from '../support/bare.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import { withBench } from '../support/server.ts';

const bounds = { durationMs: 1_500, countMax: 100_000 };
const connectionCount = 64;

await withBench(async (bench) => {
  await bench.fill(bench.resource('pods'), 100, samplePod);
  const pod = samplePod(7)['metadata'] as { name: string; namespace: string };
  const request = requestBytes('GET', `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}`);
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
  console.log('GET of a Pod of 2.5 KB, 64 connections');
  printSides(sides);
  const [base, own] = sides;
  verdict('requests per CPU-second, server to bare', base.microsPerRequest / own.microsPerRequest, {
    atLeast: 0.6,
  });
  verdict('requests/s, server to bare', own.perSecond / base.perSecond, { atLeast: 0.6 });
});
