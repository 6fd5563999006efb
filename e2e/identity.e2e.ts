// Who asks, over real TLS: certificates with intermediates, bootstrap tokens, front proxies, and
// that nothing which proves it is ever told.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { createTestCa } from '../lib/base/testing/certificates.ts';
import type { LeafRequest, TestCa, TestPair } from '../lib/base/testing/certificates.ts';
import { TestCluster } from './harness.ts';
import type { Replica } from './harness.ts';

let cluster: TestCluster;
let replica: Replica;
let users: TestCa;
let fronts: TestCa;
let folder: string;

beforeAll(async () => {
  [users, fronts] = await Promise.all([createTestCa('users'), createTestCa('fronts')]);
  cluster = await TestCluster.start({
    serverFlags: [
      '--log-level=debug',
      '--enable-bootstrap-token-auth',
      '--controllers=*,tokencleaner,bootstrapsigner',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-allowed-names=proxy',
    ],
    replicaFlags: (_replica, given) => {
      folder = given;
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

interface Asked {
  readonly authorization?: string;
  readonly client?: TestPair;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
}

const secrets = '/api/v1/namespaces/kube-system/secrets';

/** On a connection of its own. */
function send(asked: Asked): Promise<{ status: number; text: string }> {
  const { authorization, client, method = 'GET', path = secrets, body } = asked;
  const headers = {
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...asked.headers,
  };
  const ca = readFileSync(replica.caFile);
  return new Promise((resolve, reject) => {
    const url = `${replica.url}${path}`;
    const outgoing = httpsRequest(
      url,
      { method, headers, agent: false, ca, ...client },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The user whom a refusal names, or the status. */
async function who(asked: Asked): Promise<string | number> {
  const { status, text } = await send(asked);
  return status === 403 ? (/User \\"(.*?)\\"/.exec(text)?.[1] ?? 403) : status;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it has not come to be so');
}

const leaf = (ca: TestCa, commonName: string, more: Partial<LeafRequest> = {}): Promise<TestPair> =>
  ca.issue({ use: 'clientAuth', commonName, ...more });

const bootstrapSecret = (id: string, secret: string, data: object = {}): object => ({
  metadata: { name: `bootstrap-token-${id}` },
  type: 'bootstrap.kubernetes.io/token',
  stringData: {
    'token-id': id,
    'token-secret': secret,
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
    ...data,
  },
});

describe('a certificate', () => {
  test('names a user, with intermediates too; one that nobody vouches for is 401', async () => {
    const mid = await users.intermediate('mid');
    const below = await leaf(mid, 'below');
    expect(await who({ client: await leaf(users, 'jane') })).toBe('jane');
    expect(await who({ client: { ...below, cert: `${below.cert}${mid.cert}` } })).toBe('below');
    expect(await who({ client: below })).toBe(401);
    const stranger = await leaf(await createTestCa('users'), 'jane');
    expect(await who({ client: stranger })).toBe(401);
    expect(await who({ client: stranger, path: '/healthz' })).toBe(401);
  });

  test('of a new CA is good, and one of the old CA is not, once the file has changed', async () => {
    const next = await createTestCa('next');
    const [old, fresh] = [await leaf(users, 'old'), await leaf(next, 'fresh')];
    expect(await who({ client: fresh })).toBe(401);
    writeFileSync(join(folder, 'users.crt'), next.cert);
    await until(async () => (await who({ client: fresh })) === 'fresh');
    expect(await who({ client: old })).toBe(401);
    writeFileSync(join(folder, 'users.crt'), 'broken');
    await until(async () => replica.output.includes('the new certificates cannot be used'));
    expect(await who({ client: fresh })).toBe('fresh');
    writeFileSync(join(folder, 'users.crt'), users.cert);
    await until(async () => (await who({ client: old })) === 'old');
  });
});

test('a front proxy names users; nobody else does, whatever headers say (NCC 2023)', async () => {
  const headers = { 'X-Remote-User': 'fido', 'X-Remote-Group': 'system:masters' };
  const proxy = await leaf(fronts, 'proxy');
  expect(await who({ client: proxy, headers: { 'X-Remote-User': 'fido' } })).toBe('fido');
  expect(await who({ client: proxy, headers })).toBe(200);
  expect(await who({ client: proxy })).toBe(401);
  expect(await who({ client: await leaf(fronts, 'other'), headers })).toBe(401);
  expect(await who({ client: await leaf(users, 'proxy'), headers })).toBe('proxy');
  expect(await who({ headers })).toBe('system:anonymous');
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  const published = (await replica.request('GET', path)).json<{ data: Record<string, string> }>();
  expect(published.data).toMatchObject({
    'requestheader-allowed-names': '["proxy"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  });
});

test('a bootstrap token lives as long as its Secret, signs, and is cleaned away', async () => {
  const authorization = 'Bearer abcde1.0123456789abcdef';
  expect(await who({ authorization })).toBe(401);
  const body = bootstrapSecret('abcde1', '0123456789abcdef');
  expect((await replica.request('POST', secrets, { body })).status).toBe(201);
  await until(async () => (await who({ authorization })) === 'system:bootstrap:abcde1');
  const infos = '/api/v1/namespaces/kube-public/configmaps';
  const info = { metadata: { name: 'cluster-info' }, data: { kubeconfig: 'x' } };
  expect((await replica.request('POST', infos, { body: info })).status).toBe(201);
  await until(async () => {
    const { text } = await replica.request('GET', `${infos}/cluster-info`);
    return text.includes('jws-kubeconfig-abcde1');
  });
  const gone = { stringData: { expiration: '2020-01-01T00:00:00Z' } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  const path = `${secrets}/bootstrap-token-abcde1`;
  await replica.request('PATCH', path, { body: gone, headers });
  await until(async () => (await replica.request('GET', path)).status === 404);
  await until(async () => (await who({ authorization })) === 401);
});

test('no log line, error body or metric tells a token, a secret or a key', async () => {
  const canary = 'canary0123456789';
  const told: string[] = [];
  const ask = async (asked: Asked): Promise<void> => {
    const { status, text } = await send(asked);
    expect(status).toBeGreaterThanOrEqual(400);
    told.push(text);
  };
  const body = bootstrapSecret('abcde2', canary);
  expect((await replica.request('POST', secrets, { body })).status).toBe(201);
  const good = `Bearer abcde2.${canary}`;
  await until(async () => (await who({ authorization: good })) === 'system:bootstrap:abcde2');
  const text = JSON.stringify(body);
  const base64 = Buffer.from(canary).toString('base64url');
  const upgrade = {
    ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const carrier = `base64url.bearer.authorization.k8s.io.${base64}`;
  for (const authorization of [good, `Bearer ${canary}`, `Bearer  ${canary}`, `Basic ${canary}`]) {
    for (const path of [secrets, '/nothing', `${secrets}?watch=1&timeoutSeconds=x`]) {
      await ask({ authorization, path });
    }
    await ask({ authorization, method: 'POST', body: text });
  }
  for (const protocol of [carrier, `${carrier}, binary.k8s.io`, `${carrier}, ${carrier}`]) {
    const headers = { ...upgrade, 'sec-websocket-protocol': protocol };
    await ask({ path: `${secrets}?watch=1`, headers });
  }
  const admin = await leaf(users, 'admin', { organizations: ['system:masters'] });
  for (const broken of [text.slice(0, -3), `${text}x`, text.replace('abcde2', 'A_B')]) {
    await ask({ client: admin, method: 'POST', body: broken });
  }
  await ask({ client: admin, method: 'POST', body: text }); // it exists
  await ask({ client: await leaf(await createTestCa('x'), canary) });
  told.push((await replica.request('GET', '/metrics')).text, replica.output);
  const key = admin.key.split('\n')[1] ?? '';
  for (const secret of [canary, base64, Buffer.from(canary).toString('base64'), key]) {
    const telling = told.filter((one) => one.includes(secret));
    expect([secret, ...telling]).toEqual([secret]);
  }
});
