// A policy engine: judges every write but those in its own namespace, fails closed, and keeps its
// own configuration as it wants it. When it is ended in good order it takes the configuration away.
import {
  ApiClient,
  decoded,
  pairOf,
  repeat,
  secretPath,
  serving,
  startOf,
  tellPort,
} from './api-client.ts';
import { ReviewServer, patching } from './review-server.ts';
import type { Answering } from './review-server.ts';

const configurations = '/apis/admissionregistration.k8s.io/v1';
const [namespace, secretName] = ['engine', 'engine-tls'];

const judge: Answering = ({ kind, object, operation }) =>
  kind.kind === 'Pod' && operation === 'CREATE' && object.metadata?.labels?.['forbidden'] === 'yes'
    ? { allowed: false, status: { code: 403, message: 'the engine forbids it' } }
    : { allowed: true };
/** Knows one version of certificates. */
const judgeCertificate: Answering = ({ kind, requestKind, object }) =>
  (object['spec'] as { readonly dnsName?: string }).dnsName === 'evil'
    ? {
        allowed: false,
        status: { message: `evil ${kind.version}, sent as ${requestKind.version}` },
      }
    : { allowed: true };
/** Adds a container after others were asked. */
const addLate: Answering = ({ object }) =>
  object.metadata?.labels?.['late'] !== 'yes' || JSON.stringify(object).includes('"late-one"')
    ? { allowed: true }
    : patching([
        { op: 'add', path: '/spec/containers/-', value: { name: 'late-one', image: 'l' } },
      ]);

const start = startOf();
const client = new ApiClient(start);
let secret = await serving(client, namespace, secretName);
const server = await ReviewServer.start(
  { '/judge': judge, '/certificates': judgeCertificate, '/late': addLate },
  { ...pairOf(secret), port: start.port },
);

const webhook = (name: string, path: string, rule: object, change: object): object => ({
  name: `${name}.engine.example.com`,
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  matchPolicy: 'Equivalent',
  failurePolicy: 'Fail',
  timeoutSeconds: 5,
  clientConfig: { service: { namespace, name: 'engine', path, port: 443 } },
  rules: [{ scope: '*', ...rule }],
  namespaceSelector: {
    matchExpressions: [
      { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [namespace] },
    ],
  },
  objectSelector: {},
  ...change,
});
const all = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
const certificates = {
  apiGroups: ['certs.example.com'],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['certificates'],
};
const pods = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['pods'],
};
const wanted: Readonly<Record<string, readonly object[]>> = {
  validatingwebhookconfigurations: [
    webhook('all', '/judge', all, {}),
    webhook('certificates', '/certificates', certificates, {}),
  ],
  mutatingwebhookconfigurations: [webhook('late', '/late', pods, { reinvocationPolicy: 'Never' })],
};

interface Webhook {
  readonly clientConfig: { readonly caBundle?: string };
}
/** What it wants, with the CA of its certificate unless somebody has put another one there. */
const withCa = (webhooks: readonly object[], found: readonly Webhook[]): object[] =>
  webhooks.map((one, index) => {
    const caBundle =
      found[index]?.clientConfig.caBundle ??
      Buffer.from(decoded(secret, 'ca.crt')).toString('base64');
    return { ...one, clientConfig: { ...(one as Webhook).clientConfig, caBundle } };
  });
/** Members in one order. */
const comparable = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );

async function register(resource: string, webhooks: readonly object[]): Promise<void> {
  const path = `${configurations}/${resource}`;
  const found = await client.find(`${path}/zz-engine`);
  if (found === undefined) {
    const annotations = { 'certs.example.com/inject-ca-from': `${namespace}/${secretName}` };
    const metadata = { name: 'zz-engine', annotations };
    await client.request('POST', path, { metadata, webhooks: withCa(webhooks, []) });
    return;
  }
  const current = found['webhooks'] as unknown as readonly Webhook[];
  const next = withCa(webhooks, current);
  if (comparable(next) === comparable(current)) return;
  await client.request('PUT', `${path}/zz-engine`, { ...found, webhooks: next });
}

async function leave(): Promise<never> {
  const removed = Object.keys(wanted).map((resource) =>
    client.request('DELETE', `${configurations}/${resource}/zz-engine`),
  );
  await Promise.allSettled(removed);
  process.exit(0);
}

let isLeaving = false;
process.once('SIGTERM', () => (isLeaving = true));
tellPort(server.port);
await repeat(async () => {
  // Not beside a turn, which would register it again.
  if (isLeaving) await leave();
  const now = await client.find(secretPath(namespace, secretName));
  if (now !== undefined && pairOf(now).cert !== pairOf(secret).cert) server.present(pairOf(now));
  secret = now ?? secret;
  for (const [resource, webhooks] of Object.entries(wanted)) await register(resource, webhooks);
});
