// Creates of ConfigMaps that no webhook is asked about, beside as many that wait for a webhook that
// misbehaves and, by turns, for one that answers well after the same time: p99, and memory.
// Run: npm run bench -- webhook-faults [connections [rounds [part of a name]]]
import type { JsonObject } from '../../lib/api/type-info.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { caBundle } from '../../lib/admission/webhooks/testing/calling.ts';
import { answerText, RawServer } from '../../lib/client/testing/raw-server.ts';
import type { Answering } from '../../lib/client/testing/raw-server.ts';
import { median, percentile, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import type { Connection, LoadResult } from '../support/http1-client.ts';
import { namespaceObject } from '../support/objects.ts';
import { withBench } from '../support/server.ts';

const concurrency = Number(process.argv[2] ?? 8);
const rounds = Number(process.argv[3] ?? 3);
const part = process.argv[4] ?? '';
const timeoutMs = 1_000;
const bounds = { durationMs: 3_000, countMax: 100_000, statusMax: 599 };
const mega = 1024 * 1024;

const begin = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const endless: Answering = ({ socket }) => {
  socket.write(begin);
  const chunk = `10000\r\n${'x'.repeat(0x1_0000)}\r\n`;
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
};
const deep = answerText(`{"response":${'['.repeat(mega)}${']'.repeat(mega)}}`);
const faults: Readonly<Record<string, Answering>> = {
  hanging: () => undefined,
  closing: ({ socket }) => void socket.destroy(),
  dripping: ({ socket }) => {
    socket.write(begin);
    const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20);
    socket.once('close', () => clearInterval(timer));
  },
  endless,
  'deep JSON': ({ socket }) => void socket.write(deep),
};

/** Answers well, after so long. */
const healthy =
  (delayMs: number): Answering =>
  ({ body, socket }) => {
    const { kind, apiVersion, request } = JSON.parse(body) as JsonObject & {
      readonly request: { readonly uid: string };
    };
    const response = { uid: request.uid, allowed: true };
    const text = answerText(JSON.stringify({ kind, apiVersion, response }));
    if (delayMs < 1) socket.write(text);
    else setTimeout(() => socket.write(text), delayMs);
  };

let made = 0;
const created = (hook: string): Buffer => {
  const metadata = { name: `o-${String(made++)}`, labels: { hook } };
  const body = Buffer.from(JSON.stringify({ metadata, data: { k: 'v' } }));
  return requestBytes('POST', '/api/v1/namespaces/free/configmaps', body);
};
const load = (connections: readonly Connection[], hook: string): Promise<LoadResult> =>
  closedLoop(connections, () => created(hook), bounds);
const p99 = ({ latenciesMs }: LoadResult): number => percentile(latenciesMs, 99);
const mean = ({ latenciesMs }: LoadResult): number =>
  latenciesMs.reduce((sum, ms) => sum + ms, 0) / Math.max(1, latenciesMs.length);

await withBench(async (bench) => {
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('free'));
  const flags = ['--admission-webhook-circuit-breaker=false'];
  const server = await bench.server({ flags });
  await using hook = await RawServer.start(() => undefined);
  const webhook = {
    name: 'faulty.example.com',
    clientConfig: { url: hook.url, caBundle: await caBundle() },
    objectSelector: { matchLabels: { hook: 'yes' } },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources: ['configmaps'] }],
    timeoutSeconds: timeoutMs / 1_000,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const configuration = { metadata: { name: 'faulty' }, webhooks: [webhook] };
  const group = namingProfile('kubernetes').resolve('admissionregistration.{v}');
  const path = `/apis/${group}/v1/validatingwebhookconfigurations`;
  const others = await openConnections(server.port, concurrency);
  const asking = await openConnections(server.port, concurrency);
  const body = Buffer.from(JSON.stringify(configuration));
  const answer = await others[0]?.request(requestBytes('POST', path, body));
  if (answer?.status !== 201) throw new Error(`status ${String(answer?.status)}`);
  await load(others, 'no');
  const beside = async (answering: Answering): Promise<readonly [LoadResult, LoadResult]> => {
    hook.answerWith(answering);
    const results = await Promise.all([load(others, 'no'), load(asking, 'yes')]);
    hook.cut();
    return results;
  };
  for (const [name, answering] of Object.entries(faults)) {
    if (!name.includes(part)) continue;
    const faulty: number[] = [];
    const well: number[] = [];
    const counts: string[] = [];
    const before = (await server.process.memory()).rssBytes;
    let grownBy = 0;
    for (let round = 0; round < rounds; round++) {
      const [freeOfFault, failed] = await beside(answering);
      grownBy = Math.max(grownBy, (await server.process.memory()).rssBytes - before);
      // As many calls: each takes as long as a failed one took, but for a write that needs no call.
      const delayMs = Math.min(0.9 * timeoutMs, mean(failed) - mean(freeOfFault));
      const [free, asked] = await beside(healthy(delayMs));
      faulty.push(p99(freeOfFault));
      well.push(p99(free));
      counts.push(`${String(failed.latenciesMs.length)}:${String(asked.latenciesMs.length)}`);
    }
    const [ill, good] = [median(faulty), median(well)];
    console.log(
      `${name}: p99 ${ill.toFixed(1)} ms beside it, ${good.toFixed(1)} ms beside a good one`,
    );
    console.log(`  calls of both: ${counts.join(' ')}`);
    verdict(`${name}: p99 of others`, ill / good, { atMost: 1.5 });
    verdict(`${name}: MB more`, grownBy / mega, { atMost: 64 });
  }
});
