// Three replicas behind a proxy follow files of client CAs, issuers and authorizers that change, as
// certificates and tokens of every kind write, read and are refused. Each answer is right by what
// is in force: the old or the new until all replicas have told of the new one, then that alone.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TokenIssuer, issuerKey } from '../lib/authn/testing/token-issuer.ts';
import { createTestCa } from '../lib/base/testing/certificates.ts';
import type { TestCa, TestPair } from '../lib/base/testing/certificates.ts';
import { TestCluster, workerCount } from './harness.ts';
import type { Replica } from './harness.ts';
import { TcpProxy } from './tcp-proxy.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const secrets = '/api/v1/namespaces/default/secrets';
const group = 'rbac.authorization.k8s.io';

/** What is in force: which CAs, what of the second issuer, which authorizers. */
interface InForce {
  readonly cas: 'users' | 'users and others';
  readonly second: 'unknown' | 'as two' | 'as zwei';
  readonly hook: 'absent' | 'last' | 'first';
}

type Operation = 'read' | 'write' | 'read secrets';
type Outcome = 200 | 401 | 403;

/** Who asks, and what the answer is by what is in force; nobody reads secrets. */
interface Client {
  readonly name: string;
  readonly client?: TestPair;
  readonly token?: string;
  readonly isKnown?: (by: InForce) => boolean;
  readonly may: (operation: 'read' | 'write', by: InForce) => boolean;
}

let folder: string;
let cluster: TestCluster;
let balancer: TcpProxy;
let users: TestCa;
let others: TestCa;
let issuers: readonly [TokenIssuer, TokenIssuer];
let hooks: Server;
let clients: readonly Client[];

const at = (name: string): string => join(folder, name);

/** As those who manage configuration do it: no reader sees half of it. */
function put(name: string, text: string): void {
  writeFileSync(at(`${name}.new`), text);
  renameSync(at(`${name}.new`), at(name));
}

const bundleOf = (cas: InForce['cas']): string =>
  cas === 'users' ? users.cert : `${users.cert}${others.cert}`;

function authenticationOf(second: InForce['second']): string {
  const jwt = ({ url, ca }: TokenIssuer, prefix: string): object => ({
    issuer: { url, audiences: ['client'], certificateAuthority: ca },
    claimMappings: { username: { claim: 'sub', prefix } },
  });
  const more =
    second === 'unknown' ? [] : [jwt(issuers[1], second === 'as two' ? 'two:' : 'zwei:')];
  return JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [jwt(issuers[0], 'one:'), ...more],
  });
}

/** The webhook allows bob to read config maps, and refuses what alice writes. */
function authorizationOf(hook: InForce['hook']): string {
  const modes = [
    { type: 'Node', name: 'node' },
    { type: 'RBAC', name: 'rbac' },
  ];
  const webhook = {
    type: 'Webhook',
    name: 'judge',
    webhook: {
      timeout: '10s',
      authorizedTTL: '1s',
      unauthorizedTTL: '1s',
      subjectAccessReviewVersion: 'v1',
      matchConditionSubjectAccessReviewVersion: 'v1',
      failurePolicy: 'NoOpinion',
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: at('judge') },
    },
  };
  const hooked = hook === 'first' ? [webhook, ...modes] : [...modes, webhook];
  return JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: hook === 'absent' ? modes : hooked,
  });
}

async function startHooks(): Promise<void> {
  const ca = await createTestCa('hooks-ca');
  hooks = createServer(await ca.issue({ use: 'serverAuth', commonName: 'hooks' }));
  hooks.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as {
        spec: { user: string; resourceAttributes?: { verb: string; resource: string } };
      };
      const { user, resourceAttributes: { verb = '', resource = '' } = {} } = review.spec;
      const allowed = user === 'bob' && verb === 'list' && resource === 'configmaps';
      const denied = user === 'alice' && verb === 'patch';
      response.end(JSON.stringify({ ...review, status: { allowed, denied } }));
    });
  });
  hooks.listen(0, '127.0.0.1');
  await once(hooks, 'listening');
  const server = `https://127.0.0.1:${String((hooks.address() as AddressInfo).port)}`;
  const authority = Buffer.from(ca.cert).toString('base64');
  const kubeconfig = {
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a' } }],
    clusters: [{ name: 'a', cluster: { server, 'certificate-authority-data': authority } }],
  };
  writeFileSync(at('judge'), JSON.stringify(kubeconfig));
}

const start: InForce = { cas: 'users', second: 'unknown', hook: 'absent' };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'apiserver-reloads-'));
  [users, others] = await Promise.all([createTestCa('users'), createTestCa('others')]);
  issuers = [
    await TokenIssuer.start([await issuerKey('1')]),
    await TokenIssuer.start([await issuerKey('2')]),
  ];
  await startHooks();
  put('users.crt', bundleOf(start.cas));
  put('authentication', authenticationOf(start.second));
  put('authorization', authorizationOf(start.hook));
  cluster = await TestCluster.start({
    replicaCount: 3,
    tokens: ['alice-token,alice,2', 'bob-token,bob,3'],
    serverFlags: [
      `--client-ca-file=${at('users.crt')}`,
      `--authentication-config=${at('authentication')}`,
      `--authorization-config=${at('authorization')}`,
    ],
  });
  const [first, second, third] = cluster.replicas.map(({ url }) => url);
  balancer = await TcpProxy.start(first ?? '', second ?? '', third ?? '');
  await giveRights();
  clients = await makeClients();
});
afterAll(async () => {
  await balancer.close();
  await cluster.stop();
  for (const issuer of issuers) await issuer[Symbol.asyncDispose]();
  hooks.closeAllConnections();
  hooks.close();
  rmSync(folder, { recursive: true, force: true });
});

async function made(path: string, body: object): Promise<void> {
  const { status, text } = await cluster.replica(0).request('POST', path, { body });
  expect([path, status, text]).toEqual([path, 201, text]);
}

/** All but bob and zwei:jane read and write config maps. */
async function giveRights(): Promise<void> {
  const rbac = `/apis/${group}/v1/namespaces/default`;
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'patch'] }];
  await made(`${rbac}/roles`, { metadata: { name: 'edits' }, rules });
  const names = ['carol', 'dave', 'alice', 'one:jane', 'two:jane'];
  await made(`${rbac}/rolebindings`, {
    metadata: { name: 'edits' },
    roleRef: { apiGroup: group, kind: 'Role', name: 'edits' },
    subjects: [
      ...names.map((name) => ({ apiGroup: group, kind: 'User', name })),
      { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
    ],
  });
  const revision = await cluster.replica(0).request('GET', `${rbac}/rolebindings`);
  const { metadata } = revision.json<{ metadata: { resourceVersion: string } }>();
  for (const replica of cluster.replicas) {
    const query = `resourceVersion=${metadata.resourceVersion}`;
    expect((await replica.request('GET', `${rbac}/rolebindings?${query}`)).status).toBe(200);
  }
}

async function makeClients(): Promise<readonly Client[]> {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await made(accounts, { metadata: { name: 'robot' } });
  const path = `${accounts}/robot/token`;
  const reply = await cluster.replica(0).request('POST', path, { body: {} });
  const { token } = reply.json<{ status: { token: string } }>().status;
  const pairOf = (ca: TestCa, commonName: string): Promise<TestPair> =>
    ca.issue({ use: 'clientAuth', commonName });
  const always = (): boolean => true;
  const all: readonly Client[] = [
    { name: 'carol', client: await pairOf(users, 'carol'), may: always },
    {
      name: 'dave',
      client: await pairOf(others, 'dave'),
      isKnown: ({ cas }) => cas === 'users and others',
      may: always,
    },
    { name: 'robot', token, may: always },
    { name: 'one', token: await issuers[0].sign(), may: always },
    {
      name: 'two',
      token: await issuers[1].sign(),
      isKnown: ({ second }) => second !== 'unknown',
      may: (_operation, { second }) => second === 'as two',
    },
    {
      name: 'alice',
      token: 'alice-token',
      may: (operation, { hook }) => operation === 'read' || hook !== 'first',
    },
    {
      name: 'bob',
      token: 'bob-token',
      may: (operation, { hook }) => operation === 'read' && hook !== 'absent',
    },
    { name: 'nobody', token: 'nobody-token', isKnown: () => false, may: always },
  ];
  for (const { name } of all) await made(configMaps, { metadata: { name } });
  return all;
}

function expectedOf(client: Client, operation: Operation, by: InForce): Outcome {
  if (client.isKnown?.(by) === false) return 401;
  return operation !== 'read secrets' && client.may(operation, by) ? 200 : 403;
}

/** A client's way in: a connection that is kept, or a new one for each request. */
function send(
  client: Client,
  operation: Operation,
  options: { readonly agent: Agent | false; readonly ca: string; readonly turn: number },
): Promise<number> {
  const { agent, ca, turn } = options;
  const read = operation === 'read secrets' ? secrets : configMaps;
  const isWrite = operation === 'write';
  const path = isWrite ? `${configMaps}/${client.name}` : `${read}?limit=1`;
  const headers = {
    ...(client.token === undefined ? {} : { authorization: `Bearer ${client.token}` }),
    ...(isWrite ? { 'content-type': 'application/merge-patch+json' } : {}),
  };
  return new Promise((resolve, reject) => {
    const method = isWrite ? 'PATCH' : 'GET';
    const given = { method, headers, agent, ca, ...client.client };
    const outgoing = httpsRequest(`${balancer.url}${path}`, given, (answer) => {
      answer.resume();
      answer.once('error', reject);
      answer.once('end', () => resolve(answer.statusCode ?? 0));
    });
    outgoing.once('error', reject);
    outgoing.end(isWrite ? JSON.stringify({ data: { turn: String(turn) } }) : undefined);
  });
}

/** What was in force, in order; while replicas change over, it is the old and the new one. */
const history: (readonly InForce[])[] = [[start]];
const wrong: string[] = [];
/** Rounds of all operations, by client and way. */
const rounds = new Map<string, number>();
const outcomes = new Map<string, Set<number>>();
let isOver = false;
const operations: readonly Operation[] = ['read', 'write', 'read secrets'];

async function keepAsking(client: Client, isKept: boolean, ca: string): Promise<void> {
  const agent = isKept && new Agent({ keepAlive: true, maxSockets: 1 });
  const way = `${client.name}, ${isKept ? 'kept' : 'new'}`;
  for (let turn = 1; !isOver; turn++) {
    for (const operation of operations) {
      const from = history.length - 1;
      const status = await send(client, operation, { agent, ca, turn });
      const inForce = history.slice(from).flat();
      const isRight = inForce.some((by) => expectedOf(client, operation, by) === status);
      if (!isRight)
        wrong.push(`${way}: ${operation}: ${String(status)} ${JSON.stringify(inForce)}`);
      const seen = `${client.name}: ${operation}`;
      outcomes.set(seen, (outcomes.get(seen) ?? new Set()).add(status));
    }
    rounds.set(way, turn);
  }
  if (agent !== false) agent.destroy();
}

/** What each of the replicas must have told once more. */
type Told = (replica: Replica) => Promise<number>;

const inMetric =
  (group: 'authentication' | 'authorization', status: 'success' | 'failure'): Told =>
  async (replica) => {
    const { text } = await replica.request('GET', '/metrics');
    const name = `apiserver_${group}_config_controller_automatic_reloads_total`;
    const line = new RegExp(`^${name}\\{.*status="${status}"\\} (\\d+)$`, 'm').exec(text);
    return Number(line?.[1] ?? 0);
  };

/** There is no metric of client CAs: kube-apiserver has none either. */
const inLog =
  (text: string): Told =>
  ({ output }) =>
    Promise.resolve(output.split(text).length - 1);

/** Resolves when every replica has told of it since, each of its workers. */
async function toldOf(told: Told, change: () => void): Promise<void> {
  const before = await Promise.all(cluster.replicas.map(told));
  change();
  for (const [index, replica] of cluster.replicas.entries()) {
    while ((await told(replica)) < (before[index] ?? 0) + workerCount) await sleep(10);
  }
}

/** Files that change to what is in force from then on. */
async function become(next: Partial<InForce>): Promise<void> {
  const before = history.at(-1)?.[0] ?? start;
  const after = { ...before, ...next };
  const { cas, second, hook } = next;
  // Each file has its own time: any of the combinations may be in force meanwhile.
  const between = [before.cas, after.cas].flatMap((one) =>
    [before.second, after.second].flatMap((two) =>
      [before.hook, after.hook].map((three): InForce => ({ cas: one, second: two, hook: three })),
    ),
  );
  history.push(between);
  const waits: Promise<void>[] = [];
  if (cas !== undefined) {
    const told = inLog('--client-ca-file: new certificates are in force');
    waits.push(toldOf(told, () => put('users.crt', bundleOf(cas))));
  }
  if (second !== undefined) {
    const told = inMetric('authentication', 'success');
    waits.push(toldOf(told, () => put('authentication', authenticationOf(second))));
  }
  if (hook !== undefined) {
    const told = inMetric('authorization', 'success');
    waits.push(toldOf(told, () => put('authorization', authorizationOf(hook))));
  }
  await Promise.all(waits);
  history.push([after]);
  await allAsked();
}

/** Every client has asked everything since, on each of its ways. */
async function allAsked(): Promise<void> {
  const before = new Map(rounds);
  for (const way of before.keys()) {
    while ((rounds.get(way) ?? 0) < (before.get(way) ?? 0) + 2) await sleep(10);
  }
}

test('everything changes under load, and not one answer is wrong', async () => {
  const ca = cluster.replicas.map(({ caFile }) => readFileSync(caFile, 'utf8')).join('');
  const asking = clients.flatMap((client) =>
    [true, false].map((isKept) => keepAsking(client, isKept, ca)),
  );
  await become({ cas: 'users and others' });
  await become({ second: 'as two' });
  await become({ hook: 'last' });
  await toldOf(inMetric('authentication', 'failure'), () => put('authentication', '['));
  await allAsked();
  await become({ hook: 'first' });
  const refused = inLog('--client-ca-file: the new certificates cannot be used');
  await toldOf(refused, () => put('users.crt', 'broken'));
  await allAsked();
  await become({ second: 'as zwei', cas: 'users' });
  const unusable = authorizationOf('absent').replace('RBAC', 'Nonsense');
  await toldOf(inMetric('authorization', 'failure'), () => put('authorization', unusable));
  await allAsked();
  await become({ cas: 'users and others', second: 'as two', hook: 'last' });
  await become(start);
  isOver = true;
  await Promise.all(asking);
  expect(wrong).toEqual([]);
  const seen = Object.fromEntries([...outcomes].map(([name, all]) => [name, [...all].sort()]));
  expect(seen).toMatchObject({
    'carol: write': [200],
    'dave: write': [200, 401],
    'dave: read secrets': [401, 403],
    'robot: write': [200],
    'one: write': [200],
    'two: write': [200, 401, 403],
    'alice: write': [200, 403],
    'bob: read': [200, 403],
    'bob: read secrets': [403],
    'nobody: read': [401],
  });
});
