// Specification 1, deletion lifecycle, and KEP-3926: an object that cannot be read is neither left
// out silently nor in the way of anything else, whichever replica and form is asked for.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sleep } from '../lib/base/abort.ts';
import { EtcdStorage } from '../lib/storage-etcd/etcd-storage.ts';
import { TestCluster } from './harness.ts';
import type { Replica, Reply } from './harness.ts';

const namespaces = '/api/v1/namespaces';
const key = '/registry/configmaps/spoiled/b';
const unsafe = 'ignoreStoreReadErrorWithClusterBreakingPotential=true';
const { signal } = new AbortController();

let cluster: TestCluster;
let etcd: EtcdStorage;
let late: Replica;

const in_ = (name: string): string => `${namespaces}/${name}/configmaps`;
const ask = (path: string, accept = 'application/json', replica = 0): Promise<Reply> =>
  cluster.replica(replica).request('GET', path, { headers: { accept } });

async function spoil(): Promise<void> {
  const { item } = await etcd.get(key, signal);
  const expected = item?.modRevision ?? 0;
  await etcd.put(key, Buffer.from('not an object'), { expected }, signal);
}

beforeAll(async () => {
  const serverFlags = ['--feature-gates=AllowUnsafeMalformedObjectDeletion=true'];
  cluster = await TestCluster.start({ replicaCount: 2, serverFlags });
  etcd = new EtcdStorage(cluster.etcd.connection);
  late = cluster.replica(1);
  for (const name of ['spoiled', 'whole']) {
    const made = await cluster.replica(0).request('POST', namespaces, {
      body: { metadata: { name } },
    });
    expect(made.status).toBe(201);
    for (const one of ['a', 'b', 'c']) {
      const body = { metadata: { name: one } };
      await cluster.replica(0).request('POST', in_(name), { body });
    }
  }
});

afterAll(async () => {
  etcd.close();
  await cluster.stop();
});

test('a watch that told of the object ends with 410 once it cannot be read', async () => {
  const list = (await ask(in_('spoiled'))).json<{ metadata: { resourceVersion: string } }>();
  const { resourceVersion } = list.metadata;
  const query = `watch=1&timeoutSeconds=20&resourceVersion=${resourceVersion}`;
  const watching = [0, 1].map((replica) => ask(`${in_('spoiled')}?${query}`, undefined, replica));
  await spoil();
  for (const { text } of await Promise.all(watching)) {
    const event = JSON.parse(text) as { type: string; object: object };
    expect(event).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  }
});

test('a replica that starts with it serves everything else', async () => {
  await late.kill();
  await late.start();
  for (const replica of [0, 1]) {
    expect((await ask(in_('whole'), undefined, replica)).status).toBe(200);
    expect((await ask('/api/v1/secrets', undefined, replica)).status).toBe(200);
    expect((await ask(`${in_('spoiled')}/a`, undefined, replica)).status).toBe(200);
  }
  const metrics = (await late.request('GET', '/metrics')).text;
  expect(metrics).toMatch(/apiserver_storage_decode_errors_total\{[^}]*"configmaps"[^}]*\} [1-9]/);
  expect((await late.request('GET', '/readyz?verbose')).text).toContain('1 stored objects cannot');
});

const metadata = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
test.each([
  ['application/json', 'application/json'],
  ['application/vnd.kubernetes.protobuf', 'application/vnd.kubernetes.protobuf'],
  ['application/yaml', 'application/json'],
  [table, table],
  [metadata, metadata.replace('List', '')],
])('a list with it is a 500 as %s, and so are its object and a watch', async (accept, one) => {
  for (const replica of [0, 1]) {
    const replies = [
      await ask(in_('spoiled'), accept, replica),
      await ask('/api/v1/configmaps', accept, replica),
      await ask(`${in_('spoiled')}?watch=1`, one, replica),
      await ask(`${in_('spoiled')}/b`, one, replica),
    ];
    expect(replies.map(({ status }) => status)).toEqual([500, 500, 500, 500]);
    for (const { text } of replies) expect(text).toContain('spoiled/b');
  }
});

test('its namespace stays until it is gone, and says what is in the way', async () => {
  const path = `${namespaces}/spoiled`;
  expect((await late.request('DELETE', path)).status).toBe(200);
  for (;;) {
    const { text } = await ask(path);
    if (text.includes('"ContentDeletionFailed"')) {
      expect(text).toContain('spoiled/b');
      expect(text).toContain('"SomeResourcesRemain"');
      break;
    }
    await sleep(100, signal);
  }
  expect((await late.request('DELETE', `${in_('spoiled')}/b`)).status).toBe(500);
  expect((await late.request('DELETE', `${in_('spoiled')}/b?${unsafe}`)).status).toBe(200);
  while ((await ask(path)).status !== 404) await sleep(100, signal);
  for (const replica of [0, 1]) {
    expect((await ask('/api/v1/configmaps', undefined, replica)).status).toBe(200);
  }
});
