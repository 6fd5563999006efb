// Credentials of the specification of authentication, row by row: what proves who asks, what
// follows from it, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestCa } from '../../lib/base/testing/certificates.ts';
import type { LeafRequest, TestCa, TestPair } from '../../lib/base/testing/certificates.ts';
import { TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import * as world from './authentication-world.ts';
import type { Asked, Who } from './authentication-world.ts';

const { create, nameOf, unauthorized, until, whoIs } = world;
const oddToken = "!#$%&'()*+-./:;<=>?@[]^_`{|}~09azAZ";

let cluster: TestCluster;
let replica: Replica;
/** The same cluster without anonymous requests. */
let closed: Replica;
let folder: string;
let [users, others]: TestCa[] = [];

beforeAll(async () => {
  [users, others] = await Promise.all([createTestCa('users'), createTestCa('others')]);
  cluster = await TestCluster.start({
    naming: 'svc',
    replicaCount: 2,
    tokens: [
      'ann-token,ann,uid-ann,"team-a,team-b"',
      'solo-token,solo,uid-solo',
      `${oddToken},odd,uid-odd`,
      'opaque-token,a b/Ä%2F:<x>,no uid at all,"g 1,g/2"',
    ],
    serverFlags: [
      '--enable-bootstrap-token-auth',
      '--controllers=*,tokencleaner,bootstrapsigner',
      '--api-audiences=api',
    ],
    replicaFlags: (index, given) => {
      folder = given;
      writeFileSync(join(folder, 'users.crt'), `${users?.cert ?? ''}${others?.cert ?? ''}`);
      const flags = [`--client-ca-file=${join(folder, 'users.crt')}`];
      return index === 0 ? flags : [...flags, '--anonymous-auth=false'];
    },
  });
  [replica, closed] = [cluster.replica(0), cluster.replica(1)];
});
afterAll(() => cluster.stop());

const who = (asked: Asked): Promise<Who> => whoIs(replica, asked);
const cert = (commonName: string, more: Partial<LeafRequest> = {}): Promise<TestPair> => {
  if (users === undefined) throw new Error('there is no CA yet');
  return users.issue({ use: 'clientAuth', commonName, ...more });
};

const core = '/api/v1/namespaces/default';
const systemSecrets = '/api/v1/namespaces/svc-system/secrets';
const publicMaps = '/api/v1/namespaces/svc-public/configmaps';

/** Of a new account of the name, good from then on. */
async function accountToken(name: string): Promise<string> {
  await create(replica, `${core}/serviceaccounts`, { metadata: { name } });
  const { text } = await create(replica, `${core}/serviceaccounts/${name}/token`, { spec: {} });
  return (JSON.parse(text) as { status: { token: string } }).status.token;
}

const bootstrap = (id: string, more: object = {}, over: object = {}): object => ({
  metadata: { name: `bootstrap-token-${id}` },
  type: 'bootstrap.svc.io/token',
  stringData: {
    'token-id': id,
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    ...more,
  },
  ...over,
});
const secretOf = (id: string): string => `${id}.0123456789abcdef`;
/** Of bootstrap tokens: Secrets are seen in the order in which they are made. */
async function made(id: string, more: object = {}, over: object = {}): Promise<void> {
  await create(replica, systemSecrets, bootstrap(id, more, over));
}
const bootstrapUser = (id: string, ...groups: readonly string[]): object => ({
  username: `system:bootstrap:${id}`,
  groups: ['system:bootstrappers', ...groups, 'system:authenticated'],
});

describe('Identity attributes', () => {
  let token = '';
  let found: world.Identity = {};
  beforeAll(async () => {
    token = await accountToken('whole');
    found = (await who({ token })) as world.Identity;
  });

  test('username: string', () => {
    expect(found.username).toBe('system:serviceaccount:default:whole');
  });
  test('uid: string (more unique and stable than username)', async () => {
    expect(found.uid).toMatch(/^[0-9a-f-]{36}$/);
    const path = `${core}/serviceaccounts/whole`;
    await replica.request('DELETE', path);
    await create(replica, `${core}/serviceaccounts`, { metadata: { name: 'whole' } });
    const { text } = await create(replica, `${path}/token`, { spec: {} });
    const again = (await who({
      token: (JSON.parse(text) as { status: { token: string } }).status.token,
    })) as world.Identity;
    expect(again.username).toBe(found.username);
    expect(again.uid).not.toBe(found.uid);
  });
  test('groups: array of string', () => {
    expect(found.groups).toEqual([
      ...['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    ]);
  });
  test('extra: map string to array of string. Must not hold secrets', () => {
    expect(found.extra).toEqual({
      'authentication.svc.io/credential-id': [expect.stringMatching(/^JTI=/)],
    });
    for (const part of token.split('.')) expect(JSON.stringify(found)).not.toContain(part);
  });
  test('Values are opaque to authentication', async () => {
    expect(await who({ token: 'opaque-token' })).toEqual({
      ...{ username: 'a b/Ä%2F:<x>', uid: 'no uid at all' },
      groups: ['g 1', 'g/2', 'system:authenticated'],
    });
  });
});

describe('Methods', () => {
  test('Several methods may be enabled together. The first success decides', async () => {
    const client = await cert('jane');
    const names = [{ client }, { token: 'ann-token' }, { client, token: 'no-token' }].map((asked) =>
      nameOf(replica, asked),
    );
    expect(await Promise.all(names)).toEqual(['jane', 'ann', 'jane']);
  });

  test('Client certificates: --client-ca-file, a file of one or more CAs', async () => {
    const client = await others?.issue({ use: 'clientAuth', commonName: 'of-the-second' });
    expect(await nameOf(replica, { client: await cert('of-the-first') })).toBe('of-the-first');
    expect(await nameOf(replica, client === undefined ? {} : { client })).toBe('of-the-second');
    const stranger = await (
      await createTestCa('users')
    ).issue({ use: 'clientAuth', commonName: 'x' });
    expect(await who({ client: stranger })).toEqual(unauthorized);
  });
  test('Client certificates: Username is the subject common name. Each organization field is a group', async () => {
    const client = await cert('jane', { organizations: ['dev', 'ops, night'] });
    expect(await who({ client })).toMatchObject({
      username: 'jane',
      groups: ['dev', 'ops, night', 'system:authenticated'],
    });
  });

  test('Static token file: CSV columns: token, username, uid, then optional group names', async () => {
    expect(await who({ token: 'solo-token' })).toEqual({
      ...{ username: 'solo', uid: 'uid-solo', groups: ['system:authenticated'] },
    });
  });
  test('Static token file: (quote one cell holding several groups)', async () => {
    expect(await who({ token: 'ann-token' })).toEqual({
      ...{ username: 'ann', uid: 'uid-ann' },
      groups: ['team-a', 'team-b', 'system:authenticated'],
    });
  });
  test('Static token file: Tokens are long-lived and changes need a restart', async () => {
    appendFileSync(join(folder, 'tokens.csv'), 'late-token,late,uid-late\n');
    expect(await nameOf(closed, { token: 'late-token' })).toBe(401);
    await closed.terminate();
    await closed.start();
    expect(await nameOf(closed, { token: 'late-token' })).toBe('late');
    expect(await nameOf(closed, { token: 'ann-token' })).toBe('ann');
    expect(await nameOf(replica, { token: 'late-token' })).toBe(401);
  });

  test('Bearer header: Authorization: Bearer <token>, any token characters valid in a header value', async () => {
    expect(await nameOf(replica, { token: oddToken })).toBe('odd');
    expect(await nameOf(replica, { headers: { authorization: `bearer ${oddToken}` } })).toBe('odd');
  });

  test('Bootstrap tokens: Token format [a-z0-9]{6}.[a-z0-9]{16} (first part id, second part secret)', async () => {
    await made('form01');
    await until(
      () => nameOf(replica, { token: secretOf('form01') }),
      (name) => name !== 401,
    );
    for (const token of ['form01', 'form01.', secretOf('FORM01'), 'form01.0123456789ABCDEF']) {
      expect(await who({ token })).toEqual(unauthorized);
    }
  });
  test('Bootstrap tokens: Identity system:bootstrap:<token-id>, group system:bootstrappers plus auth-extra-groups', async () => {
    await made('group1', {
      'auth-extra-groups': 'system:bootstrappers:a,system:bootstrappers:b:c',
    });
    const token = secretOf('group1');
    expect(
      await until(
        () => who({ token }),
        (found) => 'username' in found,
      ),
    ).toEqual(bootstrapUser('group1', 'system:bootstrappers:a', 'system:bootstrappers:b:c'));
  });
  test('Bootstrap tokens: Flag --enable-bootstrap-token-auth; Controllers tokencleaner and bootstrapsigner are enabled with --controllers', async () => {
    // What they do is shown by the rows of the Secret and of the ConfigMap.
    const flagz = await replica.request('GET', '/flagz', { headers: { accept: 'text/plain' } });
    expect(flagz.text).toMatch(/enable-bootstrap-token-auth[=:]\s*true/);
    expect(flagz.text).toMatch(/controllers[=:].*tokencleaner.*bootstrapsigner/);
  });

  test('Service account tokens: Signed JWT bearer tokens, username system:serviceaccount:<namespace>:<name>, groups system:serviceaccounts and system:serviceaccounts:<namespace>', async () => {
    const token = await accountToken('robot');
    expect(token.split('.')).toHaveLength(3);
    expect(await who({ token })).toMatchObject({
      username: 'system:serviceaccount:default:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    expect(await nameOf(replica, { token: `${token.slice(0, -4)}AAAA` })).toBe(401);
  });
  test('Service account tokens: --service-account-lookup (tokens of deleted objects are revoked)', async () => {
    const token = await accountToken('short-lived');
    expect(await nameOf(replica, { token })).toBe('system:serviceaccount:default:short-lived');
    await replica.request('DELETE', `${core}/serviceaccounts/short-lived`);
    await until(
      () => nameOf(replica, { token }),
      (name) => name === 401,
    );
  });
  test('Service account tokens: A Pod selects an account with serviceAccountName', async () => {
    await create(replica, `${core}/serviceaccounts`, { metadata: { name: 'of-pod' } });
    const spec = { serviceAccountName: 'of-pod', containers: [{ name: 'c', image: 'i' }] };
    const { text } = await create(replica, `${core}/pods`, { metadata: { name: 'p' }, spec });
    const { uid } = (JSON.parse(text) as { metadata: { uid: string } }).metadata;
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p', uid };
    const path = `${core}/serviceaccounts/of-pod/token`;
    const issued = await create(replica, path, { spec: { boundObjectRef } });
    const { token } = (JSON.parse(issued.text) as { status: { token: string } }).status;
    expect(await who({ token })).toMatchObject({
      username: 'system:serviceaccount:default:of-pod',
      extra: { 'authentication.svc.io/pod-name': ['p'] },
    });
  });
  test('Service account tokens: Anyone who can read Secrets holding such tokens can act as the account', async () => {
    await create(replica, `${core}/serviceaccounts`, { metadata: { name: 'kept' } });
    await create(replica, `${core}/secrets`, {
      type: 'svc.io/service-account-token',
      metadata: { name: 'kept', annotations: { 'svc.io/service-account.name': 'kept' } },
    });
    const read = async (): Promise<string | undefined> =>
      (await replica.request('GET', `${core}/secrets/kept`)).json<{ data?: { token?: string } }>()
        .data?.token;
    const data = await until(read, (found) => found !== undefined);
    const token = Buffer.from(data ?? '', 'base64').toString();
    expect(await nameOf(replica, { token })).toBe('system:serviceaccount:default:kept');
  });

  test('Anonymous: with --anonymous-auth=false a request without credentials is 401', async () => {
    expect(await whoIs(closed, {})).toEqual(unauthorized);
    expect((await world.send(closed, { path: '/livez' })).status).toBe(401);
    expect((await world.send(replica, { path: '/livez' })).status).toBe(200);
  });
});

describe('Bootstrap token Secret', () => {
  const good: readonly (readonly [row: string, id: string, data: object, groups?: string[]])[] = [
    [
      'Type bootstrap.svc.io/token, in namespace svc-system, name bootstrap-token-<token-id>',
      'good00',
      {},
    ],
    ['description: optional text', 'good01', { description: 'of a node' }],
    ['token-id: required, 6 characters', 'good02', {}],
    ['token-secret: required, 16 characters', 'good03', {}],
    ['expiration: optional, RFC 3339 UTC time', 'good04', { expiration: '2999-12-31T23:59:59Z' }],
    ['usage-bootstrap-authentication: true allows use as bearer credential', 'good05', {}],
    [
      ...([
        'auth-extra-groups: comma-separated groups, each starting system:bootstrappers:',
        'good06',
      ] as const),
      { 'auth-extra-groups': 'system:bootstrappers:x,system:bootstrappers:y' },
      ['system:bootstrappers:x', 'system:bootstrappers:y'],
    ],
  ];
  const elsewhere = { type: 'Opaque' };
  const misnamed = { metadata: { name: 'bootstrap-token-other0' } };
  const bad: readonly (readonly [row: string, id: string, data: object, over?: object])[] = [
    ['Type bootstrap.svc.io/token: another type', 'badd00', {}, elsewhere],
    ['name bootstrap-token-<token-id>: another name', 'badd01', {}, misnamed],
    ['token-id: required', 'badd02', { 'token-id': '' }],
    ['token-secret: required', 'badd03', { 'token-secret': '' }],
    ['token-secret: another one', 'badd04', { 'token-secret': 'fedcba9876543210' }],
    ['expiration: RFC 3339 UTC time that is none', 'badd05', { expiration: 'tomorrow' }],
    ['expiration: passed', 'badd06', { expiration: '2020-01-01T00:00:00Z' }],
    [
      'usage-bootstrap-authentication: not true',
      'badd07',
      { 'usage-bootstrap-authentication': 'false' },
    ],
    [
      'auth-extra-groups: of others',
      'badd08',
      { 'auth-extra-groups': 'system:bootstrappers:a,system:masters' },
    ],
  ];
  beforeAll(async () => {
    for (const [, id, data, over] of bad) await made(id, data, over);
    for (const [, id, data] of good) await made(id, data);
    await made('last00');
    const token = secretOf('last00');
    await until(
      () => nameOf(replica, { token }),
      (name) => name !== 401,
    );
  });

  test.each(good)('%s', async (_row, id, _data, groups = []) => {
    expect(await who({ token: secretOf(id) })).toEqual(bootstrapUser(id, ...groups));
  });
  test.each(bad)('%s is 401', async (_row, id) => {
    expect(await who({ token: secretOf(id) })).toEqual(unauthorized);
  });
  test('in namespace svc-system: one elsewhere is 401', async () => {
    await create(replica, '/api/v1/namespaces/default/secrets', bootstrap('badd09'));
    await made('last01');
    await until(
      () => nameOf(replica, { token: secretOf('last01') }),
      (name) => name !== 401,
    );
    expect(await who({ token: secretOf('badd09') })).toEqual(unauthorized);
  });
  test.each([
    ['Bootstrap token id and secret lengths: 6 characters of the id', 'short', '0123456789abcdef'],
    [
      'Bootstrap token id and secret lengths: 16 characters of the secret',
      'len016',
      '0123456789abcde',
    ],
    ['Bootstrap token id and secret lengths: no character more', 'len017', '0123456789abcdef0'],
  ])('%s', async (_row, id, secret) => {
    const reply = await replica.request('POST', systemSecrets, {
      body: bootstrap(id, { 'token-secret': secret }),
    });
    expect([201, 422]).toContain(reply.status);
    expect(await who({ token: `${id}.${secret}` })).toEqual(unauthorized);
  });
});

describe('Cluster-info ConfigMap: Name cluster-info, namespace svc-public', () => {
  interface Info {
    readonly data: Readonly<Record<string, string>>;
  }
  const info = async (): Promise<Info['data']> =>
    (await replica.request('GET', `${publicMaps}/cluster-info`)).json<Info>().data;
  const kubeconfig = (): string =>
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config' },
      clusters: [
        {
          name: '',
          cluster: {
            'certificate-authority-data': readFileSync(replica.caFile).toString('base64'),
          },
        },
      ],
    });
  beforeAll(async () => {
    await made('signs0', { 'usage-bootstrap-signing': 'true' });
    await made('mute00', { 'usage-bootstrap-signing': 'false' });
    const data = { kubeconfig: kubeconfig() };
    await create(replica, publicMaps, { metadata: { name: 'cluster-info' }, data });
    await until(info, (data) => 'jws-kubeconfig-signs0' in data);
  });

  test('kubeconfig (a client configuration with cluster data, mainly certificate-authority-data) stays as it was given', async () => {
    expect((await info())['kubeconfig']).toBe(kubeconfig());
  });
  test('jws-kubeconfig-<token-id> (detached JWS signature), created with HS256, the full token as shared secret, payload the base64url kubeconfig without trailing =', async () => {
    const [head = '', payload, signature] = ((await info())['jws-kubeconfig-signs0'] ?? '').split(
      '.',
    );
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toMatchObject({
      ...{ alg: 'HS256', kid: 'signs0' },
    });
    expect(payload).toBe('');
    const inserted = `${head}.${Buffer.from(kubeconfig()).toString('base64url')}`;
    const hmac = createHmac('sha256', secretOf('signs0')).update(inserted).digest('base64url');
    expect(signature).toBe(hmac);
  });
  test('usage-bootstrap-signing: true allows signing the cluster-info ConfigMap', async () => {
    expect(Object.keys(await info())).not.toContain('jws-kubeconfig-mute00');
  });
  test('Expired: ignored for signing, Rejected for authentication, Removed when the token cleaner controller runs', async () => {
    expect(await nameOf(replica, { token: secretOf('signs0') })).toBe('system:bootstrap:signs0');
    const path = `${systemSecrets}/bootstrap-token-signs0`;
    await replica.request('PATCH', path, {
      body: { stringData: { expiration: '2020-01-01T00:00:00Z' } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    const token = secretOf('signs0');
    await until(
      () => nameOf(replica, { token }),
      (name) => name === 401,
    );
    await until(info, (data) => !('jws-kubeconfig-signs0' in data));
    await until(
      async () => (await replica.request('GET', path)).status,
      (status) => status === 404,
    );
  });
});

describe('States and transitions', () => {
  test('Request unauthenticated: credentials presented and valid for a module, first success wins → Authenticated, Groups get system:authenticated', async () => {
    await made('state0');
    const bootstrapped = { token: secretOf('state0') };
    await until(
      () => nameOf(replica, bootstrapped),
      (name) => name !== 401,
    );
    const certified = { client: await cert('jane') };
    const service = { token: await accountToken('state') };
    for (const asked of [certified, { token: 'solo-token' }, service, bootstrapped]) {
      expect(await who(asked)).toMatchObject({
        groups: expect.arrayContaining(['system:authenticated']),
      });
    }
  });
  test('Request with invalid credentials → 401 Unauthorized. Not treated as anonymous', async () => {
    const client = await cert('jane', { notAfter: new Date(Date.now() - 60_000) });
    for (const asked of [{ token: 'no-token' }, { client }]) {
      const answer = await world.send(replica, { ...asked, path: '/livez' });
      expect(JSON.parse(answer.text)).toMatchObject({
        ...{ kind: 'Status', status: 'Failure', reason: 'Unauthorized', code: 401 },
        message: 'Unauthorized',
      });
    }
    expect((await world.send(replica, { path: '/livez' })).status).toBe(200);
  });
  test('Request without credentials, anonymous enabled → username system:anonymous, group system:unauthenticated. Rules for them must be explicit in role-based modes', async () => {
    expect(await who({})).toEqual({
      status: 403,
      message: expect.stringContaining('User "system:anonymous" cannot create'),
    });
    const rbac = '/apis/rbac.authorization.svc.io/v1';
    await create(replica, `${rbac}/clusterrolebindings`, {
      metadata: { name: 'anybody-asks' },
      roleRef: {
        apiGroup: 'rbac.authorization.svc.io',
        kind: 'ClusterRole',
        name: 'system:basic-user',
      },
      subjects: [
        { apiGroup: 'rbac.authorization.svc.io', kind: 'Group', name: 'system:unauthenticated' },
      ],
    });
    expect(
      await until(
        () => who({}),
        (found) => 'username' in found,
      ),
    ).toEqual({
      ...{ username: 'system:anonymous', groups: ['system:unauthenticated'] },
    });
    await replica.request('DELETE', `${rbac}/clusterrolebindings/anybody-asks`);
  });
});

test('Errors: 401 Unauthorized: Invalid bearer token', async () => {
  for (const token of ['x', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', 'abcdef.0123456789abcdef']) {
    expect(await who({ token })).toEqual(unauthorized);
  }
});
