// The whole way of a node by hand: a bootstrap token finds its server by what the token signs, and
// is worth a signing request; approved and signed by the client CA that is a certificate, of whose
// requests the pods bound to the node decide. One node goes by kubectl, where it is at hand.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt, flattenedVerify } from 'jose';
import { TestCluster } from './harness.ts';
import type { Reply } from './harness.ts';
import { hasKubectl, runKubectl, toldBy } from './run-kubectl.ts';
import type { KubectlHome } from './run-kubectl.ts';

const [tokenId, tokenSecret] = ['abcdef', '0123456789abcdef'];
const bootstrapToken = `${tokenId}.${tokenSecret}`;
const tokenPath = `/api/v1/namespaces/kube-system/secrets/bootstrap-token-${tokenId}`;
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const roleGroup = { apiGroup: 'rbac.authorization.k8s.io' };
const client = 'kubernetes.io/kube-apiserver-client-kubelet';
const pods = '/api/v1/namespaces/default/pods';
const secrets = '/api/v1/namespaces/default/secrets';

let cluster: TestCluster;
let folder: string;

const at = (name: string): string => join(folder, name);

function openssl(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  expect([args[0], status, stderr]).toEqual([args[0], 0, expect.anything()]);
}

const keyOf = (path: string): readonly string[] => [
  ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  ...['-nodes', '-keyout', path],
];

/** A key and a request for it, in base64 of PEM. */
function requestOf(name: string, subject: string): string {
  const file = at(`${name}.csr`);
  openssl('req', '-new', ...keyOf(at(`${name}.key`)), '-subj', subject, '-out', file);
  return readFileSync(file).toString('base64');
}

/** The certificate for it, of a client, in base64 of PEM. */
function signed(name: string): string {
  const [request, made, extensions] = [at(`${name}.csr`), at(`${name}.crt`), at('client.ext')];
  writeFileSync(extensions, 'keyUsage=digitalSignature\nextendedKeyUsage=clientAuth\n');
  const by = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '1'];
  openssl('x509', '-req', '-in', request, ...by, '-extfile', extensions, '-out', made);
  return readFileSync(made).toString('base64');
}

const admin = (method: string, path: string, body?: object, headers = {}): Promise<Reply> =>
  cluster.replica(0).request(method, path, { ...(body === undefined ? {} : { body }), headers });

const merge = { 'content-type': 'application/merge-patch+json' };
const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });

interface NodeReply {
  readonly status: number;
  readonly message: string;
}

async function asNode(
  name: string,
  method: string,
  path: string,
  body?: object,
  replica = 0,
): Promise<NodeReply> {
  const { status, text } = await sendAsNode(name, method, path, body, replica);
  const { message = '' } = JSON.parse(text) as { message?: string };
  return { status, message };
}

/** A request of who holds the key and certificate. */
function sendAsNode(
  name: string,
  method: string,
  path: string,
  body?: object,
  replica = 0,
): Promise<{ readonly status: number; readonly text: string }> {
  const { url, caFile } = cluster.replica(replica);
  const [cert, key] = [readFileSync(at(`${name}.crt`)), readFileSync(at(`${name}.key`))];
  const agent = new Agent({ ca: readFileSync(caFile), cert, key });
  return new Promise((resolve, reject) => {
    const type = method === 'PATCH' ? merge : { 'content-type': 'application/json' };
    const headers = body === undefined ? {} : type;
    const outgoing = httpsRequest(`${url}${path}`, { method, headers, agent }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk: string) => (text += chunk));
      incoming.once('error', reject);
      incoming.once('end', () => {
        agent.destroy();
        resolve({ status: incoming.statusCode ?? 0, text });
      });
    });
    outgoing.once('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Requests, approves, signs and stores the certificate of a node. */
async function joinNode(node: string, byKubectl: boolean): Promise<void> {
  const subject = `/O=system:nodes/CN=system:node:${node}`;
  const request = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: node },
    spec: { signerName: client, request: requestOf(node, subject), usages: ['client auth'] },
  };
  if (byKubectl) requestByKubectl(node, request);
  else await requestByHand(node, request);
  const certificate = signed(node);
  const path = `${requests}/${node}/status`;
  expect((await admin('PATCH', path, { status: { certificate } }, merge)).status).toBe(200);
  const read = await admin('GET', `${requests}/${node}`, undefined, bearer(bootstrapToken));
  const { spec, status } = read.json<{ spec: object; status: { certificate: string } }>();
  expect(spec).toMatchObject({
    username: `system:bootstrap:${tokenId}`,
    groups: ['system:bootstrappers', 'system:bootstrappers:racks', 'system:authenticated'],
  });
  writeFileSync(at(`${node}.crt`), Buffer.from(status.certificate, 'base64'));
}

async function requestByHand(node: string, request: object): Promise<void> {
  expect((await admin('POST', requests, request, bearer(bootstrapToken))).status).toBe(201);
  const conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand', message: 'm' }];
  const path = `${requests}/${node}/approval`;
  expect((await admin('PATCH', path, { status: { conditions } }, merge)).status).toBe(200);
}

/** The bootstrapper's kubectl asks, and may not approve; that of the administrator does. */
function requestByKubectl(node: string, request: object): void {
  writeFileSync(at('csr.json'), JSON.stringify(request));
  const bootstrapper: KubectlHome = { kubeconfig: at('bootstrap.kubeconfig'), home: folder };
  const { url, caFile } = cluster.replica(0);
  writeFileSync(bootstrapper.kubeconfig, JSON.stringify(kubeconfigOf(url, readFileSync(caFile))));
  expect(toldBy(bootstrapper, 'create', '-f', at('csr.json'))).toMatch(/\/n1 created$/);
  const refused = runKubectl(bootstrapper, ['certificate', 'approve', node]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('cannot update')]);
  const home = { kubeconfig: cluster.replica(0).kubeconfig, home: folder };
  expect(toldBy(home, 'certificate', 'approve', node)).toMatch(/approved$/);
  expect(toldBy(bootstrapper, 'get', 'csr', node, '--no-headers')).toMatch(/Approved$/);
}

/** Of who has the token. */
const kubeconfigOf = (server: string, ca: Buffer): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [
    { name: 'c', cluster: { server, 'certificate-authority-data': ca.toString('base64') } },
  ],
  users: [{ name: 'u', user: { token: bootstrapToken } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  while (!(await isTrue())) await sleep(50, undefined, { signal });
}

async function made(path: string, body: object): Promise<void> {
  const { status, text } = await admin('POST', path, body);
  expect([path, status, text]).toEqual([path, 201, text]);
}

const isRead = async (node: string, path: string, replica = 0): Promise<boolean> =>
  (await asNode(node, 'GET', path, undefined, replica)).status === 200;

const podOn = (nodeName: string, secretName: string): object => ({
  metadata: { name: `of-${secretName}` },
  spec: {
    nodeName,
    terminationGracePeriodSeconds: 0,
    serviceAccountName: `robot-${secretName}`,
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 's', secret: { secretName } }],
  },
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'apiserver-node-'));
  const days = ['-days', '1', '-subj', '/CN=client-ca', '-out', at('ca.crt')];
  openssl('req', '-x509', ...keyOf(at('ca.key')), ...days);
  cluster = await TestCluster.start({
    replicaCount: 2,
    serverFlags: [
      `--client-ca-file=${at('ca.crt')}`,
      '--enable-bootstrap-token-auth',
      '--controllers=*,bootstrapsigner',
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
    ],
  });
  await made(tokenPath.replace(/\/[^/]*$/, ''), {
    metadata: { name: `bootstrap-token-${tokenId}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': tokenId,
      'token-secret': tokenSecret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': 'system:bootstrappers:racks',
    },
  });
  await made(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'bootstrappers' },
    roleRef: { ...roleGroup, kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ ...roleGroup, kind: 'Group', name: 'system:bootstrappers' }],
  });
  const isListed = async (): Promise<boolean> =>
    (await admin('GET', requests, undefined, bearer(bootstrapToken))).status === 200;
  await until(isListed);
  for (const name of ['robot-a', 'robot-b']) await made(accounts, { metadata: { name } });
  for (const name of ['a', 'b']) await made(secrets, { metadata: { name } });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a bootstrapper knows its server by what its token signs, whoever it is', async () => {
  const { url, caFile } = cluster.replica(0);
  const kubeconfig = JSON.stringify(kubeconfigOf(url, readFileSync(caFile)));
  const infos = '/api/v1/namespaces/kube-public/configmaps';
  const info = `${infos}/cluster-info`;
  const rules = [
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] },
  ];
  const roles = `${rbac}/namespaces/kube-public`;
  const metadata = { name: 'shows-cluster-info' };
  await made(`${roles}/roles`, { metadata, rules });
  await made(`${roles}/rolebindings`, {
    metadata,
    roleRef: { ...roleGroup, kind: 'Role', name: metadata.name },
    subjects: [{ ...roleGroup, kind: 'User', name: 'system:anonymous' }],
  });
  await made(infos, { metadata: { name: 'cluster-info' }, data: { kubeconfig } });
  const nobody = { authorization: '' };
  const read = async (): Promise<Readonly<Record<string, string>>> =>
    (await admin('GET', info, undefined, nobody)).json<{ data?: Record<string, string> }>().data ??
    {};
  const key = `jws-kubeconfig-${tokenId}`;
  await until(async () => key in (await read()));
  const data = await read();
  const [header = '', , signature = ''] = (data[key] ?? '').split('.');
  const text = data['kubeconfig'] ?? '';
  const payload = Buffer.from(text).toString('base64url');
  const by = (token: string): ReturnType<typeof flattenedVerify> =>
    flattenedVerify({ protected: header, payload, signature }, Buffer.from(token));
  expect((await by(bootstrapToken)).protectedHeader).toMatchObject({ alg: 'HS256', kid: tokenId });
  await expect(by(`${tokenId}.${'f'.repeat(16)}`)).rejects.toThrow('signature');
  expect(JSON.parse(text)).toMatchObject({ clusters: [{ cluster: { server: url } }] });
  expect((await admin('GET', infos, undefined, nobody)).status).toBe(403);
  expect((await admin('PUT', info, JSON.parse(text) as object, nobody)).status).toBe(403);
});

describe('a node', () => {
  beforeAll(async () => {
    await joinNode('n1', hasKubectl);
    await joinNode('n2', false);
  });

  test('registers itself, and no other', async () => {
    const node = (name: string): object => ({ metadata: { name } });
    for (const name of ['n1', 'n2']) {
      expect((await asNode(name, 'POST', '/api/v1/nodes', node(name))).status).toBe(201);
    }
    const status = { status: { phase: 'Running' } };
    expect(await asNode('n1', 'PATCH', '/api/v1/nodes/n1/status', status)).toMatchObject({
      status: 200,
    });
    expect(await asNode('n1', 'PATCH', '/api/v1/nodes/n2/status', status)).toEqual({
      status: 403,
      message: 'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
    });
  });

  test('reads the secrets of its pods while they are there, from any replica', async () => {
    expect(await isRead('n1', `${secrets}/a`)).toBe(false);
    expect((await admin('POST', pods, podOn('n1', 'a'))).status).toBe(201);
    for (const replica of [0, 1]) await until(() => isRead('n1', `${secrets}/a`, replica));
    const foreign = "no relationship found between node 'n2' and this object";
    const refused = await asNode('n2', 'GET', `${secrets}/a`);
    expect(refused.status).toBe(403);
    expect(refused.message).toContain(foreign);
    expect(await isRead('n1', `${secrets}/b`)).toBe(false);
    expect(await isRead('n1', `${secrets}?fieldSelector=metadata.name%3Da`)).toBe(true);
    expect(await isRead('n1', secrets)).toBe(false);
    expect((await admin('DELETE', `${pods}/of-a?gracePeriodSeconds=0`)).status).toBe(200);
    for (const replica of [0, 1]) {
      await until(async () => !(await isRead('n1', `${secrets}/a`, replica)));
    }
  });

  test('lists, reports and deletes its pods alone', async () => {
    expect((await admin('POST', pods, podOn('n2', 'b'))).status).toBe(201);
    await until(() => isRead('n2', `${pods}/of-b`));
    expect(await isRead('n2', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn2')).toBe(true);
    expect(await isRead('n1', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn2')).toBe(false);
    const path = `${pods}/of-b`;
    const status = { status: { phase: 'Running' } };
    expect((await asNode('n1', 'PATCH', `${path}/status`, status)).status).toBe(403);
    expect((await asNode('n2', 'PATCH', `${path}/status`, status)).status).toBe(200);
    expect(await asNode('n1', 'DELETE', path)).toMatchObject({
      message:
        'pods "of-b" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself',
    });
    expect((await asNode('n2', 'DELETE', `${path}?gracePeriodSeconds=0`)).status).toBe(200);
  });

  test('gets tokens of its pods for their accounts while they are there', async () => {
    for (const [node, name] of [
      ['n1', 'a'],
      ['n2', 'b'],
    ] as const) {
      expect((await admin('POST', pods, podOn(node, name))).status).toBe(201);
      for (const replica of [0, 1]) {
        await until(() => isRead(node, `${secrets}/${name}`, replica));
      }
    }
    const bound = async (name: string): Promise<object> => {
      const read = (await admin('GET', `${pods}/${name}`)).json<{ metadata: { uid: string } }>();
      return { kind: 'Pod', apiVersion: 'v1', name, uid: read.metadata.uid };
    };
    const [own, foreign] = [await bound('of-a'), await bound('of-b')];
    const ask = (account: string, boundObjectRef?: object, replica = 0): Promise<NodeReply> =>
      asNode('n1', 'POST', `${accounts}/${account}/token`, { spec: { boundObjectRef } }, replica);
    expect((await ask('robot-a')).message).toContain('not bound to a pod');
    expect((await ask('robot-a', foreign)).message).toContain('a different node');
    expect((await ask('robot-b', foreign)).status).toBe(403);
    expect((await ask('missing', own)).status).toBe(403);
    const tokens: string[] = [];
    for (const replica of [0, 1]) {
      const spec = { spec: { boundObjectRef: own } };
      const sent = await sendAsNode('n1', 'POST', `${accounts}/robot-a/token`, spec, replica);
      expect([sent.status, sent.text]).toEqual([201, sent.text]);
      tokens.push((JSON.parse(sent.text) as { status: { token: string } }).status.token);
    }
    const claims = decodeJwt(tokens[0] ?? '')['kubernetes.io'];
    expect(claims).toMatchObject({ pod: { name: 'of-a' }, node: { name: 'n1' } });
    const use = async (token: string, replica: number): Promise<number> => {
      const headers = bearer(token);
      return (await cluster.replica(replica).request('GET', '/apis/apps/v1', { headers })).status;
    };
    expect([await use(tokens[0] ?? '', 1), await use(tokens[1] ?? '', 0)]).toEqual([200, 200]);
    for (const name of ['of-a', 'of-b']) {
      const gone = await admin('DELETE', `${pods}/${name}?gracePeriodSeconds=0`);
      expect(gone.status).toBe(200);
    }
    for (const replica of [0, 1]) {
      await until(async () => (await ask('robot-a', own, replica)).status === 403);
      for (const token of tokens) {
        await until(async () => (await use(token, replica)) === 401);
      }
    }
  });

  test('asks for certificates in its own name alone', async () => {
    const ask = async (name: string, subject: string): Promise<number> => {
      const spec = { signerName: client, usages: ['client auth'] };
      const request = requestOf(name, subject);
      const body = { metadata: { name }, spec: { ...spec, request } };
      return (await asNode('n1', 'POST', requests, body)).status;
    };
    expect(await ask('renewed', '/O=system:nodes/CN=system:node:n1')).toBe(201);
    expect(await ask('stolen', '/O=system:nodes/CN=system:node:n2')).toBe(403);
  });
});

test('a bootstrap token ends with its Secret, what it was worth does not', async () => {
  expect((await admin('DELETE', tokenPath)).status).toBe(200);
  for (const replica of cluster.replicas) {
    const headers = bearer(bootstrapToken);
    await until(async () => (await replica.request('GET', requests, { headers })).status === 401);
  }
  expect(await isRead('n1', '/api/v1/nodes/n1')).toBe(true);
});
