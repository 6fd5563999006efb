// Credentials of the specification of authentication, row by row: what proves who asks, what
// follows from it, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { appendFileSync, writeFileSync } from 'node:fs';
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
let folder: string;
let [users, others]: TestCa[] = [];

beforeAll(async () => {
  [users, others] = await Promise.all([createTestCa('users'), createTestCa('others')]);
  cluster = await TestCluster.start({
    naming: 'svc',
    tokens: [
      'ann-token,ann,uid-ann,"team-a,team-b"',
      'solo-token,solo,uid-solo',
      `${oddToken},odd,uid-odd`,
      'opaque-token,a b/Ä%2F:<x>,no uid at all,"g 1,g/2"',
    ],
    replicaFlags: (_replica, given) => {
      folder = given;
      writeFileSync(join(folder, 'users.crt'), `${users?.cert ?? ''}${others?.cert ?? ''}`);
      return [`--client-ca-file=${join(folder, 'users.crt')}`];
    },
  });
  replica = cluster.replica(0);
});
afterAll(() => cluster.stop());

const who = (asked: Asked): Promise<Who> => whoIs(replica, asked);
const cert = (commonName: string, more: Partial<LeafRequest> = {}): Promise<TestPair> => {
  if (users === undefined) throw new Error('there is no CA yet');
  return users.issue({ use: 'clientAuth', commonName, ...more });
};

const core = '/api/v1/namespaces/default';
/** Of a new account of the name, good from then on. */
async function accountToken(name: string): Promise<string> {
  await create(replica, `${core}/serviceaccounts`, { metadata: { name } });
  const { text } = await create(replica, `${core}/serviceaccounts/${name}/token`, { spec: {} });
  return (JSON.parse(text) as { status: { token: string } }).status.token;
}

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
  test(
    'Client certificates: Username is the subject common name. Each organization field ' +
      'is a group',
    async () => {
      const client = await cert('jane', { organizations: ['dev', 'ops, night'] });
      expect(await who({ client })).toMatchObject({
        username: 'jane',
        groups: ['dev', 'ops, night', 'system:authenticated'],
      });
    },
  );

  test(
    'Static token file: CSV columns: token, ' + 'username, uid, then optional group names',
    async () => {
      expect(await who({ token: 'solo-token' })).toEqual({
        ...{ username: 'solo', uid: 'uid-solo', groups: ['system:authenticated'] },
      });
    },
  );
  test('Static token file: (quote one cell holding several groups)', async () => {
    expect(await who({ token: 'ann-token' })).toEqual({
      ...{ username: 'ann', uid: 'uid-ann' },
      groups: ['team-a', 'team-b', 'system:authenticated'],
    });
  });
  test(
    'Bearer header: Authorization: Bearer <token>, any token characters valid in a ' +
      'header value',
    async () => {
      expect(await nameOf(replica, { token: oddToken })).toBe('odd');
      expect(await nameOf(replica, { headers: { authorization: `bearer ${oddToken}` } })).toBe(
        'odd',
      );
    },
  );

  test(
    'Service account tokens: Signed JWT bearer tokens, username ' +
      'system:serviceaccount:<namespace>:<name>, groups system:serviceaccounts and ' +
      'system:serviceaccounts:<namespace>',
    async () => {
      const token = await accountToken('robot');
      expect(token.split('.')).toHaveLength(3);
      expect(await who({ token })).toMatchObject({
        username: 'system:serviceaccount:default:robot',
        groups: [
          'system:serviceaccounts',
          'system:serviceaccounts:default',
          'system:authenticated',
        ],
      });
      expect(await nameOf(replica, { token: `${token.slice(0, -4)}AAAA` })).toBe(401);
    },
  );
  test(
    'Service account tokens: --service-account-lookup (tokens of deleted objects are ' + 'revoked)',
    async () => {
      const token = await accountToken('short-lived');
      expect(await nameOf(replica, { token })).toBe('system:serviceaccount:default:short-lived');
      await replica.request('DELETE', `${core}/serviceaccounts/short-lived`);
      await until(
        () => nameOf(replica, { token }),
        (name) => name === 401,
      );
    },
  );
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
  test(
    'Service account tokens: Anyone who can read Secrets holding such tokens can act as ' +
      'the account',
    async () => {
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
    },
  );
});

describe('States and transitions', () => {
  test(
    'Request unauthenticated: credentials presented and valid for a module, first ' +
      'success wins → Authenticated, Groups get system:authenticated',
    async () => {
      const certified = { client: await cert('jane') };
      const service = { token: await accountToken('state') };
      for (const asked of [certified, { token: 'solo-token' }, service]) {
        expect(await who(asked)).toMatchObject({
          groups: expect.arrayContaining(['system:authenticated']),
        });
      }
    },
  );
  test(
    'Request with invalid credentials → 401 ' + 'Unauthorized. Not treated as anonymous',
    async () => {
      const client = await cert('jane', { notAfter: new Date(Date.now() - 60_000) });
      for (const asked of [{ token: 'no-token' }, { client }]) {
        const answer = await world.send(replica, { ...asked, path: '/livez' });
        expect(JSON.parse(answer.text)).toMatchObject({
          ...{ kind: 'Status', status: 'Failure', reason: 'Unauthorized', code: 401 },
          message: 'Unauthorized',
        });
      }
      expect((await world.send(replica, { path: '/livez' })).status).toBe(200);
    },
  );
  test(
    'Request without credentials, anonymous enabled → username system:anonymous, group ' +
      'system:unauthenticated. Rules for them must be explicit in role-based modes',
    async () => {
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
    },
  );
});

test('Errors: 401 Unauthorized: Invalid bearer token', async () => {
  for (const token of ['x', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', 'abcdef.0123456789abcdef']) {
    expect(await who({ token })).toEqual(unauthorized);
  }
});

test('Static token file: Tokens are long-lived and changes need a restart', async () => {
  appendFileSync(join(folder, 'tokens.csv'), 'late-token,late,uid-late\n');
  expect(await nameOf(replica, { token: 'late-token' })).toBe(401);
  await replica.terminate();
  await replica.start();
  expect(await nameOf(replica, { token: 'late-token' })).toBe('late');
  expect(await nameOf(replica, { token: 'solo-token' })).toBe('solo');
});
