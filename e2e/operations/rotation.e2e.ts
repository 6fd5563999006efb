// Every certificate and key is replaced under steady load, in the order that
// docs/operate/certificates.md gives: no request fails, and in the end the old ones are worth
// nothing.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKeyPairSync } from 'node:crypto';
import { createTestCa } from '../../lib/base/testing/certificates.ts';
import type { TestCa, TestPair } from '../../lib/base/testing/certificates.ts';
import { adminToken, TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import { Balancer } from './balancer.ts';
import type { Identity } from './clients.ts';
import { SteadyLoad } from './steady-load.ts';

let folder: string;
let cluster: TestCluster;
let balancer: Balancer;
const at = (name: string): string => join(folder, name);

/** As tools do it that renew certificates: no reader sees half of a file. */
function put(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** The certificate is followed by that of its CA. */
async function serverPair(ca: TestCa): Promise<TestPair> {
  const { cert, key } = await ca.issue({ use: 'serverAuth', commonName: 'apiserver' });
  return { cert: `${cert}${ca.cert}`, key };
}
const adminPair = (ca: TestCa, commonName: string): Promise<TestPair> =>
  ca.issue({ use: 'clientAuth', commonName, organizations: ['system:masters'] });

interface Authorities {
  readonly serving: TestCa;
  readonly users: TestCa;
  readonly proxies: TestCa;
}
const authorities = async (name: string): Promise<Authorities> => ({
  serving: await createTestCa(`${name} serving`),
  users: await createTestCa(`${name} users`),
  proxies: await createTestCa(`${name} proxies`),
});
let old: Authorities;
let fresh: Authorities;
/** What the load believes, and who it is. */
let identity: Identity;

function newKey(name: string): { readonly sign: string; readonly check: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const sign = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const check = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  writeFileSync(at(name), sign, { mode: 0o600 });
  return { sign, check };
}
let oldKey: { readonly sign: string; readonly check: string };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'apiserver-rotation-'));
  [old, fresh] = [await authorities('old'), await authorities('fresh')];
  const serving = await serverPair(old.serving);
  put(at('tls.crt'), serving.cert);
  put(at('tls.key'), serving.key);
  const named = await serverPair(old.serving);
  put(at('named.crt'), named.cert);
  put(at('named.key'), named.key);
  put(at('users.crt'), old.users.cert);
  put(at('proxies.crt'), old.proxies.cert);
  oldKey = newKey('sign.key');
  put(at('check.pem'), oldKey.check);
  cluster = await TestCluster.start({
    replicaCount: 3,
    memberCount: 3,
    tls: true,
    serverFlags: [
      '--shutdown-delay-duration=500ms',
      `--tls-cert-file=${at('tls.crt')}`,
      `--tls-private-key-file=${at('tls.key')}`,
      `--tls-sni-cert-key=${at('named.crt')},${at('named.key')}:*.example.com`,
      `--client-ca-file=${at('users.crt')}`,
      `--requestheader-client-ca-file=${at('proxies.crt')}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      `--service-account-signing-key-file=${at('sign.key')}`,
      `--service-account-key-file=${at('check.pem')}`,
    ],
  });
  balancer = await Balancer.start(cluster.replicas.map(({ url }) => url));
  identity = { ca: old.serving.cert, ...(await adminPair(old.users, 'old-admin')) };
});
afterAll(async () => {
  await balancer.close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The steps under load, each with the name of the phase. */
async function underLoad(
  what: string,
  run: (phase: (name: string) => Promise<void>) => Promise<void>,
  mayFail = /^$/,
): Promise<void> {
  const load = await SteadyLoad.start({
    url: balancer.url,
    identity: () => identity,
    connectionCount: 1,
  });
  await run(async (name) => {
    await load.flow(20);
    load.phase = name;
  });
  await load.flow();
  const { failures, ...counts } = await load.stop();
  process.stdout.write(`rotation of ${what}: ${JSON.stringify(counts)}\n`);
  expect(failures.filter((failure) => !mayFail.test(failure))).toEqual([]);
}

/** Resolves when all replicas have said so since. */
async function said(text: string, change: () => void): Promise<void> {
  const count = ({ output }: Replica): number => output.split(text).length;
  const before = cluster.replicas.map(count);
  change();
  for (const [index, replica] of cluster.replicas.entries()) {
    while (count(replica) === before[index]) await sleep(10);
  }
}

/** The certificate that a new connection is shown which asks for a name, believing nobody. */
const shownBy = (replica: Replica, servername = ''): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(replica.url);
    const socket: TLSSocket = connect(
      { host: hostname, port: Number(port), servername, rejectUnauthorized: false },
      () => {
        resolve(socket.getPeerX509Certificate()?.toString() ?? 'none');
        socket.destroy();
      },
    );
    socket.on('error', reject);
  });

const statusOf = (
  replica: Replica,
  { ca, headers, ...pair }: Identity & { readonly headers?: Record<string, string> },
): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = { agent: false as const, ca, headers: headers ?? {}, ...pair };
    const path = `${replica.url}/api/v1/namespaces/default/configmaps?limit=1`;
    httpsRequest(path, options, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });

const statusesOf = (
  who: Identity & { readonly headers?: Record<string, string> },
): Promise<number[]> => Promise.all(cluster.replicas.map((replica) => statusOf(replica, who)));

test('the serving certificate and its key, then its CA', async () => {
  await underLoad('serving', async (phase) => {
    const shows = async (pair: TestPair): Promise<void> => {
      put(at('tls.crt'), pair.cert); // for a moment the key is that of another one
      put(at('tls.key'), pair.key);
      for (const replica of cluster.replicas) {
        while (!pair.cert.startsWith(await shownBy(replica))) await sleep(20);
      }
    };
    await phase('renewed by the same CA');
    await shows(await serverPair(old.serving));
    await phase('clients believe both CAs');
    identity = { ...identity, ca: `${old.serving.cert}${fresh.serving.cert}` };
    await phase('renewed by another CA');
    await shows(await serverPair(fresh.serving));
    await phase('clients believe the new one alone');
    identity = { ...identity, ca: fresh.serving.cert };
  });
});

test('the certificate of a name, beside the one of all others', async () => {
  const others = await Promise.all(cluster.replicas.map((replica) => shownBy(replica)));
  const pair = await serverPair(fresh.serving);
  put(at('named.crt'), pair.cert);
  put(at('named.key'), pair.key);
  for (const replica of cluster.replicas) {
    while (!pair.cert.startsWith(await shownBy(replica, 'api.example.com'))) await sleep(20);
  }
  expect(await Promise.all(cluster.replicas.map((replica) => shownBy(replica)))).toEqual(others);
});

test('the CA of client certificates', async () => {
  const before = identity;
  await underLoad('client CAs', async (phase) => {
    const inForce = '--client-ca-file: new certificates are in force';
    await phase('both CAs');
    await said(inForce, () => put(at('users.crt'), `${old.users.cert}${fresh.users.cert}`));
    await phase('clients show new certificates');
    identity = { ca: identity.ca, ...(await adminPair(fresh.users, 'new-admin')) };
    await phase('clients have changed');
    await phase('the new CA alone');
    await said(inForce, () => put(at('users.crt'), fresh.users.cert));
  });
  expect(await statusesOf(before)).toEqual([401, 401, 401]);
  expect(await statusesOf(identity)).toEqual([200, 200, 200]);
});

test('the CA of front proxies', async () => {
  const { ca } = identity;
  const headers = { 'x-remote-user': 'jane', 'x-remote-group': 'system:masters' };
  const proxy = async (of: TestCa): Promise<Identity & { headers: Record<string, string> }> => ({
    ...{ ca, headers },
    ...(await of.issue({ use: 'clientAuth', commonName: 'proxy' })),
  });
  const [before, after] = [await proxy(old.proxies), await proxy(fresh.proxies)];
  const inForce = '--requestheader-client-ca-file: new certificates are in force';
  expect([await statusesOf(before), await statusesOf(after)]).toEqual([
    [200, 200, 200],
    [401, 401, 401],
  ]);
  await said(inForce, () => put(at('proxies.crt'), `${old.proxies.cert}${fresh.proxies.cert}`));
  expect([await statusesOf(before), await statusesOf(after)]).toEqual([
    [200, 200, 200],
    [200, 200, 200],
  ]);
  await said(inForce, () => put(at('proxies.crt'), fresh.proxies.cert));
  expect([await statusesOf(before), await statusesOf(after)]).toEqual([
    [401, 401, 401],
    [200, 200, 200],
  ]);
});

/** A write that a member had proposed when it was stopped: nobody can know, and it says so. */
const unknownOutcome = /PATCH .* 504 .*the outcome of the write is unknown/;

test('the client certificate for etcd, and the CA of etcd', async () => {
  const files = cluster.etcd.tlsFiles;
  if (files === undefined) throw new Error('etcd serves TLS');
  const ca = await createTestCa('fresh etcd');
  const member = await ca.issue({ use: 'any', commonName: 'member' });
  const client = await ca.issue({ use: 'clientAuth', commonName: 'apiserver' });
  const eachMember = async (): Promise<void> => {
    for (const index of [0, 1, 2]) await cluster.etcd.restart(index);
  };
  await underLoad(
    'etcd',
    async (phase) => {
      await phase('all believe both CAs');
      put(files.caFile, `${readFileSync(files.caFile, 'utf8')}${ca.cert}`);
      await eachMember();
      await phase('half of a new client certificate');
      const leader = await cluster.etcd.leader();
      put(files.keyFile, client.key);
      await cluster.etcd.restart(leader);
      await phase('new certificates of members and clients');
      put(files.certFile, client.cert);
      put(files.serverKeyFile, member.key);
      put(files.serverCertFile, member.cert);
      await eachMember();
      await phase('the new CA alone');
      put(files.caFile, ca.cert);
      await eachMember();
    },
    unknownOutcome,
  );
});

test('the key that signs tokens of service accounts', async () => {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  const tokenOf = async (): Promise<string> => {
    const path = `${accounts}/default/token`;
    const reply = await bearer('POST', path, {});
    return (JSON.parse(reply) as { status: { token: string } }).status.token;
  };
  const restartAll = async (): Promise<void> => {
    for (const replica of cluster.replicas) {
      const ended = replica.terminate();
      while (balancer.takes(replica.url)) await sleep(20);
      expect(await ended).toBe(0);
      await replica.start();
      while (!balancer.takes(replica.url)) await sleep(20);
    }
  };
  const known = (token: string): Promise<number[]> =>
    statusesOf({ ca: identity.ca, token, headers: { authorization: `Bearer ${token}` } });
  const before = await tokenOf();
  const key = newKey('next.key');
  await underLoad('service-account keys', async (phase) => {
    await phase('the new key is believed');
    put(at('check.pem'), `${oldKey.check}${key.check}`);
    await restartAll();
    await phase('the new key signs');
    put(at('sign.key'), key.sign);
    await restartAll();
  });
  const after = await tokenOf();
  expect([await known(before), await known(after)]).toEqual([
    [403, 403, 403],
    [403, 403, 403],
  ]);
  put(at('check.pem'), key.check);
  await restartAll();
  expect([await known(before), await known(after)]).toEqual([
    [401, 401, 401],
    [403, 403, 403],
  ]);
});

/** As the administrator, by token; resolves with the body. */
async function bearer(method: string, path: string, body: object): Promise<string> {
  const { ca } = identity;
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    httpsRequest(`${balancer.url}${path}`, { method, headers, ca, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve(text));
    })
      .on('error', reject)
      .end(JSON.stringify(body));
  });
}
