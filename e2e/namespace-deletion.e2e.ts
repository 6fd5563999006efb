// Specification 1, deletion lifecycle: namespaces end with everything in them, whichever replica
// works.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestCluster } from './harness.ts';
import type { Replica, Reply } from './harness.ts';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start({ replicaCount: 2 });
});

afterAll(async () => {
  await cluster.stop();
});

const namespaces = '/api/v1/namespaces';
const container = { name: 'c', image: 'i' };

interface NamespaceBody {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly status: {
    readonly phase: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

async function post(replica: Replica, path: string, body: object): Promise<Reply> {
  const reply = await replica.request('POST', path, { body });
  if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
  return reply;
}

const makeNamespace = (name: string): Promise<Reply> =>
  post(cluster.replica(0), namespaces, { metadata: { name } });

/** `count` objects of one resource, some at a time, through both replicas. */
async function fill(
  name: string,
  resource: string,
  count: number,
  more: object = {},
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      const body = { metadata: { name: `o${String(index)}` }, ...more };
      await post(cluster.replica(index % 2), `${namespaces}/${name}/${resource}`, body);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

async function untilGone(replica: Replica, name: string): Promise<void> {
  while ((await replica.request('GET', `${namespaces}/${name}`)).status !== 404) await sleep(50);
}

async function countOf(replica: Replica, name: string, resource: string): Promise<number> {
  const reply = await replica.request('GET', `${namespaces}/${name}/${resource}`);
  return reply.json<{ items: unknown[] }>().items.length;
}

describe('a deleted namespace', () => {
  test('goes with 500 config maps and 50 pods', async () => {
    await makeNamespace('full');
    await fill('full', 'configmaps', 500);
    await fill('full', 'pods', 50, { spec: { containers: [container] } });
    const reply = await cluster.replica(1).request('DELETE', `${namespaces}/full`);
    expect([reply.status, reply.json<NamespaceBody>().status.phase]).toEqual([200, 'Terminating']);
    await untilGone(cluster.replica(0), 'full');
    for (const resource of ['configmaps', 'pods']) {
      expect(await countOf(cluster.replica(1), 'full', resource)).toBe(0);
    }
  });

  test('takes nothing new, says what holds it, and goes when that goes', async () => {
    await makeNamespace('held');
    const held = { name: 'h', finalizers: ['example.com/hold'] };
    await post(cluster.replica(0), `${namespaces}/held/configmaps`, { metadata: held });
    await cluster.replica(0).request('DELETE', `${namespaces}/held`);
    const body = { metadata: { name: 'late' } };
    const late = await cluster
      .replica(0)
      .request('POST', `${namespaces}/held/configmaps`, { body });
    expect(late.status).toBe(403);
    expect(late.json()).toMatchObject({
      reason: 'Forbidden',
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    });
    const signal = AbortSignal.timeout(60_000);
    let conditions: Readonly<Record<string, string>> = {};
    while (conditions['NamespaceFinalizersRemaining'] !== 'True') {
      const now = await cluster.replica(1).request('GET', `${namespaces}/held`);
      const list = now.json<NamespaceBody>().status.conditions ?? [];
      conditions = Object.fromEntries(list.map(({ type, status }) => [type, status]));
      await sleep(50, signal);
    }
    expect(conditions).toEqual({
      NamespaceDeletionDiscoveryFailure: 'False',
      NamespaceDeletionGroupVersionParsingFailure: 'False',
      NamespaceDeletionContentFailure: 'False',
      NamespaceContentRemaining: 'True',
      NamespaceFinalizersRemaining: 'True',
    });
    const release = { metadata: { finalizers: null } };
    await cluster.replica(1).request('PATCH', `${namespaces}/held/configmaps/h`, {
      body: release,
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    await untilGone(cluster.replica(0), 'held');
  });

  test('goes although the replica that works on it is killed in the middle', async () => {
    await makeNamespace('split');
    await fill('split', 'configmaps', 500);
    await cluster.replica(0).request('DELETE', `${namespaces}/split`);
    const lease = await cluster
      .replica(0)
      .request(
        'GET',
        '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/apiserver-controllers',
      );
    expect(lease.json<{ spec: { holderIdentity: string } }>().spec.holderIdentity).not.toBe('');
    const leading = cluster.replicas.find(({ output }) => output.includes('leads the controllers'));
    if (leading === undefined) throw new Error('nobody leads');
    const other = cluster.replica(cluster.replicas.indexOf(leading) === 0 ? 1 : 0);
    await leading.kill();
    await untilGone(other, 'split');
    expect(await countOf(other, 'split', 'configmaps')).toBe(0);
    await leading.start();
  });
});

describe('namespaces that every cluster needs', () => {
  test.each(['default', 'kube-system', 'kube-public'])('%s is not deleted', async (name) => {
    const reply = await cluster.replica(1).request('DELETE', `${namespaces}/${name}`);
    expect(reply.status).toBe(403);
    expect(reply.json()).toMatchObject({ reason: 'Forbidden', details: { name } });
    const now = await cluster.replica(1).request('GET', `${namespaces}/${name}`);
    expect(now.json<NamespaceBody>().status.phase).toBe('Active');
  });
});

describe('a write into a namespace', () => {
  test('that another replica has just made is taken', async () => {
    for (let count = 0; count < 20; count++) {
      const name = `new-${String(count)}`;
      await makeNamespace(name);
      const path = `${namespaces}/${name}/configmaps`;
      await post(cluster.replica(1), path, { metadata: { name: 'a' } });
    }
  });

  test('that does not exist is 404 of the namespace', async () => {
    const body = { metadata: { name: 'a' } };
    const reply = await cluster
      .replica(0)
      .request('POST', `${namespaces}/none/configmaps`, { body });
    expect(reply.status).toBe(404);
    expect(reply.json()).toMatchObject({
      message: 'namespaces "none" not found',
      details: { name: 'none', kind: 'namespaces' },
    });
  });
});

describe('componentstatuses', () => {
  test('tell the health of each etcd member, and nothing else', async () => {
    const path = '/api/v1/componentstatuses';
    const list = await cluster.replica(0).request('GET', path);
    const conditions = [{ type: 'Healthy', status: 'True', message: 'ok' }];
    expect(list.json()).toMatchObject({
      kind: 'ComponentStatusList',
      items: [{ metadata: { name: 'etcd-0' }, conditions }],
    });
    const one = await cluster.replica(0).request('GET', `${path}/etcd-0`);
    expect(one.json()).toMatchObject({ kind: 'ComponentStatus', conditions });
    expect((await cluster.replica(0).request('GET', `${path}/scheduler`)).status).toBe(404);
    expect((await cluster.replica(0).request('GET', `${path}?watch=1`)).status).toBe(405);
    const body = { metadata: { name: 'x' } };
    expect((await cluster.replica(0).request('POST', path, { body })).status).toBe(405);
  });
});
