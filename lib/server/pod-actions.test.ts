// Bindings and evictions over HTTP: bodies and answers in every encoding, and what refusals say.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { namingProfile } from '../api/vendor.ts';
import type { Encoding } from '../codec/encodings.ts';
import { createEncodings } from '../codec/encodings.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { ApiOnEtcd } from './testing/api-on-etcd.ts';
import type { ApiAnswer } from './testing/api-on-etcd.ts';

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const encodings = createEncodings(naming).map((one) => [one.mediaType, one] as const);
const podsPath = '/api/v1/namespaces/n/pods';
const budgetsPath = '/apis/policy/v1/namespaces/n/poddisruptionbudgets';
let api: ApiOnEtcd;

beforeAll(async () => {
  api = await ApiOnEtcd.start();
});
afterAll(() => api.stop());

let count = 0;
async function newPod(spec: object = {}, labels: object = {}): Promise<string> {
  const name = `p${String(++count)}`;
  const containers = [{ name: 'c', image: 'i' }];
  const body = { metadata: { name, labels }, spec: { containers, ...spec } };
  expect(await api.statusOf(`POST ${podsPath}`, { body })).toBe(201);
  return name;
}

const eviction = (name: string): { apiVersion: string; kind: string; metadata: object } => ({
  kind: 'Eviction',
  apiVersion: 'policy/v1',
  metadata: { name },
});

describe.each(encodings)('in %s', (contentType, { codec }: Encoding) => {
  async function post(path: string, body: { kind: string }, typeId: string): Promise<unknown> {
    const sent = codec.encode(body, scheme.type(typeId));
    const answer = await api.send(`POST ${path}`, { body: sent, contentType, accept: contentType });
    expect([answer.status, answer.headers['content-type']]).toEqual([201, contentType]);
    return codec.decode(answer.body, scheme.type('meta/v1.Status')).object;
  }
  const success = { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 };

  test.each(['pod', 'resource'])('a scheduler binds by the path of the %s', async (which) => {
    const name = await newPod();
    const path = which === 'pod' ? `${podsPath}/${name}/binding` : '/api/v1/namespaces/n/bindings';
    const target = { kind: 'Node', name: 'n1' };
    const body = { kind: 'Binding', apiVersion: 'v1', metadata: { name }, target };
    expect(await post(path, body, 'core/v1.Binding')).toMatchObject(success);
    const { json } = await api.send(`GET ${podsPath}/${name}`);
    expect(json).toMatchObject({ spec: { nodeName: 'n1' } });
  });

  test.each(['policy/v1', 'policy/v1beta1'])('an Eviction of %s evicts', async (apiVersion) => {
    const name = await newPod();
    const body = { ...eviction(name), apiVersion, deleteOptions: { gracePeriodSeconds: 1 } };
    const path = `${podsPath}/${name}/eviction`;
    expect(await post(path, body, `${apiVersion}.Eviction`)).toMatchObject(success);
    expect(await api.statusOf(`GET ${podsPath}/${name}`)).toBe(404);
  });
});

describe('an eviction', () => {
  const evict = (name: string, body: object = eviction(name), query = ''): Promise<ApiAnswer> =>
    api.send(`POST ${podsPath}/${name}/eviction${query}`, { body });

  test.each([
    ['ConfigMap', 'v1'],
    ['Eviction', 'policy/v1beta2'],
    ['Eviction', 'v1'],
  ])('of a %s of %s is refused', async (kind, apiVersion) => {
    const name = await newPod();
    const answer = await evict(name, { kind, apiVersion, metadata: { name } });
    expect(answer.json).toMatchObject({ kind: 'Status', code: 400, reason: 'BadRequest' });
    expect(await api.statusOf(`GET ${podsPath}/${name}`)).toBe(200);
  });

  test('takes no grace from the query', async () => {
    const name = await newPod({ nodeName: 'n', terminationGracePeriodSeconds: 20 });
    expect((await evict(name, eviction(name), '?gracePeriodSeconds=3')).status).toBe(201);
    const { json } = await api.send(`GET ${podsPath}/${name}`);
    expect(json).toMatchObject({ metadata: { deletionGracePeriodSeconds: 20 } });
  });

  test('that a budget refuses says when to come again while the budget is behind', async () => {
    const labels = { app: 'guarded' };
    const name = await newPod({ nodeName: 'n' }, labels);
    const running = { body: { status: { phase: 'Running' } } };
    expect(await api.statusOf(`PATCH ${podsPath}/${name}/status`, running)).toBe(200);
    const spec = { minAvailable: 1, selector: { matchLabels: labels } };
    const budget = { body: { metadata: { name: 'b' }, spec } };
    expect(await api.statusOf(`POST ${budgetsPath}`, budget)).toBe(201);
    const behind = await evict(name);
    expect([behind.status, behind.headers['retry-after']]).toEqual([429, '10']);
    const settled = { body: { status: { observedGeneration: 1 } } };
    expect(await api.statusOf(`PATCH ${budgetsPath}/b/status`, settled)).toBe(200);
    const refused = await evict(name);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, undefined]);
    expect(refused.json).toMatchObject({
      reason: 'TooManyRequests',
      details: { causes: [{ reason: 'DisruptionBudget' }] },
    });
  });
});

test.each([
  `GET ${podsPath}/p/binding`,
  `PUT ${podsPath}/p/binding`,
  `PATCH ${podsPath}/p/binding`,
  `DELETE ${podsPath}/p/binding`,
  `GET ${podsPath}/p/eviction`,
  `PUT ${podsPath}/p/eviction`,
  `DELETE ${podsPath}/p/eviction`,
  'GET /api/v1/namespaces/n/bindings',
  'DELETE /api/v1/namespaces/n/bindings',
  'GET /api/v1/namespaces/n/bindings/p',
  'POST /api/v1/bindings',
])('%s is 405', async (line) => {
  expect(await api.statusOf(line, line.startsWith('GET') ? {} : { body: {} })).toBe(405);
});

test('documents list what can be created', async () => {
  const { json } = await api.send('GET /api/v1');
  const { resources } = json as { resources: { name: string }[] };
  const listed = ['bindings', 'pods/binding', 'pods/eviction'];
  expect(resources.filter(({ name }) => listed.includes(name))).toEqual([
    expect.objectContaining({ name: 'bindings', kind: 'Binding', verbs: ['create'] }),
    expect.objectContaining({ name: 'pods/binding', kind: 'Binding', verbs: ['create'] }),
    expect.objectContaining({
      name: 'pods/eviction',
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    }),
  ]);
});
