// Tokens of service accounts among three replicas: what one issues, every other one believes at
// once, until what it is tied to is gone; keys are changed without a token lost.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestCluster } from './harness.ts';
import type { Replica, Reply } from './harness.ts';

const core = '/api/v1/namespaces/default';
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const pem = (key: KeyObject): string =>
  key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }).toString();
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ecdsa = generateKeyPairSync('ec', { namedCurve: 'P-384' });

let cluster: TestCluster;
let folder = '';
/** What each replica signs with, and what it believes beside that. */
const setKeys = (signing: KeyObject, ...others: readonly KeyObject[]): void => {
  writeFileSync(join(folder, 'signing.pem'), pem(signing), { mode: 0o600 });
  writeFileSync(join(folder, 'keys.pem'), [signing, ...others].map(pem).join(''), { mode: 0o600 });
};

beforeAll(async () => {
  cluster = await TestCluster.start({
    replicaCount: 3,
    serverFlags: ['--authorization-mode=RBAC', '--service-account-issuer=https://sa.example.com'],
    replicaFlags: (_replica, given) => {
      folder = given;
      setKeys(rsa.privateKey);
      return [
        `--service-account-signing-key-file=${join(folder, 'signing.pem')}`,
        `--service-account-key-file=${join(folder, 'keys.pem')}`,
      ];
    },
  });
  const metadata = { name: 'reads' };
  await made(`${rbac}/roles`, {
    metadata,
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
  });
  await made(`${rbac}/rolebindings`, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reads' },
    subjects: [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:serviceaccounts' },
    ],
  });
  const token = await newToken(cluster.replica(0), 'first');
  for (const replica of cluster.replicas) {
    while ((await useOf(replica, token)).status === 403) await pause(20);
  }
});
afterAll(() => cluster.stop());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Made {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly data?: Readonly<Record<string, string>>;
}

async function made(path: string, body: object, by = cluster.replica(0)): Promise<Made> {
  const reply = await by.request('POST', path, { body });
  expect([path, reply.status, reply.text]).toEqual([path, 201, reply.text]);
  return reply.json<Made>();
}

/** Of a new account; `spec` is that of the TokenRequest. */
async function newToken(by: Replica, name: string, spec: object = {}): Promise<string> {
  await made(`${core}/serviceaccounts`, { metadata: { name } }, by);
  return tokenOf(by, name, spec);
}

async function tokenOf(by: Replica, name: string, spec: object = {}): Promise<string> {
  const path = `${core}/serviceaccounts/${name}/token`;
  const reply = await by.request('POST', path, { body: { spec } });
  expect([reply.status, reply.text]).toEqual([201, reply.text]);
  return reply.json<{ status: { token: string } }>().status.token;
}

const useOf = (replica: Replica, token: string): Promise<Reply> =>
  replica.request('GET', `${core}/configmaps`, { headers: { authorization: `Bearer ${token}` } });
const usesOf = async (token: string): Promise<number[]> =>
  Promise.all(cluster.replicas.map(async (replica) => (await useOf(replica, token)).status));

const keysShown = async (replica: Replica): Promise<string[]> => {
  const { keys } = (
    await replica.request('GET', '/openid/v1/jwks', { headers: { accept: '*/*' } })
  ).json<{ keys: { alg: string }[] }>();
  return keys.map(({ alg }) => alg);
};

describe('a token', () => {
  test('issued at one replica is good at the others at once, the account being new', async () => {
    for (let round = 0; round < 12; round++) {
      const token = await newToken(cluster.replica(round % 3), `new-${String(round)}`);
      expect(await usesOf(token)).toEqual([200, 200, 200]);
    }
  });

  test('reads what a RoleBinding allows, and no more', async () => {
    const token = await tokenOf(cluster.replica(1), 'first');
    const authorization = `Bearer ${token}`;
    const reply = await cluster
      .replica(2)
      .request('GET', `${core}/secrets`, { headers: { authorization } });
    expect([reply.status, reply.json<{ message: string }>().message]).toEqual([
      403,
      expect.stringContaining('User "system:serviceaccount:default:first" cannot list'),
    ]);
  });

  test('ends everywhere with its pod, while it is used, and does not come back', async () => {
    await made(`${core}/serviceaccounts`, { metadata: { name: 'busy' } });
    const spec = { serviceAccountName: 'busy', containers: [{ name: 'c', image: 'i' }] };
    const { metadata } = await made(`${core}/pods`, { metadata: { name: 'busy' }, spec });
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'busy', uid: metadata.uid };
    const token = await tokenOf(cluster.replica(1), 'busy', { boundObjectRef });
    const using = cluster.replicas.map(async (replica) => {
      const statuses: number[] = [];
      while (statuses.at(-1) !== 401) statuses.push((await useOf(replica, token)).status);
      for (let more = 0; more < 20; more++) statuses.push((await useOf(replica, token)).status);
      return statuses;
    });
    await pause(50);
    const path = `${core}/pods/busy?gracePeriodSeconds=0`;
    expect((await cluster.replica(2).request('DELETE', path)).status).toBe(200);
    for (const statuses of await Promise.all(using)) {
      expect(statuses[0]).toBe(200);
      expect(new Set(statuses.slice(statuses.indexOf(401)))).toEqual(new Set([401]));
    }
    await made(`${core}/pods`, { metadata: { name: 'busy' }, spec });
    expect(await usesOf(token)).toEqual([401, 401, 401]);
  });

  test('lies in a Secret of the type as soon as a controller sees it, and is good', async () => {
    await made(`${core}/serviceaccounts`, { metadata: { name: 'old' } });
    await made(`${core}/secrets`, {
      type: 'kubernetes.io/service-account-token',
      metadata: { name: 'old', annotations: { 'kubernetes.io/service-account.name': 'old' } },
    });
    const read = async (): Promise<Readonly<Record<string, string>>> =>
      (await cluster.replica(1).request('GET', `${core}/secrets/old`)).json<Made>().data ?? {};
    while ((await read())['token'] === undefined) await pause(20);
    const token = Buffer.from((await read())['token'] ?? '', 'base64').toString();
    expect(await usesOf(token)).toEqual([200, 200, 200]);
    const labels = async (): Promise<string> =>
      (await cluster.replica(1).request('GET', `${core}/secrets/old`)).text;
    while (!(await labels()).includes('"kubernetes.io/legacy-token-last-used":"')) await pause(20);
    await cluster.replica(0).request('DELETE', `${core}/serviceaccounts/old`);
    while ((await usesOf(token)).some((status) => status !== 401)) await pause(20);
  });
});

/** What replicas answer who uses the token all the time; one that is away answers nothing. */
function keepUsing(token: string): () => Promise<readonly number[]> {
  let isOver = false;
  const statuses: number[] = [];
  const using = cluster.replicas.map(async (replica) => {
    while (!isOver) {
      const reply = await useOf(replica, token).catch(() => undefined);
      if (reply !== undefined) statuses.push(reply.status);
      await pause(10);
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(using);
    return statuses;
  };
}

test('keys are changed one replica after the other, and no token is refused', async () => {
  const tokens = [await newToken(cluster.replica(0), 'keeps')];
  const answers = keepUsing(tokens[0] ?? '');
  const restart = async (): Promise<void> => {
    for (const replica of cluster.replicas) {
      await replica.terminate();
      await replica.start();
      tokens.push(await tokenOf(replica, 'keeps'));
      for (const token of tokens) expect(await usesOf(token)).toEqual([200, 200, 200]);
    }
  };
  setKeys(rsa.privateKey, ecdsa.publicKey); // everybody believes the new key
  await restart();
  setKeys(ecdsa.privateKey, rsa.publicKey); // then it signs
  await restart();
  expect(await keysShown(cluster.replica(0))).toEqual(['ES384', 'RS256']);
  const answered = await answers();
  expect(new Set(answered)).toEqual(new Set([200]));
  expect(answered.length).toBeGreaterThan(100);
  setKeys(ecdsa.privateKey); // the old one is dropped, and its tokens with it
  const replica = cluster.replica(0);
  await replica.terminate();
  await replica.start();
  const statuses = await Promise.all(tokens.map((token) => useOf(replica, token)));
  expect(statuses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 200, 200, 200]);
  expect(await keysShown(replica)).toEqual(['ES384']);
});
