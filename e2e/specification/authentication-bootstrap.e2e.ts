// Bootstrap tokens by the specification of authentication, row by row: what a Secret must hold,
// whom it makes of who shows it, and what the tokens sign.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import * as world from './authentication-world.ts';
import type { Asked, Who } from './authentication-world.ts';

const { create, nameOf, unauthorized, until, whoIs } = world;

let cluster: TestCluster;
let replica: Replica;

beforeAll(async () => {
  cluster = await TestCluster.start({
    naming: 'svc',
    serverFlags: ['--enable-bootstrap-token-auth', '--controllers=*,tokencleaner,bootstrapsigner'],
  });
  replica = cluster.replica(0);
});
afterAll(() => cluster.stop());

const who = (asked: Asked): Promise<Who> => whoIs(replica, asked);
const systemSecrets = '/api/v1/namespaces/svc-system/secrets';
const publicMaps = '/api/v1/namespaces/svc-public/configmaps';

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

describe('Methods', () => {
  test(
    'Bootstrap tokens: Token format [a-z0-9]{6}.[a-z0-9]{16} (first part id, second part ' +
      'secret)',
    async () => {
      await made('form01');
      await until(
        () => nameOf(replica, { token: secretOf('form01') }),
        (name) => name !== 401,
      );
      for (const token of ['form01', 'form01.', secretOf('FORM01'), 'form01.0123456789ABCDEF']) {
        expect(await who({ token })).toEqual(unauthorized);
      }
    },
  );
  test(
    'Bootstrap tokens: Identity system:bootstrap:<token-id>, group system:bootstrappers ' +
      'plus auth-extra-groups',
    async () => {
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
    },
  );
  test(
    'Bootstrap tokens: Flag --enable-bootstrap-token-auth; Controllers tokencleaner and ' +
      'bootstrapsigner are enabled with --controllers',
    async () => {
      // What they do is shown by the rows of the Secret and of the ConfigMap.
      const flagz = await replica.request('GET', '/flagz', { headers: { accept: 'text/plain' } });
      expect(flagz.text).toMatch(/enable-bootstrap-token-auth[=:]\s*true/);
      expect(flagz.text).toMatch(/controllers[=:].*tokencleaner.*bootstrapsigner/);
    },
  );
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

  test(
    'kubeconfig (a client configuration with cluster data, mainly ' +
      'certificate-authority-data) stays as it was given',
    async () => {
      expect((await info())['kubeconfig']).toBe(kubeconfig());
    },
  );
  test(
    'jws-kubeconfig-<token-id> (detached JWS signature), created with HS256, the full ' +
      'token as shared secret, payload the base64url kubeconfig without trailing =',
    async () => {
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
    },
  );
  test('usage-bootstrap-signing: true allows signing the cluster-info ConfigMap', async () => {
    expect(Object.keys(await info())).not.toContain('jws-kubeconfig-mute00');
  });
  test(
    'Bootstrap token valid: expiration reached → Expired. Rejected for authentication, ' +
      'ignored for signing. Removed when the token cleaner controller runs',
    async () => {
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
    },
  );
});
