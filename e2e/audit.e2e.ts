// Audit of a whole server: what is recorded outlives it, and no secret is in what others read.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RawServer, answerText, hookTls } from '../lib/client/testing/raw-server.ts';
import { TestCluster, adminToken } from './harness.ts';

interface Recorded {
  readonly auditID: string;
  readonly stage: string;
  readonly requestURI: string;
  readonly level: string;
  readonly requestObject?: object;
}

let cluster: TestCluster;
let hook: RawServer;
let logFile = '';
const canary = 'CANARY-of-a-secret';
const forms = [canary, Buffer.from(canary).toString('base64'), adminToken];
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    { level: 'None', nonResourceURLs: ['/readyz*', '/livez*'] },
    { level: 'Metadata', resources: [{ group: '', resources: ['secrets'] }] },
    { level: 'RequestResponse' },
  ],
};

beforeAll(async () => {
  hook = await RawServer.start(({ socket }) => void socket.write(answerText('')));
  const { ca } = await hookTls();
  cluster = await TestCluster.start({
    replicaFlags: (_replica, folder) => {
      logFile = join(folder, 'audit', 'audit.log');
      const policyFile = join(folder, 'policy.json');
      const hookFile = join(folder, 'hook.kubeconfig');
      writeFileSync(policyFile, JSON.stringify(policy));
      const caData = Buffer.from(ca.cert).toString('base64');
      const server = { server: hook.url, 'certificate-authority-data': caData };
      writeFileSync(
        hookFile,
        JSON.stringify({
          clusters: [{ name: 'c', cluster: server }],
          users: [{ name: 'u', user: {} }],
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'x',
        }),
      );
      return [
        `--audit-policy-file=${policyFile}`,
        `--audit-log-path=${logFile}`,
        `--audit-webhook-config-file=${hookFile}`,
        '--audit-webhook-batch-max-wait=1h',
        '--log-level=debug',
      ];
    },
  });
});
afterAll(async () => {
  await cluster.stop();
  await hook[Symbol.asyncDispose]();
});

const logged = (): Recorded[] =>
  readFileSync(logFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded);
const sentToHook = (): Recorded[] =>
  hook.requests.flatMap(({ body }) => (JSON.parse(body) as { items: Recorded[] }).items);
const secrets = '/api/v1/namespaces/default/secrets';

test('a secret is in no event below its level, log line, refusal or metric', async () => {
  const replica = cluster.replica(0);
  const merge = { 'content-type': 'application/merge-patch+json' };
  const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
  const jsonPatch = { 'content-type': 'application/json-patch+json' };
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  const base = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } };
  const asked: readonly (readonly [string, string, unknown, Readonly<Record<string, string>>?])[] =
    [
      ['POST', secrets, { ...base, stringData: { k: canary } }],
      ['GET', `${secrets}/s`, undefined],
      ['GET', secrets, undefined],
      ['PUT', `${secrets}/s`, { ...base, stringData: { k: canary } }],
      ['PATCH', `${secrets}/s`, { stringData: { l: canary } }, merge],
      [
        'PATCH',
        `${secrets}/s?fieldManager=m&force=true`,
        { ...base, stringData: { k: canary } },
        apply,
      ],
      // What is refused
      ['POST', secrets, { ...base, data: { k: `${canary}!` } }],
      ['POST', secrets, { ...base, data: { k: { deep: canary } } }],
      ['POST', secrets, { ...base, data: canary }],
      ['POST', secrets, { ...base, stringData: [canary] }],
      ['POST', secrets, `{"kind":"Secret","data":{"k":"${canary}"`],
      ['POST', secrets, { ...base, metadata: { name: 's' }, stringData: { k: canary } }],
      ['POST', `${secrets}?fieldValidation=Strict`, { ...base, other: { k: canary } }],
      ['POST', secrets, { ...base, metadata: { name: '-' }, stringData: { k: canary } }],
      ['PUT', `${secrets}/s`, { ...base, type: 'other', stringData: { k: canary } }],
      ['PATCH', `${secrets}/s`, { data: { k: [canary] } }, merge],
      ['PATCH', `${secrets}/s`, { data: [canary] }, strategic],
      ['PATCH', `${secrets}/s`, [{ op: 'test', path: '/data/k', value: canary }], jsonPatch],
      ['PATCH', `${secrets}/s`, [{ op: 'oops', path: '/data/k', value: canary }], jsonPatch],
      ['PATCH', `${secrets}/s`, `a: [${canary}`, apply],
      ['GET', `${secrets}/s`, undefined, { authorization: `Bearer ${canary}` }],
      ['GET', `${secrets}/s`, undefined, { authorization: `Basic ${canary}` }],
    ];
  const refusals: string[] = [];
  for (const [method, path, body, headers = {}] of asked) {
    const reply = await replica.request(method, path, { body, headers });
    if (reply.status >= 400) refusals.push(reply.text);
  }
  expect(refusals.length).toBeGreaterThan(10);
  const metrics = await replica.request('GET', '/metrics');
  const { text: flags } = await replica.request('GET', '/flagz');
  const seen = [readFileSync(logFile, 'utf8'), replica.output, metrics.text, flags, ...refusals];
  for (const form of forms) {
    expect(seen.filter((text) => text.includes(form))).toEqual([]);
  }
  const levels = logged()
    .filter(({ requestURI }) => requestURI.startsWith(secrets))
    .map(({ level }) => level);
  expect(new Set(levels)).toEqual(new Set(['Metadata']));
});

test('what the policy asks for is there', async () => {
  const replica = cluster.replica(0);
  const body = { metadata: { name: 'm' }, data: { k: 'plain' } };
  await replica.request('POST', '/api/v1/namespaces/default/configmaps', { body });
  const event = logged().find(({ requestObject }) => requestObject !== undefined);
  expect(event?.requestObject).toMatchObject({ data: { k: 'plain' } });
});

test('a server that is told to end writes every event before it does', async () => {
  const replica = cluster.replica(0);
  const headers = (id: string) => ({ headers: { 'audit-id': id } });
  const ids = Array.from({ length: 40 }, (_, index) => `last-${String(index)}`);
  const answers = ids.map((id) => replica.request('GET', '/api/v1/nodes', headers(id)));
  await Promise.all(answers);
  expect(sentToHook()).toEqual([]); // they wait for more
  expect(await replica.terminate()).toBe(0);
  for (const events of [logged(), sentToHook()]) {
    const complete = events.filter(({ stage }) => stage === 'ResponseComplete');
    const found = complete.map(({ auditID }) => auditID).filter((id) => id.startsWith('last-'));
    expect(found.sort()).toEqual([...ids].sort());
  }
  expect(sentToHook().length).toBe(logged().length);
});
