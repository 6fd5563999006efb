// `--controllers=`: nothing competes with a controller manager beside the server.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestCluster } from './harness.ts';
import type { Reply } from './harness.ts';

const namespaces = '/api/v1/namespaces';
const leases = '/apis/coordination.k8s.io/v1/leases';
let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start({ replicaCount: 2, serverFlags: ['--controllers='] });
});
afterAll(async () => {
  await cluster.stop();
});

const ask = (method: string, path: string, body?: object): Promise<Reply> =>
  cluster.replica(0).request(method, path, body === undefined ? {} : { body });
const items = async (path: string): Promise<readonly unknown[]> =>
  (await ask('GET', path)).json<{ items: unknown[] }>().items;

test('without controllers no lease is taken, and namespaces are left to others', async () => {
  await ask('POST', namespaces, { metadata: { name: 'mine' } });
  await ask('POST', `${namespaces}/mine/configmaps`, { metadata: { name: 'a' } });
  await ask('DELETE', `${namespaces}/mine`);
  // What the servers do in any case shows that they had the time for the rest.
  const nodeLease = `${namespaces}/kube-node-lease`;
  const { metadata } = (await ask('DELETE', nodeLease)).json<{ metadata: { uid: string } }>();
  await ask('PUT', `${nodeLease}/finalize`, {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'kube-node-lease' },
    spec: { finalizers: [] },
  });
  const signal = AbortSignal.timeout(60_000);
  for (;;) {
    const reply = await ask('GET', nodeLease);
    const now = reply.json<{ metadata: { uid?: string } }>();
    if (reply.status === 200 && now.metadata.uid !== metadata.uid) break;
    await sleep(50, undefined, { signal });
  }
  expect(await items(leases)).toEqual([]);
  expect(await items('/api/v1/serviceaccounts')).toEqual([]);
  expect(await items(`${namespaces}/mine/configmaps`)).toHaveLength(1);
  const mine = (await ask('GET', `${namespaces}/mine`)).json();
  expect(mine).toMatchObject({ status: { phase: 'Terminating' } });
});
