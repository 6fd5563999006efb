// Traces of a whole server: what a collector is told of a write that webhooks and policies judge,
// who may have their own trace go on, and that a server without a collector serves as ever.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IncomingHttpHeaders } from 'node:http';
import { createTestCa } from '../lib/base/testing/certificates.ts';
import { Collector } from '../lib/telemetry/testing/collector.ts';
import type { CollectedSpan } from '../lib/telemetry/testing/collector.ts';
import { ReviewServer, patching } from './ecosystem/review-server.ts';
import { TestCluster } from './harness.ts';
import type { Reply } from './harness.ts';

let collector: Collector;
let hooks: ReviewServer;
let cluster: TestCluster;
const seen: IncomingHttpHeaders[] = [];
const namespace = 'traced';
const traced = { traced: 'true' };
const maps = `/api/v1/namespaces/${namespace}/configmaps`;
const createName = 'POST /api/v1/namespaces/{:namespace}/configmaps';
const userToken = 'e2e-user-token';

const send = (method: string, path: string, body?: object, headers = {}): Promise<Reply> =>
  cluster.replica(0).request(method, path, { ...(body && { body }), headers });

const traceOf = (fill: string): { readonly traceId: string; readonly headers: object } => {
  const traceId = fill.repeat(16);
  return { traceId, headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } };
};

const configuration = (kind: string, caBundle: string, name: string): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name },
  webhooks: [
    {
      name: `${name}.example.com`,
      clientConfig: { url: `https://127.0.0.1:${String(hooks.port)}/${name}`, caBundle },
      rules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
      ],
      objectSelector: { matchLabels: traced }, // not the CA that a controller publishes
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
});

const group = '/apis/admissionregistration.k8s.io/v1';
const rules = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
  ],
};

async function makePolicy(): Promise<void> {
  const policy = {
    metadata: { name: 'small' },
    spec: { matchConstraints: rules, validations: [{ expression: 'size(object.data) < 10' }] },
  };
  const binding = {
    metadata: { name: 'small' },
    spec: { policyName: 'small', validationActions: ['Deny'] },
  };
  const mutating = {
    metadata: { name: 'labels' },
    spec: {
      matchConstraints: rules,
      reinvocationPolicy: 'Never',
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: 'Object{data: {"policy": "was here"}}' },
        },
      ],
    },
  };
  const replies = [
    await send('POST', `${group}/validatingadmissionpolicies`, policy),
    await send('POST', `${group}/validatingadmissionpolicybindings`, binding),
    await send('POST', `${group}/mutatingadmissionpolicies`, mutating),
    await send('POST', `${group}/mutatingadmissionpolicybindings`, {
      metadata: { name: 'labels' },
      spec: { policyName: 'labels' },
    }),
  ];
  expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
}

beforeAll(async () => {
  collector = await Collector.start();
  const ca = await createTestCa();
  const pair = await ca.issue({ use: 'serverAuth', commonName: 'hooks' });
  hooks = await ReviewServer.start(
    {
      '/changes': () => patching([{ op: 'add', path: '/data/hook', value: 'was here' }]),
      '/judges': () => ({ allowed: true }),
    },
    { ...pair, port: 0, seen: (headers) => void seen.push(headers) },
  );
  cluster = await TestCluster.start({
    tokens: [`${userToken},jane,2,"developers"`],
    serverFlags: ['--authorization-mode=AlwaysAllow'],
    replicaFlags: (_replica, folder) => {
      const file = join(folder, 'tracing.yaml');
      const endpoint = `127.0.0.1:${String(collector.port)}`;
      const apiVersion = 'apiserver.config.k8s.io/v1';
      writeFileSync(file, JSON.stringify({ apiVersion, kind: 'TracingConfiguration', endpoint }));
      return [`--tracing-config-file=${file}`];
    },
  });
  await send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const bundle = Buffer.from(ca.cert).toString('base64');
  const [mutating, validating] = [
    configuration('MutatingWebhookConfiguration', bundle, 'changes'),
    configuration('ValidatingWebhookConfiguration', bundle, 'judges'),
  ];
  await send('POST', `${group}/mutatingwebhookconfigurations`, mutating);
  await send('POST', `${group}/validatingwebhookconfigurations`, validating);
  await makePolicy();
});
afterAll(async () => {
  await cluster.stop();
  await hooks.stop();
  collector.stop();
});

/** Names, each below that of its parent, in the order in which they began. */
function treeOf(spans: readonly CollectedSpan[], parentId: string): object {
  const children = spans
    .filter((span) => span.parentId === parentId)
    .sort((a, b) => Number(a.startNanos - b.startNanos));
  return Object.fromEntries(children.map((span) => [span.name, treeOf(spans, span.spanId)]));
}

describe('a collector is told', () => {
  const created = traceOf('4b');
  const ofUser = traceOf('5c');
  const watched = traceOf('6d');
  let auditId = '';

  beforeAll(async () => {
    seen.length = 0;
    const body = { metadata: { name: 'm', labels: traced }, data: { a: 'b' } };
    const path = `${maps}?fieldManager=tests&unknown=SECRET`;
    const made = await send('POST', path, body, created.headers);
    expect([made.status, made.json()]).toMatchObject([
      201,
      { data: { a: 'b', hook: 'was here', policy: 'was here' } },
    ]);
    auditId = String(made.headers['audit-id']);
    const asUser = { ...ofUser.headers, authorization: `Bearer ${userToken}` };
    expect((await send('GET', maps, undefined, asUser)).status).toBe(200);
    await send('GET', `${maps}?watch=true&timeoutSeconds=1`, undefined, watched.headers);
    await send('GET', `${maps}/m`);
    expect(await cluster.replica(0).terminate()).toBe(0); // sends what waits
  });
  const spansOf = ({ traceId }: { readonly traceId: string }): CollectedSpan[] =>
    collector.spans.filter((span) => span.traceId === traceId);
  const one = (name: string): CollectedSpan => {
    const [found, ...more] = spansOf(created).filter((span) => span.name === name);
    if (found === undefined || more.length > 0) throw new Error(`not one span ${name}`);
    return found;
  };

  test('which steps a create has, and what each waited for', () => {
    expect(treeOf(spansOf(created), '00f067aa0ba902b7')).toEqual({
      [createName]: {
        authentication: {},
        impersonation: {},
        authorization: {},
        Create: {
          'mutating admission': {
            'Dispatch mutating policies': {},
            'Call mutating webhook': { 'HTTP POST': {} },
          },
          'validating admission': {
            'Dispatch validating policies': {},
            'Call validating webhook': { 'HTTP POST': {} },
          },
          'etcdserverpb.KV/Txn': {},
        },
      },
    });
  });

  test('of the request what it was, and no parameter that is not of the API', () => {
    const { attributes, kind, status } = one(createName);
    expect([kind, status, attributes]).toMatchObject([
      2,
      0,
      {
        'http.request.method': 'POST',
        'http.response.status_code': 201,
        'http.target': `${maps}?fieldManager=tests&unknown=REDACTED`,
        'url.path': maps,
        'url.scheme': 'https',
        'server.address': '127.0.0.1',
        'network.peer.address': '127.0.0.1',
        'audit-id': auditId,
      },
    ]);
    expect(one('Create').events).toEqual([
      'About to store object in database',
      'Write to database call succeeded',
      'About to write a response',
    ]);
    expect(one('Create').attributes).toMatchObject({ resource: 'configmaps', verb: 'POST' });
  });

  test.each([
    ['Call mutating webhook', 'changes'],
    ['Call validating webhook', 'judges'],
  ])('%s: which one, and about what', (name, configured) => {
    const asked = hooks.requests.filter(({ path }) => path === `/${configured}`);
    expect(one(name).attributes).toEqual({
      configuration: configured,
      webhook: `${configured}.example.com`,
      resource: '/v1, Resource=configmaps',
      subresource: '',
      operation: 'CREATE',
      UID: asked.at(-1)?.uid,
    });
  });

  test('of policies which ones matched', () => {
    expect(one('Dispatch validating policies').attributes).toMatchObject({ policies: ['small'] });
    expect(one('Dispatch mutating policies').attributes).toMatchObject({ policies: ['labels'] });
  });

  test('of etcd which method was called', () => {
    const { kind, attributes } = one('etcdserverpb.KV/Txn');
    const rpc = { 'rpc.service': 'etcdserverpb.KV', 'rpc.method': 'Txn', 'rpc.system': 'grpc' };
    expect([kind, attributes]).toEqual([3, rpc]);
  });

  test('who the server is', () => {
    expect(collector.resource).toEqual({
      'service.name': 'apiserver',
      'service.instance.id': expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      'host.name': expect.stringMatching(/./),
    });
  });

  test('of a watch as one span that lasts as long as it does', () => {
    const [span, ...others] = spansOf(watched).filter(({ kind }) => kind === 2);
    expect([span?.name, others.length]).toEqual([
      'GET /api/v1/namespaces/{:namespace}/configmaps',
      0,
    ]);
    expect(spansOf(watched).map(({ name }) => name)).not.toContain('List');
    const nanos = (span?.endNanos ?? 0n) - (span?.startNanos ?? 0n);
    expect(nanos).toBeGreaterThan(900_000_000n);
  });

  test('nothing of requests without a sampled parent, nor of who is not trusted with one', () => {
    expect(spansOf(ofUser)).toEqual([]);
    const own = [created.traceId, watched.traceId];
    expect(collector.spans.filter(({ traceId }) => !own.includes(traceId))).toEqual([]);
  });

  test('webhooks are told of the trace, so that they can go on with it', () => {
    const calls = spansOf(created).filter(({ name }) => name === 'HTTP POST');
    const told = calls.map(({ spanId }) => `00-${created.traceId}-${spanId}-01`);
    expect(seen.map(({ traceparent }) => traceparent).sort()).toEqual(told.sort());
  });
});
