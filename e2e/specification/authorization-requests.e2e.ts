// What a server asks an authorization webhook about requests: attributes, verbs, and the words of
// a refusal. The mode Webhook of flags, behind Node and RBAC.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import { TestCluster } from '../harness.ts';
import type { Replica, Reply } from '../harness.ts';
import { as, Hooks, make, messageOf, until } from './authorization-world.ts';
import type { HookCall } from './authorization-world.ts';

let hooks: Hooks;
let cluster: TestCluster;
let replica: Replica;

const alice = { authorization: 'Bearer alice-token' };
const maps = '/api/v1/namespaces/default/configmaps';

beforeAll(async () => {
  hooks = await Hooks.start();
  const path = hooks.add('all', ({ spec }) => {
    const verb = spec.resourceAttributes?.['verb'];
    const allowed = spec.user === 'friend' || (spec.user === 'deleter' && verb === 'delete');
    return allowed ? { allowed } : { allowed, reason: 'the service has no opinion' };
  });
  cluster = await TestCluster.start({
    naming: 'svc',
    tokens: [
      'alice-token,alice,uid-of-alice,"team-a,team-b"',
      'friend-token,friend,f',
      'deleter-token,deleter,d',
    ],
    serverFlags: [
      '--authorization-mode=Node,RBAC,Webhook',
      `--authorization-webhook-config-file=${path}`,
      '--authorization-webhook-version=v1',
      '--feature-gates=AllowUnsafeMalformedObjectDeletion=true',
      '--authorization-webhook-cache-authorized-ttl=0s',
      '--authorization-webhook-cache-unauthorized-ttl=0s',
    ],
  });
  replica = cluster.replica(0);
});
afterAll(async () => {
  await cluster.stop();
  hooks.stop();
});

/** The question that a request led to; it must be one. */
async function asked(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly reply: Reply; readonly call: HookCall }> {
  const before = hooks.calls('all').length;
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'DELETE';
  const body = hasBody ? { body: {} } : {};
  const reply = await replica.request(method, path, { headers: { ...alice, ...headers }, ...body });
  const [call, ...more] = hooks.calls('all').slice(before);
  if (call === undefined || more.length > 0) throw new Error(`${String(more.length)}: ${path}`);
  return { reply, call };
}

describe('Attributes used', () => {
  const name = { resource: 'configmaps', namespace: 'default', name: 'a' };
  test.each<[attribute: string, request: string, spec: Readonly<Record<string, unknown>>]>([
    ['user', `GET ${maps}`, { user: 'alice', uid: 'uid-of-alice' }],
    ['groups', `GET ${maps}`, { groups: ['team-a', 'team-b', 'system:authenticated'] }],
    [
      'whether the request is a resource request: it is',
      `GET ${maps}`,
      { nonResourceAttributes: undefined },
    ],
    [
      'whether the request is a resource request: it is not',
      'GET /metrics',
      { resourceAttributes: undefined },
    ],
    ['request path (non-resource)', 'GET /a/b?c=d', { nonResourceAttributes: of('/a/b', 'get') }],
    [
      'API request verb',
      `DELETE ${maps}`,
      { resourceAttributes: at({ verb: 'deletecollection' }) },
    ],
    ['HTTP request verb (non-resource)', 'PUT /a', { nonResourceAttributes: of('/a', 'put') }],
    ['resource name (required for get)', `GET ${maps}/a`, { resourceAttributes: at(name) }],
    ['resource name (required for update)', `PUT ${maps}/a`, { resourceAttributes: at(name) }],
    ['resource name (required for patch)', `PATCH ${maps}/a`, { resourceAttributes: at(name) }],
    ['resource name (required for delete)', `DELETE ${maps}/a`, { resourceAttributes: at(name) }],
    [
      'subresource',
      'GET /api/v1/namespaces/default/pods/a/log',
      { resourceAttributes: at({ resource: 'pods', subresource: 'log' }) },
    ],
    ['namespace', `GET ${maps}`, { resourceAttributes: at({ namespace: 'default' }) }],
    [
      'API group',
      'GET /apis/apps/v1/deployments',
      { resourceAttributes: at({ group: 'apps', version: 'v1' }) },
    ],
    [
      'API group (empty string is the core group, left out of the question)',
      `GET ${maps}`,
      { resourceAttributes: expect.not.objectContaining({ group: expect.anything() }) },
    ],
  ])('%s: %s', async (_attribute, request, spec) => {
    const [method = '', path = ''] = request.split(' ');
    const { call } = await asked(method, path);
    expect({ ...spec, ...pick(call.review.spec, spec) }).toEqual(spec);
  });

  test('extra, of who is impersonated', async () => {
    const headers = { ...as({ user: 'jane' }), 'impersonate-extra-scopes': 'view' };
    await replica.request('GET', maps, { headers });
    expect(hooks.calls('all').at(-1)?.review.spec).toMatchObject({
      ...{ user: 'jane', extra: { scopes: ['view'] } },
    });
  });
});

function of(path: string, verb: string): { readonly path: string; readonly verb: string } {
  return { path, verb };
}
function at(some: object): unknown {
  return expect.objectContaining(some);
}
const pick = (of: object, names: object): object =>
  Object.fromEntries(Object.entries(of).filter(([name]) => name in names));

describe('Verb mapping', () => {
  test.each([
    ['POST is create', 'POST', maps, 'create'],
    ['GET is get (one resource)', 'GET', `${maps}/a`, 'get'],
    ['HEAD is get (one resource)', 'HEAD', `${maps}/a`, 'get'],
    ['GET is list (collection)', 'GET', maps, 'list'],
    ['HEAD is list (collection)', 'HEAD', maps, 'list'],
    ['GET is watch', 'GET', `${maps}?watch=true`, 'watch'],
    ['HEAD is watch', 'HEAD', `${maps}?watch=1`, 'watch'],
    ['PUT is update', 'PUT', `${maps}/a`, 'update'],
    ['PATCH is patch', 'PATCH', `${maps}/a`, 'patch'],
    ['DELETE is delete (one resource)', 'DELETE', `${maps}/a`, 'delete'],
    ['DELETE is deletecollection (collection)', 'DELETE', maps, 'deletecollection'],
  ])('%s: %s %s', async (_row, method, path, verb) => {
    const { call, reply } = await asked(method, path);
    expect([call.review.spec.resourceAttributes?.['verb'], reply.status]).toEqual([verb, 403]);
  });

  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'Non-resource requests use the lower-cased HTTP method: %s',
    async (method) => {
      const { call } = await asked(method, '/a/y');
      const attributes = { path: '/a/y', verb: method.toLowerCase() };
      expect(call.review.spec.nonResourceAttributes).toEqual(attributes);
    },
  );

  test('a request that upgrades its connection is create: GET of nodes/proxy', async () => {
    const proxy = '/api/v1/nodes/n1/proxy/exec/ns/pod/c?command=id';
    const upgrade = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    };
    const plain = await asked('GET', proxy);
    const upgraded = await asked('GET', proxy, upgrade);
    const words = (verb: string): string =>
      `nodes "n1" is forbidden: User "alice" cannot ${verb} resource "nodes/proxy" in API group ` +
      '"" at the cluster scope: the service has no opinion';
    expect([plain, upgraded].map(({ reply }) => messageOf(reply))).toEqual([
      words('get'),
      words('create'),
    ]);
    expect(upgraded.call.review.spec.resourceAttributes).toMatchObject({
      ...{ verb: 'create', resource: 'nodes', subresource: 'proxy', name: 'n1' },
    });
  });

  test('Get, list and watch all can reveal full objects', async () => {
    await make(replica, maps, { metadata: { name: 'full' }, data: { secret: 'in-full' } });
    const headers = { authorization: 'Bearer friend-token' };
    for (const path of [`${maps}/full`, maps, `${maps}?watch=1&timeoutSeconds=1`]) {
      const { status, text } = await replica.request('GET', path, { headers });
      expect([path, status, text.includes('in-full')]).toEqual([path, 200, true]);
    }
  });

  test('Special verb impersonate, on who the caller wants to be', async () => {
    const before = hooks.calls('all').length;
    const headers = { ...alice, ...as({ user: 'jane' }) };
    expect((await replica.request('GET', maps, { headers })).status).toBe(403);
    const verbs = hooks
      .calls('all')
      .slice(before)
      .map(({ review }) => review.spec.resourceAttributes);
    expect(verbs).toContainEqual(
      expect.objectContaining({ verb: 'impersonate', resource: 'users', name: 'jane' }),
    );
  });

  test('Special verb unsafe-delete-ignore-read-errors, beside delete', async () => {
    await make(replica, maps, { metadata: { name: 'spoiled' } });
    const etcd = new EtcdStorage(cluster.etcd.connection);
    const { signal } = new AbortController();
    const key = '/registry/configmaps/default/spoiled';
    const expected = (await etcd.get(key, signal)).item?.modRevision ?? 0;
    await etcd.put(key, Buffer.from('not an object'), { expected }, signal);
    etcd.close();
    const unsafe = `${maps}/spoiled?ignoreStoreReadErrorWithClusterBreakingPotential=true`;
    const status = async (user: string, path: string): Promise<Reply> =>
      replica.request('DELETE', path, { headers: { authorization: `Bearer ${user}-token` } });
    await until(async () => (await status('deleter', `${maps}/spoiled`)).status === 500);
    const refused = await status('deleter', unsafe);
    expect([refused.status, messageOf(refused)]).toEqual([
      403,
      expect.stringContaining('cannot unsafe-delete-ignore-read-errors resource "configmaps"'),
    ]);
    expect((await status('friend', unsafe)).status).toBe(200);
  });
});

describe('Outbound webhook calls made by the service: Authorization', () => {
  test('POST of a SubjectAccessReview, with the client certificate of the file', async () => {
    const { call } = await asked('GET', `${maps}/a`);
    expect(call).toMatchObject({
      ...{ method: 'POST', caller: 'the-apiserver' },
      contentType: expect.stringMatching(/^application\/json/) as unknown,
      review: { kind: 'SubjectAccessReview', apiVersion: 'authorization.svc.io/v1' },
    });
  });

  test.each([
    ['friend', 200, ''],
    ['alice', 403, 'the service has no opinion'],
  ])('its access decision decides: %s %d', async (user, status, reason) => {
    const headers = { authorization: `Bearer ${user}-token` };
    const reply = await replica.request('GET', maps, { headers });
    expect(reply.status).toBe(status);
    expect(reply.text).toContain(reason);
  });
});

test('Webhook caching flags: with 0s each request is asked about', async () => {
  const before = hooks.calls('all').length;
  for (const _turn of [1, 2, 3]) await replica.request('GET', maps, { headers: alice });
  expect(hooks.calls('all').length - before).toBe(3);
});

test('The group system:masters bypasses role and webhook checks', async () => {
  const before = hooks.calls('all').length;
  expect((await replica.request('GET', maps)).status).toBe(200);
  expect((await replica.request('GET', '/nothing/like/it')).status).toBe(404);
  expect(hooks.calls('all').length).toBe(before);
});

describe('403 Forbidden: Overall authorization denial', () => {
  const why = ': the service has no opinion';
  test.each([
    [
      'GET',
      `${maps}/a`,
      'configmaps "a" is forbidden: User "alice" cannot get resource "configmaps" in API ' +
        'group "" in the namespace "default"',
    ],
    [
      'GET',
      '/apis/apps/v1/deployments',
      'deployments.apps is forbidden: User "alice" cannot list resource "deployments" in API ' +
        'group "apps" at the cluster scope',
    ],
    [
      'PUT',
      '/api/v1/namespaces/default/pods/p/status',
      'pods "p" is forbidden: User "alice" cannot update resource "pods/status" in API ' +
        'group "" in the namespace "default"',
    ],
    ['GET', '/metrics', 'forbidden: User "alice" cannot get path "/metrics"'],
  ])('%s %s', async (method, path, words) => {
    const { reply } = await asked(method, path);
    expect(reply.json()).toMatchObject({
      ...{ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 },
      message: `${words}${why}`,
    });
  });

  test('comes before a resource that is not there', async () => {
    expect((await asked('GET', '/apis/none.example.com/v1/things')).reply.status).toBe(403);
  });
});
