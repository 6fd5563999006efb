// One server of several workers: one port, one text of metrics, one readiness; what becomes of
// them when a worker or their parent is killed, when they are replaced, and when the server ends.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type ClientHttp2Session } from 'node:http2';
import { join } from 'node:path';
import { adminToken, TestCluster } from './harness.ts';
import type { Replica } from './harness.ts';
import { checkHistory } from './history/checker.ts';
import { newSeed } from './history/random.ts';
import { startWorkload } from './history/workload.ts';
import { EtcdStorage } from '../lib/storage-etcd/etcd-storage.ts';
import { SteadyLoad } from './operations/steady-load.ts';
import { isRunning, until, workersOf } from './worker-processes.ts';

const rounds = Number(process.env['ROLLING_ROUNDS'] ?? 1);
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [{ level: 'Metadata' }],
};

let cluster: TestCluster;
let replica: Replica;
let auditLog = '';
beforeAll(async () => {
  cluster = await TestCluster.start({
    serverFlags: ['--workers=2', '--cache-memory-mb=128'],
    replicaFlags: (_index, folder) => {
      auditLog = join(folder, 'audit.log');
      const file = join(folder, 'policy.json');
      writeFileSync(file, JSON.stringify(policy));
      return [`--audit-policy-file=${file}`, `--audit-log-path=${auditLog}`];
    },
  });
  replica = cluster.replica(0);
});
afterAll(() => cluster.stop());

const identity = () => ({ ca: readFileSync(replica.caFile, 'utf8'), token: adminToken });

async function openSessions(count: number): Promise<ClientHttp2Session[]> {
  const sessions: ClientHttp2Session[] = [];
  for (let index = 0; index < count; index++) {
    const session = connect(replica.url, { ca: identity().ca });
    session.on('error', () => undefined); // its worker may be killed
    await new Promise((resolve) => session.once('connect', resolve));
    sessions.push(session);
  }
  return sessions;
}

async function statusOn(session: ClientHttp2Session, path: string): Promise<number> {
  const stream = session.request({ ':path': path, authorization: `Bearer ${adminToken}` });
  return new Promise((resolve, reject) => {
    stream.once('response', (head) => resolve(Number(head[':status'])));
    stream.once('error', reject);
    stream.resume();
  });
}

/** The value of one sample, as it is written. */
async function sample(key: string): Promise<number> {
  const { text } = await replica.request('GET', '/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${key} `));
  return Number(line?.slice(key.length + 1));
}
const connectionsOf = (worker: number): Promise<number> =>
  sample(`apiserver_worker_connections{worker="${String(worker)}"}`);

/** Of replicas that live. */
async function publishedKeys(): Promise<string[]> {
  const storage = new EtcdStorage(cluster.etcd.connection);
  const range = { prefix: '/registry/masterleases/', limitCount: 0 };
  const { items } = await storage.list(range, AbortSignal.timeout(10_000));
  storage.close();
  return items.map(({ key }) => key);
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string) => ({
  body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
});

test('connections are spread evenly by count, and every one is served', async () => {
  const sessions = await openSessions(20);
  const statuses = await Promise.all(sessions.map((session) => statusOn(session, '/version')));
  expect(new Set(statuses)).toEqual(new Set([200]));
  const counts = [await connectionsOf(0), await connectionsOf(1)];
  expect(Math.abs((counts[0] ?? 0) - (counts[1] ?? 0))).toBeLessThanOrEqual(1);
  expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBeGreaterThanOrEqual(20);
  for (const session of sessions) session.destroy();
  await until(async () => (await connectionsOf(0)) + (await connectionsOf(1)) < 10);
});

test('metrics are of all workers: requests of each count, the budget is divided', async () => {
  const key = (code: number): string =>
    `apiserver_request_total{code="${String(code)}",component="apiserver",dry_run="",group="",` +
    'resource="configmaps",scope="resource",subresource="",verb="GET",version="v1"}';
  const before = (await sample(key(404))) || 0;
  const sessions = await openSessions(4);
  const asked = sessions.map((session) => statusOn(session, `${configMaps}/not-there`));
  expect(await Promise.all(asked)).toEqual([404, 404, 404, 404]);
  for (const session of sessions) session.destroy();
  expect((await sample(key(404))) - before).toBe(4);
  expect(await sample('apiserver_cache_memory_limit_bytes')).toBe(128 * 1024 * 1024);
  expect(await sample('apiserver_ready')).toBe(1);
  const slis = (await replica.request('GET', '/metrics/slis')).text;
  expect(slis).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 1');
});

test('one address is published, and stays there while workers come and go', async () => {
  const { text } = await replica.request('GET', '/api/v1/namespaces/default/endpoints/kubernetes');
  expect(text.match(/"ip":/g)).toHaveLength(1);
  expect(await publishedKeys()).toHaveLength(1);
});

test('a worker that is killed is started again, others go on', async () => {
  const sessions = await openSessions(4);
  const [victim = 0, other = 0] = workersOf(replica);
  process.kill(victim, 'SIGKILL');
  await until(() => sessions.filter((session) => session.destroyed).length === 2);
  const left = sessions.filter((session) => !session.destroyed);
  const asked = left.map((session) => statusOn(session, configMaps));
  expect(await Promise.all(asked)).toEqual([200, 200]);
  // The other one knows that they are not whole.
  const [first] = left;
  if (first !== undefined) expect(await statusOn(first, '/readyz')).toBe(500);
  await replica.waitReady();
  expect(workersOf(replica)).toContain(other);
  expect(workersOf(replica)).toHaveLength(2);
  const restarts = ['0', '1'].map((worker) =>
    sample(`apiserver_worker_restarts_total{worker="${worker}"}`),
  );
  expect((await Promise.all(restarts)).toSorted()).toEqual([0, 1]);
  for (const session of left) session.destroy();
});

test('all workers are replaced under load without a failed request or an anomaly', async () => {
  const load = await SteadyLoad.start({ url: replica.url, identity });
  const seed = process.env['HISTORY_SEED'] ?? newSeed();
  const access = { token: adminToken, ca: identity().ca };
  const workload = await startWorkload({ servers: [replica.url], access, seed });
  const requestsBefore = await requestCount();
  for (let round = 0; round < rounds; round++) {
    const old = workersOf(replica);
    await load.flow();
    load.phase = `replaced ${String(round)}`;
    process.kill(replica.pid, 'SIGHUP');
    while (workersOf(replica).some((pid) => old.includes(pid))) await load.flow(5);
    await load.flow();
    const [one, another] = [await connectionsOf(0), await connectionsOf(1)];
    expect(Math.min(one, another)).toBeGreaterThan(0);
  }
  const history = await workload.stop();
  const { failures, ...counts } = await load.stop();
  process.stdout.write(`workers replaced: ${JSON.stringify(counts)}\n`);
  expect(failures).toEqual([]);
  expect(counts.goawayCount).toBeGreaterThan(0);
  const anomalies = checkHistory(history, { retentionMs: 0 });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
  // No counter goes back: what the workers before had counted still counts.
  expect((await requestCount()) - requestsBefore).toBeGreaterThanOrEqual(counts.requestCount);
  expect(await publishedKeys()).toHaveLength(1);
});

/** All requests that were ever answered. */
async function requestCount(): Promise<number> {
  const { text } = await replica.request('GET', '/metrics');
  const values = [...text.matchAll(/^apiserver_request_total\{.*\} (\d+)$/gm)];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

test('the audit log has whole lines of all workers, each event once', async () => {
  const sessions = await openSessions(4);
  const path = '/api/v1/namespaces/default/secrets/audited';
  await Promise.all(
    sessions.flatMap((one) => Array.from({ length: 25 }, () => statusOn(one, path))),
  );
  for (const session of sessions) session.destroy();
  const events = readFileSync(auditLog, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { auditID: string; stage: string; requestURI: string });
  const done = events.filter((one) => one.requestURI === path && one.stage === 'ResponseComplete');
  expect(done).toHaveLength(100);
  expect(new Set(done.map(({ auditID }) => auditID)).size).toBe(100);
});

test('SIGTERM drains all of them, and the folder is free for the next start', async () => {
  const workers = workersOf(replica);
  const sessions = await openSessions(4);
  const goaways = sessions.map((one) => new Promise((resolve) => one.once('goaway', resolve)));
  const ended = replica.terminate();
  await Promise.all(goaways);
  expect(await ended).toBe(0);
  expect(workers.filter(isRunning)).toEqual([]);
  expect(existsSync(join(replica.dataDir, 'apiserver.lock'))).toBe(false);
  expect(await publishedKeys()).toEqual([]);
  await replica.start();
  expect((await replica.request('POST', configMaps, configMap('again'))).status).toBe(201);
});

test('workers end with a parent that is killed', async () => {
  const workers = workersOf(replica);
  expect(workers).toHaveLength(2);
  await replica.kill();
  await until(() => !workers.some(isRunning));
  await replica.start(); // the port is free again
});
