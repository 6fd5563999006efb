// etcd's database reaches its quota (alarm NOSPACE): writes are refused in words that say what to
// do, all else goes on, and after what docs/operate/etcd.md says everything works again, without a
// restart.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';

const megabytes = 2 ** 20;
const configMaps = '/api/v1/namespaces/default/configmaps';

let cluster: TestCluster;
beforeAll(async () => {
  const quota = `--quota-backend-bytes=${String(12 * megabytes)}`;
  cluster = await TestCluster.start({ replicaCount: 2, tls: true, flags: [quota] });
});
afterAll(() => cluster.stop());

/** Takes 600 kB. */
const filler = (name: string): object => ({
  metadata: { name },
  data: { text: name.repeat(600_000 / name.length) },
});

/** Names that were written; the refusal of the one after them. */
async function fill(replica: Replica): Promise<{ written: string[]; refusal: object }> {
  const written: string[] = [];
  for (let count = 0; count < 50; count++) {
    const name = `filler-${String(count).padStart(3, '0')}`;
    const reply = await replica.request('POST', configMaps, { body: filler(name) });
    if (reply.status !== 201) {
      // etcd may carry out the write that fills its database, and refuse it afterwards.
      const kept = await replica.request('GET', `${configMaps}/${name}`);
      if (kept.status === 200) written.push(name);
      return { written, refusal: reply.json() };
    }
    written.push(name);
  }
  throw new Error('the database does not become full');
}

async function namesIn(replica: Replica, query = ''): Promise<string[]> {
  const reply = await replica.request('GET', `${configMaps}${query}`);
  expect([reply.status, query]).toEqual([200, query]);
  const { items } = reply.json<{ items: { metadata: { name: string } }[] }>();
  return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('filler'));
}

const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/apiserver-controllers';

test('a full database refuses writes alone, and recovers without a restart', async () => {
  const [first, second] = [cluster.replica(0), cluster.replica(1)];
  const pids = cluster.replicas.map(({ pid }) => pid);
  const { written, refusal } = await fill(first);
  expect(refusal).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
  expect(refusal).toMatchObject({ message: expect.stringContaining('NOSPACE') });
  expect(refusal).toMatchObject({ message: expect.stringContaining('alarm is disarmed') });
  expect(await cluster.etcd.etcdctl('alarm', 'list')).toContain('NOSPACE');

  // Every other write is refused in the same words, on the other replica too.
  for (const [method, path, body] of [
    ['POST', '/api/v1/namespaces', { metadata: { name: 'late' } }],
    ['PUT', `${configMaps}/${written[0] ?? ''}`, { metadata: { name: written[0] } }],
    ['POST', '/api/v1/namespaces/default/events', { metadata: { name: 'late' } }],
  ] as const) {
    const involvedObject = { involvedObject: { namespace: 'default' } };
    const reply = await second.request(method, path, { body: { ...body, ...involvedObject } });
    expect([path, reply.json()]).toMatchObject([path, refusal]);
  }

  // Reads, lists, watches and readiness go on; so do deletions, which make room.
  for (const replica of cluster.replicas) {
    expect(await namesIn(replica)).toEqual(written);
    expect(await namesIn(replica, '?resourceVersion=0')).toEqual(written);
    expect((await replica.request('GET', '/readyz')).status).toBe(200);
  }
  const version = (await second.request('GET', `${configMaps}?limit=1`)).json<{
    metadata: { resourceVersion: string };
  }>().metadata.resourceVersion;
  const watch = `${configMaps}?watch=true&timeoutSeconds=2&resourceVersion=${version}`;
  const deletions = async (): Promise<number> =>
    (await second.request('GET', watch)).text.match(/"type":"DELETED"/g)?.length ?? 0;
  const seenMeanwhile = deletions();
  const gone = written.splice(0, 10);
  for (const name of gone) {
    const reply = await first.request('DELETE', `${configMaps}/${name}`);
    expect([name, reply.status]).toEqual([name, 200]);
  }
  // A slow machine has deleted less of them when the watch ends.
  let seen = await seenMeanwhile;
  while (seen < gone.length) seen = await deletions();
  expect(seen).toBe(gone.length);

  // The controllers lost their lead meanwhile: the Lease could not be renewed.
  const { etcd } = cluster;
  const status = await etcd.etcdctl('endpoint', 'status', '--write-out=json');
  const revision = /"revision":(\d+)/.exec(status)?.[1] ?? '';
  await etcd.etcdctl('compact', '--physical', revision);
  await etcd.etcdctl('defrag');
  await etcd.etcdctl('alarm', 'disarm');

  const made = await second.request('POST', '/api/v1/namespaces', {
    body: { metadata: { name: 'again' } },
  });
  expect(made.status).toBe(201);
  const account = '/api/v1/namespaces/again/serviceaccounts/default';
  while ((await first.request('GET', account)).status !== 200) await sleep(50);
  expect((await first.request('GET', lease)).status).toBe(200);
  expect(await namesIn(second)).toEqual(written);
  expect(cluster.replicas.map(({ pid }) => pid)).toEqual(pids);
});
