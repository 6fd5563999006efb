// A TLS proxy in front of a replica: it takes the connections of its users, says who they are in
// headers, and shows the certificate of a front proxy. The same headers from anybody else, through
// it or past it, change nothing.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { RequestOptions, Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createTestCa } from '../lib/base/testing/certificates.ts';
import type { TestCa, TestPair } from '../lib/base/testing/certificates.ts';
import { TestCluster, adminToken } from './harness.ts';
import type { Replica } from './harness.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const whoAmI = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

let cluster: TestCluster;
let replica: Replica;
let proxy: Server;
let proxyUrl: string;
/** One connection to the replica for all users of the proxy. */
let upstream: Agent;
/** The CA of the proxy's own users, whom the replica knows nothing of. */
let guests: TestCa;
let users: TestCa;
let fronts: TestCa;

beforeAll(async () => {
  [guests, users, fronts] = (await Promise.all(
    ['guests', 'users', 'fronts'].map((name) => createTestCa(name)),
  )) as [TestCa, TestCa, TestCa];
  cluster = await TestCluster.start({
    serverFlags: [
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-uid-headers=X-Remote-Uid',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--requestheader-allowed-names=front',
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
  await startProxy();
});
afterAll(async () => {
  upstream.destroy();
  proxy.closeAllConnections();
  proxy.close();
  await cluster.stop();
});

const leaf = (ca: TestCa, commonName: string, organizations: string[] = []): Promise<TestPair> =>
  ca.issue({ use: 'clientAuth', commonName, organizations });

async function startProxy(): Promise<void> {
  const pair = await fronts.issue({ use: 'serverAuth', commonName: 'front' });
  const ca = readFileSync(replica.caFile);
  upstream = new Agent({ keepAlive: true, maxSockets: 1, ca, ...(await leaf(fronts, 'front')) });
  proxy = createServer({ ...pair, ca: guests.cert, requestCert: true });
  proxy.on('request', passOn);
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  proxyUrl = `https://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
}

/** As a front proxy must: what a user sent in its headers' names is not passed on. */
function passOn(incoming: IncomingMessage, answer: ServerResponse): void {
  const { subject } = (incoming.socket as TLSSocket).getPeerCertificate();
  const { CN: name = '', O: groups = [] } = subject as { CN?: string; O?: string | string[] };
  const kept = Object.entries(incoming.headers).filter(([key]) => !key.startsWith('x-remote-'));
  const headers = {
    ...Object.fromEntries(kept),
    'x-remote-user': name,
    'x-remote-uid': `uid-of-${name}`,
    'x-remote-group': groups,
    'x-remote-extra-acme.com%2Fproject': 'blue',
  };
  const options = { method: incoming.method ?? '', headers, agent: upstream };
  const outgoing = httpsRequest(`${replica.url}${incoming.url ?? ''}`, options, (reply) => {
    answer.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(answer);
  });
  outgoing.on('error', () => answer.destroy());
  incoming.pipe(outgoing);
}

interface Sent {
  readonly path?: string;
  readonly body?: object;
  readonly client?: TestPair;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(
  url: string,
  { path = whoAmI, body, client, headers = {} }: Sent,
): Promise<{
  readonly status: number;
  readonly text: string;
}> {
  const ca = [fronts.cert, readFileSync(replica.caFile, 'utf8')];
  const sent = body ?? (path === whoAmI ? {} : undefined);
  const options: RequestOptions = {
    method: sent === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    agent: false,
    ca,
    ...client,
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(`${url}${path}`, options, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    outgoing.on('error', reject);
    outgoing.end(sent && JSON.stringify(sent));
  });
}

interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Of a SelfSubjectReview; the status where there is none. */
async function who(url: string, sent: Sent): Promise<UserInfo | number> {
  const { status, text } = await send(url, sent);
  if (status !== 201) return status;
  return (JSON.parse(text) as { status: { userInfo: UserInfo } }).status.userInfo;
}

const spoofed = {
  'X-Remote-User': 'root',
  'x-remote-uid': '0',
  'X-REMOTE-GROUP': 'system:masters',
  'X-Remote-Extra-Acme.com%2Fproject': 'red',
};

test('users of the proxy are who it says, one after the other on one connection', async () => {
  for (const name of ['fido', 'rex', 'fido']) {
    const client = await leaf(guests, name, ['dogs', 'pets']);
    expect(await who(proxyUrl, { client, headers: spoofed })).toEqual({
      username: name,
      uid: `uid-of-${name}`,
      groups: ['dogs', 'pets', 'system:authenticated'],
      extra: { 'acme.com/project': ['blue'] },
    });
  }
});

test('what they may is decided by the names that the proxy gives them', async () => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] }];
  const group = 'rbac.authorization.k8s.io';
  const bodies = {
    roles: { metadata: { name: 'dogs' }, rules },
    rolebindings: {
      metadata: { name: 'dogs' },
      roleRef: { apiGroup: group, kind: 'Role', name: 'dogs' },
      subjects: [{ apiGroup: group, kind: 'Group', name: 'dogs' }],
    },
  };
  for (const [resource, body] of Object.entries(bodies)) {
    expect((await replica.request('POST', `${rbac}/${resource}`, { body })).status).toBe(201);
  }
  const [dog, cat] = [await leaf(guests, 'fido', ['dogs']), await leaf(guests, 'tom', ['cats'])];
  const missing = { path: `${configMaps}/missing`, client: dog };
  while ((await send(proxyUrl, missing)).status === 403) continue;
  const body = { metadata: { name: 'bone' } };
  expect((await send(proxyUrl, { path: configMaps, body, client: dog })).status).toBe(201);
  const { status, text } = await send(proxyUrl, { path: `${configMaps}/bone`, client: cat });
  expect([status, text]).toEqual([403, expect.stringContaining('User \\"tom\\" cannot get')]);
  const listed = await send(proxyUrl, { path: configMaps, client: dog, headers: spoofed });
  expect([listed.status, listed.text]).toEqual([403, expect.stringContaining('cannot list')]);
});

test.each<[string, () => Promise<Sent>, UserInfo | number]>([
  [
    'a user with a certificate is the one that it names',
    async () => ({ client: await leaf(users, 'jane') }),
    { username: 'jane', groups: ['system:authenticated'] },
  ],
  [
    'a user whose certificate has the name of the proxy is no proxy',
    async () => ({ client: await leaf(users, 'front') }),
    { username: 'front' },
  ],
  [
    'another certificate of the CA of front proxies is nobody',
    async () => ({ client: await leaf(fronts, 'back') }),
    401,
  ],
  [
    'a certificate of another CA with the name of the proxy is nobody',
    async () => ({ client: await leaf(await createTestCa('fronts'), 'front') }),
    401,
  ],
  [
    'a user with a token is the one of the token',
    async () => ({ headers: { authorization: `Bearer ${adminToken}` } }),
    { username: 'e2e-admin' },
  ],
])('past the proxy, headers are nothing: %s', async (_claim, sent, expected) => {
  const given = await sent();
  const answer = await who(replica.url, { ...given, headers: { ...spoofed, ...given.headers } });
  if (typeof expected === 'number' || typeof answer === 'number') expect(answer).toBe(expected);
  else {
    expect(answer).toMatchObject(expected);
    expect(JSON.stringify(answer)).not.toMatch(/"root"|"red"|"0"/);
  }
});

test('nobody at all stays nobody, whatever the headers say', async () => {
  const { status, text } = await send(replica.url, { path: configMaps, headers: spoofed });
  expect([status, text]).toEqual([403, expect.stringContaining('system:anonymous')]);
});
