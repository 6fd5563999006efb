// LIST of 1,000 and 10,000 Pods, consistent, in each encoding, beside a bare server with one
// prebuilt buffer of as many bytes; stalls of both.
// Run: npm run bench -- list [1000|10000|all [json|protobuf|table|metadata|gzip|all]]
import { samplePod } from '../micro/sample-pod.ts';
import { bareAnswer } from '../support/bare.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import { listForms } from '../support/list-forms.ts';
import type { ListForm } from '../support/list-forms.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import { podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Bench, Target } from '../support/server.ts';

const connectionCount = 4;
const [count = 'all', encoding = 'json'] = process.argv.slice(2);
await withBench(async (bench) => {
  const pods = bench.resource('pods');
  await bench.fill(pods, 1_000, (index) => podIn(samplePod(index), 'thousand', index));
  await bench.fill(pods, 10_000, (index) => podIn(samplePod(index), 'tenthousand', index));
  const server = await bench.server();
  for (const list of [
    { namespace: 'thousand', count: 1_000 },
    { namespace: 'tenthousand', count: 10_000 },
  ]) {
    if (count !== 'all' && Number(count) !== list.count) continue;
    for (const name of Object.keys(listForms) as ListForm[]) {
      if (encoding === 'all' || encoding === name) await measure(bench, server, list, name);
    }
  }
});

async function measure(
  bench: Bench,
  server: Target,
  list: { readonly namespace: string; readonly count: number },
  name: ListForm,
): Promise<void> {
  const { accept, reach } = listForms[name];
  const isZipped = name === 'gzip';
  const bounds = { durationMs: 2_000, countMax: Math.ceil(400_000 / list.count) };
  const asking = (...headers: readonly string[]): Buffer =>
    requestBytes('GET', `/api/v1/namespaces/${list.namespace}/pods`, undefined, [
      `accept: ${accept}`,
      ...headers,
    ]);
  const bare = await bareAnswer(bench, server, asking(), isZipped ? 'gzip' : '');
  const request = isZipped ? asking('accept-encoding: gzip') : asking();
  const run = async (target: Target) => {
    const connections = await openConnections(target.port, connectionCount);
    return () => closedLoop(connections, () => request, bounds);
  };
  const ownRun = await run(server);
  const bareRun = await run(bare);
  const [base, own] = await compare([
    { name: 'bare, prebuilt buffer', process: bare.process, run: bareRun },
    { name: 'server, consistent', process: server.process, run: ownRun },
  ]);
  const ownStalls = (await server.process.stallsOf(ownRun)).stalls;
  const bareStalls = (await bare.process.stallsOf(bareRun)).stalls;
  const megabytes = (bare.bodyBytes / 1e6).toFixed(1);
  console.log(
    `LIST of ${String(list.count)} Pods, ${name}, ${megabytes} MB,` +
      ` ${String(connectionCount)} connections`,
  );
  printSides([base, own]);
  for (const [name, stalls] of [
    ['bare', bareStalls],
    ['server', ownStalls],
  ] as const) {
    const { p99Ms, maxMs, cpuMaxMs } = stalls;
    const text =
      `p99 ${p99Ms.toFixed(1)} ms, longest ${maxMs.toFixed(1)} ms,` +
      ` most CPU in one turn ${cpuMaxMs.toFixed(1)} ms`;
    console.log(`  pauses of the event loop, ${name}: ${text}`);
  }
  const ratio = base.microsPerMegabyte / own.microsPerMegabyte;
  verdict('bytes per CPU-second, server to bare', ratio, { atLeast: reach });
  verdict('bytes/s, server to bare', own.bytesPerSecond / base.bytesPerSecond, { atLeast: reach });
  verdict('most CPU in one turn, ms', ownStalls.cpuMaxMs, { atMost: 10 });
  await bench.stopServer(bare);
}
