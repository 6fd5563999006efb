// Front proxies and impersonation by the specification of authentication, row by row, and the
// attacks on both: nobody becomes somebody else by headers alone.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestCa } from '../../lib/base/testing/certificates.ts';
import type { TestCa, TestPair } from '../../lib/base/testing/certificates.ts';
import { adminToken, TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import * as world from './authentication-world.ts';
import type { Asked, Who } from './authentication-world.ts';

const { create, messageOf, nameOf, send, send2, unauthorized, until, whoIs } = world;

let cluster: TestCluster;
let replica: Replica;
let proxy: TestPair;
let user: TestPair;
/** What is no front proxy, by why. */
let pretenders: Readonly<Record<string, Asked>>;

async function makeClients(users: TestCa, fronts: TestCa): Promise<void> {
  const of = (
    ca: TestCa,
    commonName: string,
    use: 'clientAuth' | 'serverAuth',
  ): Promise<TestPair> => ca.issue({ use, commonName });
  proxy = await of(fronts, 'proxy', 'clientAuth');
  user = await of(users, 'proxy', 'clientAuth');
  pretenders = {
    'without a certificate': {},
    'with a token alone': { token: 'agent-token' },
    'with a certificate of users, of an allowed name': { client: user },
    'with a certificate of a name that is not allowed': {
      client: await of(fronts, 'other', 'clientAuth'),
    },
    'with a certificate of the CA for servers': { client: await of(fronts, 'proxy', 'serverAuth') },
    'with a certificate of a CA of the same name': {
      client: await of(await createTestCa('fronts'), 'proxy', 'clientAuth'),
    },
  };
}

beforeAll(async () => {
  const [users, fronts] = await Promise.all([createTestCa('users'), createTestCa('fronts')]);
  await makeClients(users, fronts);
  cluster = await TestCluster.start({
    naming: 'svc',
    tokens: ['agent-token,agent,agent', 'local-token,local,local'],
    serverFlags: [
      '--requestheader-username-headers=X-Remote-User,X-Second-User',
      '--requestheader-group-headers=X-Remote-Group,X-Second-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--requestheader-allowed-names=proxy,second-proxy',
    ],
    replicaFlags: (_replica, folder) => {
      const files = { 'users.crt': users.cert, 'fronts.crt': fronts.cert };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      return [
        `--client-ca-file=${join(folder, 'users.crt')}`,
        `--requestheader-client-ca-file=${join(folder, 'fronts.crt')}`,
      ];
    },
  });
  replica = cluster.replica(0);
});
afterAll(() => cluster.stop());

const who = (asked: Asked): Promise<Who> => whoIs(replica, asked);
const proxied = (headers: NonNullable<Asked['headers']>): Promise<Who> =>
  who({ client: proxy, headers });
const all = 'system:authenticated';

describe('Authenticating proxy', () => {
  test.each<[row: string, headers: NonNullable<Asked['headers']>, expected: Who]>([
    [
      '--requestheader-username-headers: Required, case-insensitive, ordered',
      { 'x-SECOND-user': 'second', 'X-rEMOTE-uSER': 'first' },
      { username: 'first', groups: [all] },
    ],
    [
      '--requestheader-username-headers: First header with a value gives the username',
      { 'X-Remote-User': '', 'X-Second-User': 'second' },
      { username: 'second', groups: [all] },
    ],
    [
      '--requestheader-username-headers: no header with a value is no user',
      { 'X-Remote-Group': 'g' },
      unauthorized,
    ],
    [
      '--requestheader-group-headers: Optional',
      { 'X-Remote-User': 'a' },
      { username: 'a', groups: [all] },
    ],
    [
      '--requestheader-group-headers: Every value of every listed header is a group',
      { 'X-Remote-User': 'a', 'X-Second-Group': 'z', 'X-Remote-Group': ['b', 'c, d'] },
      { username: 'a', groups: ['b', 'c, d', 'z', all] },
    ],
    [
      '--requestheader-extra-headers-prefix: Headers with the prefix become extra keys: ' +
        'prefix removed, lower-cased, percent-decoded. Values are kept',
      { 'X-Remote-User': 'a', 'X-REMOTE-EXTRA-Acme.com%2FProject': ['One', '%2F two'] },
      { username: 'a', groups: [all], extra: { 'acme.com/project': ['One', '%2F two'] } },
    ],
  ])('%s', async (_row, headers, expected) => {
    expect(await proxied(headers)).toEqual(expected);
  });

  test(
    '--requestheader-client-ca-file: Required. A valid client certificate from this CA ' +
      'must be presented before headers are read',
    async () => {
      const headers = { 'X-Remote-User': 'fido' };
      expect(await nameOf(replica, { client: proxy, headers })).toBe('fido');
      expect(await nameOf(replica, { client: user, headers })).toBe('proxy');
      expect(await nameOf(replica, { headers })).toBe(403);
    },
  );
  test(
    '--requestheader-allowed-names: Optional list of ' + 'allowed certificate common names',
    async () => {
      const headers = { 'X-Remote-User': 'fido' };
      const asked = pretenders['with a certificate of a name that is not allowed'];
      expect(await who({ ...asked, headers })).toEqual(unauthorized);
      expect(await nameOf(replica, { ...asked, headers, token: 'agent-token' })).toBe('agent');
    },
  );
});

describe(
  'front-proxy header spoof: headers count on connections proven by the CA and the ' + 'name alone',
  () => {
    const path = '/api/v1/namespaces/svc-system/secrets';
    const spoofed = {
      'X-Remote-User': 'fido',
      'X-Second-User': 'fido',
      'X-Remote-Group': world.adminGroup,
      'X-Second-Group': world.adminGroup,
      'X-Remote-Extra-Scopes': 'all',
      X_Remote_User: 'fido',
    };
    /** Who is refused, or the status. */
    const refused = ({ status, text }: world.Answer): string | number =>
      status === 403 ? (/User "(.*?)"/.exec(messageOf(text))?.[1] ?? 403) : status;
    const protocols: Readonly<Record<string, (asked: Asked) => Promise<world.Answer>>> = {
      'HTTP/1.1': (asked) => send(replica, { ...asked, path }),
      'HTTP/2': (asked) => send2(replica, { ...asked, path }),
      WebSocket: (asked) =>
        send(replica, {
          ...asked,
          path: `${path}?watch=1`,
          headers: { ...world.upgradeHeaders, ...asked.headers },
        }),
    };
    const expected: Readonly<Record<string, string | number>> = {
      'without a certificate': 'system:anonymous',
      'with a token alone': 'agent',
      'with a certificate of users, of an allowed name': 'proxy',
      'with a certificate of a name that is not allowed': 401,
      'with a certificate of the CA for servers': 401,
      'with a certificate of a CA of the same name': 401,
    };
    describe.each(Object.entries(protocols))('over %s', (protocol, ask) => {
      test.each(Object.entries(expected))('%s it is %j', async (how, name) => {
        expect(refused(await ask({ ...pretenders[how], headers: spoofed }))).toBe(name);
      });
      test('of a proxy it is whom the proxy names', async () => {
        const good = protocol === 'WebSocket' ? 101 : 200;
        expect(refused(await ask({ client: proxy, headers: spoofed }))).toBe(good);
        expect(refused(await ask({ client: proxy, headers: { 'X-Remote-User': 'x' } }))).toBe('x');
      });
    });
  },
);

describe('Impersonation', () => {
  const rbac = '/apis/rbac.authorization.svc.io/v1';
  const apiGroup = 'rbac.authorization.svc.io';
  const rules = [
    { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['jane'] },
    { apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['dev'] },
    {
      ...{ apiGroups: [''], resources: ['serviceaccounts'] },
      ...{ verbs: ['impersonate'], resourceNames: ['robot'] },
    },
    {
      ...{ apiGroups: ['authentication.svc.io'], resources: ['userextras/scopes'] },
      ...{ verbs: ['impersonate'], resourceNames: ['view'] },
    },
    {
      ...{ apiGroups: ['authentication.svc.io'], resources: ['uids'] },
      ...{ verbs: ['impersonate'], resourceNames: ['u-1'] },
    },
  ];
  beforeAll(async () => {
    const subjects = (name: string): object[] => [{ apiGroup, kind: 'User', name }];
    const metadata = { name: 'impersonates' };
    await create(replica, `${rbac}/clusterroles`, { metadata, rules });
    const roleRef = { apiGroup, kind: 'ClusterRole', name: 'impersonates' };
    const ofLocal = { metadata, roleRef, subjects: subjects('local') };
    await create(replica, `${rbac}/namespaces/default/rolebindings`, ofLocal);
    const ofAgent = { metadata, roleRef, subjects: subjects('agent') };
    await create(replica, `${rbac}/clusterrolebindings`, ofAgent);
    const asked = { token: 'agent-token', headers: { 'Impersonate-User': 'jane' } };
    await until(
      () => nameOf(replica, asked),
      (name) => name === 'jane',
    );
  });

  const asAdmin = (headers: NonNullable<Asked['headers']>, by = send): Promise<Who> =>
    whoIs(replica, { token: adminToken, headers }, by);
  const jane = { 'Impersonate-User': 'jane' };
  test.each<[row: string, headers: NonNullable<Asked['headers']>, expected: world.Identity]>([
    ['Impersonate-User: Target username', jane, { username: 'jane', groups: [all] }],
    [
      'Impersonate-Group: Repeatable',
      { ...jane, 'Impersonate-Group': ['b', 'a', 'c, d'] },
      { username: 'jane', groups: ['b', 'a', 'c, d', all] },
    ],
    [
      'Impersonate-Extra-<name>: <name> lower-case, percent-encoded if not a legal header ' +
        'token character',
      { ...jane, 'Impersonate-Extra-acme.com%2fproject': ['One', 'two'] },
      { username: 'jane', groups: [all], extra: { 'acme.com/project': ['One', 'two'] } },
    ],
    [
      'Impersonate-Uid: Release 1.22 and later. No format rule',
      { ...jane, 'Impersonate-Uid': 'no uuid / at all' },
      { username: 'jane', uid: 'no uuid / at all', groups: [all] },
    ],
  ])('%s', async (_row, headers, expected) => {
    expect(await asAdmin(headers)).toEqual(expected);
    expect(await asAdmin(headers, send2)).toEqual(expected);
  });
  test.each([
    ['Impersonate-Group', 'dev'],
    ['Impersonate-Extra-Scopes', 'view'],
    ['Impersonate-Uid', 'u-1'],
  ])('%s: Requires Impersonate-User', async (name, value) => {
    for (const more of [{}, { 'Impersonate-User': '' }]) {
      const found = await asAdmin({ [name]: value, ...more });
      expect(found).toEqual({
        status: 400,
        message: expect.stringMatching(/without impersonating a user/),
      });
    }
  });

  test('Flow: the caller is authenticated with its own credentials', async () => {
    expect(await who({ token: 'no-token', headers: jane })).toEqual(unauthorized);
    expect(await nameOf(replica, { headers: jane })).toBe(403);
  });
  test(
    'Flow: then the server checks it may impersonate, replaces the identity, then ' +
      'authorizes as the target',
    async () => {
      const path = '/api/v1/namespaces/default/secrets';
      const refusalOf = async (token: string): Promise<string> =>
        messageOf((await send(replica, { token, path, headers: jane })).text);
      expect(await refusalOf('local-token')).toMatch(/User "local" cannot impersonate/);
      expect(await refusalOf(adminToken)).toMatch(/User "jane" cannot list/);
    },
  );
  test.each<[what: string, headers: NonNullable<Asked['headers']>, expected: unknown]>([
    ['users', jane, 'jane'],
    ['users: narrowed by resourceNames', { 'Impersonate-User': 'john' }, 403],
    ['groups', { ...jane, 'Impersonate-Group': 'dev' }, 'jane'],
    ['groups: narrowed by resourceNames', { ...jane, 'Impersonate-Group': ['dev', 'ops'] }, 403],
    [
      'serviceaccounts (core group)',
      { 'Impersonate-User': 'system:serviceaccount:default:robot' },
      'system:serviceaccount:default:robot',
    ],
    [
      'serviceaccounts: narrowed by resourceNames',
      { 'Impersonate-User': 'system:serviceaccount:default:other' },
      403,
    ],
    ['userextras/<name>', { ...jane, 'Impersonate-Extra-Scopes': 'view' }, 'jane'],
    ['userextras/<name>: another name', { ...jane, 'Impersonate-Extra-Other': 'view' }, 403],
    [
      'userextras/<name>: narrowed by resourceNames',
      { ...jane, 'Impersonate-Extra-Scopes': ['view', 'edit'] },
      403,
    ],
    ['uids (group authentication.svc.io)', { ...jane, 'Impersonate-Uid': 'u-1' }, 'jane'],
    ['uids: narrowed by resourceNames', { ...jane, 'Impersonate-Uid': 'u-2' }, 403],
  ])('Permission is the verb impersonate on %s', async (_what, headers, expected) => {
    expect(await nameOf(replica, { token: 'agent-token', headers })).toBe(expected);
  });
  test('It must be granted by cluster-wide roles and bindings', async () => {
    expect(await nameOf(replica, { token: 'local-token', headers: jane })).toBe(403);
  });
  test(
    'SelfSubjectReview: status.userInfo holds username, uid, groups, extra after all ' +
      'authentication, including impersonation',
    async () => {
      const headers = {
        ...{ 'Impersonate-User': 'jane', 'Impersonate-Uid': 'u-1' },
        ...{ 'Impersonate-Group': 'dev', 'Impersonate-Extra-Scopes': 'view' },
      };
      expect(await who({ token: 'agent-token', headers })).toEqual({
        ...{ username: 'jane', uid: 'u-1', groups: ['dev', all], extra: { scopes: ['view'] } },
      });
    },
  );

  describe('attacks', () => {
    test.each([
      ['HTTP/1.1', send],
      ['HTTP/2', send2],
    ])(
      'extra keys over %s: percent-decoded once, lower-cased, one key of all spellings',
      async (_protocol, by) => {
        const headers = {
          ...jane,
          'Impersonate-Extra-SCOPES': 'a',
          'Impersonate-Extra-%53copes': 'b',
          'Impersonate-Extra-%2541': 'c',
        };
        expect(await asAdmin(headers, by)).toMatchObject({
          extra: { scopes: ['a', 'b'], '%41': ['c'] },
        });
      },
    );
    test('an extra key in capitals is asked for as it is given on', async () => {
      const headers = { ...jane, 'IMPERSONATE-EXTRA-SCOPES': 'view' };
      expect(await who({ token: 'agent-token', headers })).toMatchObject({
        extra: { scopes: ['view'] },
      });
    });
    test('groups: their order is kept, none is made of a comma', async () => {
      const headers = { ...jane, 'Impersonate-Group': ['z', 'a,system:masters', 'm'] };
      expect(await asAdmin(headers)).toMatchObject({ groups: ['z', 'a,system:masters', 'm', all] });
    });
    test.each(['Impersonate-Group', 'Impersonate-Extra-Scopes'])(
      'the count of %s is capped: 150 headers are taken, more are 400',
      async (name) => {
        const values = (count: number): string[] =>
          Array.from({ length: count }, (_, at) => `v${String(at)}`);
        expect(
          await nameOf(replica, { token: adminToken, headers: { ...jane, [name]: values(149) } }),
        ).toBe('jane');
        expect(await asAdmin({ ...jane, [name]: values(150) })).toMatchObject({ status: 400 });
      },
    );
    test('whom a proxy names may impersonate no more than that user may', async () => {
      const headers = { 'X-Remote-User': 'fido', ...jane };
      expect(await nameOf(replica, { client: proxy, headers })).toBe(403);
      const agent = { 'X-Remote-User': 'agent', ...jane };
      expect(await nameOf(replica, { client: proxy, headers: agent })).toBe('jane');
    });
    test('over a WebSocket the target is authorized, too', async () => {
      const { text } = await send(replica, {
        ...{ token: adminToken, path: '/api/v1/secrets?watch=1' },
        headers: { ...world.upgradeHeaders, ...jane },
      });
      expect(messageOf(text)).toMatch(/User "jane" cannot watch/);
    });
  });
});
