// Clients inside a cluster find the replicas that live: each comes with its start and goes with its
// end, a graceful one at once, a killed one when its key ends.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestCluster, workerCount } from './harness.ts';
import type { Replica } from './harness.ts';

const service = '/api/v1/namespaces/default/services/kubernetes';
const endpoints = '/api/v1/namespaces/default/endpoints/kubernetes';
const slices =
  '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices' +
  '?labelSelector=kubernetes.io/service-name%3Dkubernetes';
const range = '/apis/networking.k8s.io/v1/servicecidrs/kubernetes';

/** Nobody dials them. */
const addressOf = (index: number): string => `10.77.0.${String(index + 1)}`;

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start({
    replicaCount: 3,
    serverFlags: ['--service-cluster-ip-range=10.96.0.0/20,fd00:10:96::/112'],
    replicaFlags: (index) => [`--advertise-address=${addressOf(index)}`],
  });
});
afterAll(() => cluster.stop());

interface Subset {
  readonly addresses: readonly { readonly ip: string }[];
}
interface Slice {
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[] | null;
}

async function published(replica: Replica): Promise<readonly string[]> {
  const { subsets } = (await replica.request('GET', endpoints)).json<{ subsets?: Subset[] }>();
  return (subsets ?? []).flatMap(({ addresses }) => addresses.map(({ ip }) => ip)).sort();
}

async function sliced(replica: Replica): Promise<readonly string[]> {
  const { items } = (await replica.request('GET', slices)).json<{ items: Slice[] }>();
  return items
    .flatMap((slice) => (slice.endpoints ?? []).flatMap(({ addresses }) => addresses))
    .sort();
}

/** Waits until clients of this replica find just these. */
async function untilPublished(by: number, indexes: readonly number[]): Promise<void> {
  const wished = indexes.map(addressOf).join();
  const replica = cluster.replica(by);
  for (;;) {
    const [ips, slicedIps] = [await published(replica), await sliced(replica)];
    expect([ips.length, slicedIps.length]).not.toContain(0); // some replica always runs
    if (ips.join() === wished && slicedIps.join() === wished) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('every replica that runs is published', async () => {
  for (const by of [0, 1, 2]) await untilPublished(by, [0, 1, 2]);
  const { spec } = (await cluster.replica(1).request('GET', service)).json<{ spec: object }>();
  expect(spec).toMatchObject({
    type: 'ClusterIP',
    clusterIP: '10.96.0.1',
    ports: [{ name: 'https', port: 443 }],
  });
  const found = (await cluster.replica(2).request('GET', range)).json<{ spec: object }>();
  expect(found.spec).toEqual({ cidrs: ['10.96.0.0/20', 'fd00:10:96::/112'] });
});

test('a killed replica goes by itself and comes back with its next start', async () => {
  await cluster.replica(1).kill();
  await untilPublished(0, [0, 2]);
  await cluster.replica(1).start();
  await untilPublished(2, [0, 1, 2]);
});

test('one that is told to stop is gone from the others’ answers when it has ended', async () => {
  expect(await cluster.replica(2).terminate()).toBe(0);
  for (const by of [0, 1]) {
    const replica = cluster.replica(by);
    expect(await published(replica)).toEqual([addressOf(0), addressOf(1)]);
    expect(await sliced(replica)).toEqual([addressOf(0), addressOf(1)]);
  }
  await cluster.replica(2).start();
  await untilPublished(0, [0, 1, 2]);
});

test('etcd away for longer than the keys live takes nobody away', async () => {
  await cluster.etcd.pause(0);
  await new Promise((resolve) => setTimeout(resolve, 14_000));
  cluster.etcd.resume(0);
  for (const by of [0, 1, 2]) await untilPublished(by, [0, 1, 2]);
});

test('Service and endpoints come back when they are deleted', async () => {
  for (const path of [service, endpoints, slices.split('?')[0] + '/kubernetes']) {
    const uidOf = async (): Promise<string | undefined> =>
      (await cluster.replica(0).request('GET', path)).json<{ metadata: { uid?: string } }>()
        .metadata.uid;
    const before = await uidOf();
    expect((await cluster.replica(1).request('DELETE', path)).status).toBe(200);
    while ([before, undefined].includes(await uidOf())) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  await untilPublished(0, [0, 1, 2]);
});

test('replicas that are not to be published, or cannot be, publish nothing', async () => {
  const unseen = await TestCluster.start({
    replicaCount: 2,
    naming: 'svc',
    replicaFlags: (index) => [
      index === 0 ? '--advertise-address=127.0.0.1' : '--endpoint-reconciler-type=none',
    ],
  });
  try {
    const get = (kind: string) =>
      unseen.replica(1).request('GET', `/api/v1/namespaces/default/${kind}/svc`);
    expect((await get('services')).status).toBe(200);
    expect((await get('endpoints')).status).toBe(404);
    const told = 'no endpoints are published for this replica';
    expect(unseen.replica(0).output.split(told)).toHaveLength(1 + workerCount);
    expect(unseen.replica(1).output).not.toContain(told);
  } finally {
    await unseen.stop();
  }
});
