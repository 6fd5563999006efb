// GET of one Pod, consistent, beside a bare server with the same answer: over 64 keep-alive TLS
// connections of HTTP/1.1, and over 64 streams of 8 connections of HTTP/2.
// Run: npm run bench -- get [http1|http2]
import { samplePod } from '../micro/sample-pod.ts';
import { bareAnswer } from '../support/bare.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import type { LoadResult } from '../support/http1-client.ts';
import { lanesOf, openSessions } from '../support/http2-client.ts';
import { podIn } from '../support/objects.ts';
import { printMetrics } from '../support/server-metrics.ts';
import { withBench } from '../support/server.ts';
import type { Bench, Target } from '../support/server.ts';

const bounds = { durationMs: 2_000, countMax: 100_000 };
const connectionCount = 64;
const sessionCount = 8;
const request = requestBytes('GET', '/api/v1/namespaces/busy/pods/web-000007');
const [only] = process.argv.slice(2);

await withBench(async (bench) => {
  await bench.fill(bench.resource('pods'), 100, (index) => podIn(samplePod(index), 'busy', index));
  const server = await bench.server();
  if (only !== 'http2') await measureHttp1(bench, server);
  if (only !== 'http1') await measureHttp2(bench, server);
  if (process.env['BENCH_METRICS'] !== undefined) await printMetrics(server);
});

type Run = () => Promise<LoadResult>;

async function measureHttp1(bench: Bench, server: Target): Promise<void> {
  const bare = await bareAnswer(bench, server, request);
  const run = async (port: number): Promise<Run> => {
    const connections = await openConnections(port, connectionCount);
    return () => closedLoop(connections, () => request, bounds);
  };
  const name = `${String(connectionCount)} connections`;
  await measure(`GET of a Pod of 2.5 KB, ${name}`, '', { server, bare, run });
}

async function measureHttp2(bench: Bench, server: Target): Promise<void> {
  const bare = await bareAnswer(bench, server, request, '', 'bare-answer-http2.ts');
  const run = async (port: number): Promise<Run> => {
    const lanes = lanesOf(await openSessions(port, sessionCount), connectionCount / sessionCount);
    return () => closedLoop(lanes, () => request, bounds);
  };
  const name = `${String(connectionCount)} streams of HTTP/2`;
  await measure(`GET of a Pod of 2.5 KB, ${name}`, ', HTTP/2', { server, bare, run });
}

async function measure(
  title: string,
  suffix: string,
  of: {
    readonly server: Target;
    readonly bare: Target;
    readonly run: (port: number) => Promise<Run>;
  },
): Promise<void> {
  const { server, bare, run } = of;
  const sides = await compare([
    { name: `bare node${suffix}`, process: bare.process, run: await run(bare.port) },
    { name: 'server, consistent', process: server.process, run: await run(server.port) },
  ]);
  console.log(title);
  printSides(sides);
  const [base, own] = sides;
  const ratio = base.microsPerRequest / own.microsPerRequest;
  verdict(`requests per CPU-second, server to bare${suffix}`, ratio, { atLeast: 0.65 });
  const speed = own.perSecond / base.perSecond;
  verdict(`requests/s, server to bare${suffix}`, speed, { atLeast: 0.6 });
}
