// Creates of ConfigMaps that no webhook is asked about, alone and beside as many that wait for a
// webhook that misbehaves: what the others notice of it, and what memory the server takes for it.
import { namingProfile } from '../../lib/api/vendor.ts';
import { caBundle } from '../../lib/admission/webhooks/testing/calling.ts';
import { answerText, RawServer } from '../../lib/client/testing/raw-server.ts';
import type { Answering } from '../../lib/client/testing/raw-server.ts';
import { percentile, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import type { Connection } from '../support/http1-client.ts';
import { namespaceObject } from '../support/objects.ts';
import { withBench } from '../support/server.ts';

const concurrency = Number(process.argv[2] ?? 8);
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

let made = 0;
const created = (hook: string): Buffer => {
  const metadata = { name: `o-${String(made++)}`, labels: { hook } };
  const body = Buffer.from(JSON.stringify({ metadata, data: { k: 'v' } }));
  return requestBytes('POST', '/api/v1/namespaces/free/configmaps', body);
};
const load = async (connections: readonly Connection[], hook: string): Promise<number> =>
  percentile((await closedLoop(connections, () => created(hook), bounds)).latenciesMs, 99);

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
    timeoutSeconds: 1,
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
  for (const [name, answering] of Object.entries(faults)) {
    const alone = await load(others, 'no');
    const before = (await server.process.memory()).rssBytes;
    hook.answerWith(answering);
    const [beside] = await Promise.all([load(others, 'no'), load(asking, 'yes')]);
    const grownBy = (await server.process.memory()).rssBytes - before;
    hook.cut();
    console.log(`${name}: p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside it`);
    verdict(`${name}: p99 of others`, beside / alone, { atMost: 1.5 });
    verdict(`${name}: MB more`, grownBy / mega, { atMost: 64 });
  }
});
