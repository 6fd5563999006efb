// The wall clock of one replica of three is five minutes ahead: no request fails behind the
// balancer, tokens of each replica are believed by all, times to live and the lead of the
// controllers are as with equal clocks, and every audit event is consistent in itself.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { adminToken, TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import { Balancer } from './balancer.ts';
import { SteadyLoad } from './steady-load.ts';

const ahead = 1;
const preload = fileURLToPath(new URL('clock-ahead.cjs', import.meta.url));
const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };

let cluster: TestCluster;
let balancer: Balancer;
let auditLog = '';
beforeAll(async () => {
  cluster = await TestCluster.start({
    replicaCount: 3,
    tls: true,
    serverFlags: ['--shutdown-delay-duration=500ms', '--event-ttl=5s'],
    nodeFlags: (replica) => (replica === ahead ? [`--require=${preload}`] : []),
    replicaFlags: (replica, folder) => {
      if (replica !== ahead) return [];
      writeFileSync(join(folder, 'policy'), JSON.stringify(policy));
      auditLog = join(folder, 'audit.log');
      return [`--audit-policy-file=${join(folder, 'policy')}`, `--audit-log-path=${auditLog}`];
    },
  });
  balancer = await Balancer.start(cluster.replicas.map(({ url }) => url));
});
afterAll(async () => {
  await balancer.close();
  await cluster.stop();
});

interface Made {
  readonly metadata: { readonly creationTimestamp: string };
  readonly status: { readonly token: string };
}

async function post(replica: Replica, path: string, body: object): Promise<Made> {
  const reply = await replica.request('POST', path, { body });
  expect([path, reply.status, reply.text]).toEqual([path, 201, reply.text]);
  return reply.json<Made>();
}

test('the clock is ahead, and no request fails', async () => {
  const identity = { ca: readFileSync(cluster.replica(0).caFile, 'utf8'), token: adminToken };
  const load = await SteadyLoad.start({
    url: balancer.url,
    connectionCount: 1,
    identity: () => identity,
  });
  const made = await post(cluster.replica(ahead), '/api/v1/namespaces', {
    metadata: { name: 'ahead' },
  });
  const aheadMs = Date.parse(made.metadata.creationTimestamp) - Date.now();
  expect(aheadMs).toBeGreaterThan(200_000);
  await load.flow();
  expect((await load.stop()).failures).toEqual([]);
});

test('a token of any replica is believed by every replica at once', async () => {
  const path = '/api/v1/namespaces/default/serviceaccounts';
  await post(cluster.replica(0), path, { metadata: { name: 'robot' } });
  for (const maker of cluster.replicas) {
    const body = { spec: { expirationSeconds: 600 } };
    const { token } = (await post(maker, `${path}/robot/token`, body)).status;
    const headers = { authorization: `Bearer ${token}` };
    for (const replica of cluster.replicas) {
      const { status, text } = await replica.request('GET', '/version', { headers });
      expect([status, text]).toEqual([200, text]);
      const listed = await replica.request('GET', '/api/v1/nodes', { headers });
      expect(listed.status).toBe(403); // known, without this right
    }
  }
});

test('an event lives for its time, whichever replica made it', async () => {
  const path = '/api/v1/namespaces/default/events';
  for (const [index, maker] of cluster.replicas.entries()) {
    const name = `event-${String(index)}`;
    const involvedObject = { namespace: 'default' };
    await post(maker, path, { metadata: { name }, involvedObject });
    expect((await cluster.etcd.etcdctl('lease', 'list')).split('\n').length).toBeGreaterThan(1);
    while ((await cluster.replica(0).request('GET', `${path}/${name}`)).status !== 404) {
      await sleep(100);
    }
  }
});

const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/apiserver-controllers';

test('one replica leads at a time, the one ahead as well as another', async () => {
  /** Whoever leads does what controllers do. */
  const works = async (name: string): Promise<void> => {
    const through = cluster.replica(ahead);
    await post(through, '/api/v1/namespaces', { metadata: { name } });
    const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
    while ((await through.request('GET', account)).status !== 200) await sleep(50);
    const path = `/api/v1/namespaces/${name}`;
    expect((await through.request('DELETE', path)).status).toBe(200);
    while ((await through.request('GET', path)).status !== 404) await sleep(50);
  };
  const leading = (): number =>
    cluster.replicas.filter(({ output }) => {
      const [began, ended] = ['leads the controllers"', 'leads the controllers no longer'].map(
        (text) => output.split(text).length,
      );
      return (began ?? 0) > (ended ?? 0);
    }).length;
  await works('equal');
  const transitions = async (): Promise<number> =>
    (await cluster.replica(ahead).request('GET', lease)).json<{
      spec: { leaseTransitions: number };
    }>().spec.leaseTransitions;
  const before = await transitions();
  await works('still');
  expect(await transitions()).toBe(before);
  expect(leading()).toBe(1);
  for (const index of [0, 2]) expect(await cluster.replica(index).terminate()).toBe(0);
  await works('ahead-leads');
  for (const index of [0, 2]) await cluster.replica(index).start();
  await works('with-others');
});

test('no audit event ends before it began', () => {
  const events = readFileSync(auditLog, 'utf8')
    .trim()
    .split('\n')
    .map(
      (line) => JSON.parse(line) as { requestReceivedTimestamp: string; stageTimestamp: string },
    );
  expect(events.length).toBeGreaterThan(20);
  const wrong = events.filter((event) => event.stageTimestamp < event.requestReceivedTimestamp);
  expect(wrong).toEqual([]);
});
