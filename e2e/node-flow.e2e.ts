// The whole way of a node by hand: a bootstrapper's signing request, approved, signed by the client
// CA, and the certificate's requests, which the pods bound to the node decide. kubectl approves
// where it is at hand.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestCluster } from './harness.ts';
import type { Reply } from './harness.ts';
import { hasKubectl, toldBy } from './run-kubectl.ts';

const bootstrapToken = 'bootstrap-token-of-the-test';
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
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

/** A request of who holds the key and certificate. */
function asNode(
  name: string,
  method: string,
  path: string,
  body?: object,
  replica = 0,
): Promise<{ readonly status: number; readonly message: string }> {
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
        const { message = '' } = JSON.parse(text) as { message?: string };
        resolve({ status: incoming.statusCode ?? 0, message });
      });
    });
    outgoing.once('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Requests, approves, signs and stores the certificate of a node. */
async function joinNode(node: string): Promise<void> {
  const subject = `/O=system:nodes/CN=system:node:${node}`;
  const body = {
    metadata: { name: node },
    spec: { signerName: client, request: requestOf(node, subject), usages: ['client auth'] },
  };
  const posted = await admin('POST', requests, body, bearer(bootstrapToken));
  expect([posted.status, posted.json<{ spec: object }>().spec]).toMatchObject([
    201,
    { username: 'bootstrapper', groups: ['system:bootstrappers', 'system:authenticated'] },
  ]);
  await approve(node);
  const certificate = signed(node);
  const path = `${requests}/${node}/status`;
  expect((await admin('PATCH', path, { status: { certificate } }, merge)).status).toBe(200);
  const read = await admin('GET', `${requests}/${node}`, undefined, bearer(bootstrapToken));
  const { status } = read.json<{ status: { certificate: string } }>();
  writeFileSync(at(`${node}.crt`), Buffer.from(status.certificate, 'base64'));
}

async function approve(node: string): Promise<void> {
  if (hasKubectl) {
    const home = { kubeconfig: cluster.replica(0).kubeconfig, home: folder };
    expect(toldBy(home, 'certificate', 'approve', node)).toMatch(/approved$/);
    return;
  }
  const conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand', message: 'm' }];
  const path = `${requests}/${node}/approval`;
  expect((await admin('PATCH', path, { status: { conditions } }, merge)).status).toBe(200);
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  while (!(await isTrue())) await sleep(50, undefined, { signal });
}

const isRead = async (node: string, path: string, replica = 0): Promise<boolean> =>
  (await asNode(node, 'GET', path, undefined, replica)).status === 200;

const podOn = (nodeName: string, secretName: string): object => ({
  metadata: { name: `of-${secretName}` },
  spec: {
    nodeName,
    terminationGracePeriodSeconds: 0,
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
    tokens: [`${bootstrapToken},bootstrapper,2,"system:bootstrappers"`],
    serverFlags: [
      `--client-ca-file=${at('ca.crt')}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
    ],
  });
  const rules = [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
      verbs: ['create', 'get', 'list', 'watch'],
    },
  ];
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await admin('POST', `${rbac}/clusterroles`, { metadata: { name: 'bootstrappers' }, rules });
  await admin('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'bootstrappers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'bootstrappers' },
    subjects: [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:bootstrappers' },
    ],
  });
  const listed = async (): Promise<boolean> =>
    (await admin('GET', requests, undefined, bearer(bootstrapToken))).status === 200;
  await until(listed);
  await admin('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  });
  for (const name of ['a', 'b']) await admin('POST', secrets, { metadata: { name } });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a node', () => {
  beforeAll(async () => {
    await joinNode('n1');
    await joinNode('n2');
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
