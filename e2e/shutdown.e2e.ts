// The order in which a replica that is told to stop says so, and stops.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestCluster } from './harness.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start({ serverFlags: ['--shutdown-delay-duration=1s'] });
});
afterAll(() => cluster.stop());

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

test('/readyz fails before the controllers have stopped', async () => {
  const replica = cluster.replica(0);
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/apiserver-controllers';
  for (;;) {
    const { status, text } = await replica.request('GET', lease);
    if (status === 200 && /"holderIdentity":"[^"]/.test(text)) break;
    await pause();
  }
  await cluster.etcd.pause(0); // giving the lead back waits for it, then says that it failed
  const ended = replica.terminate();
  while ((await replica.request('GET', '/readyz/shutdown')).status === 200) await pause();
  expect(replica.output).not.toContain('the lead was not given back');
  expect((await replica.request('GET', '/livez/ping')).status).toBe(200);
  while (!replica.output.includes('the lead was not given back')) await pause();
  cluster.etcd.resume(0);
  expect(await ended).toBe(0);
});
