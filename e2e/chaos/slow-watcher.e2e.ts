// Watchers that read far slower than events come: they see all of it in the end or are told 410,
// and neither they nor anybody else sees a gap.

import { expect, test } from '@jest/globals';
import { TestCluster } from '../harness.ts';
import { ApiClient } from '../history/api-client.ts';
import { accessTo, judge } from './truth.ts';

test('slow watchers beside quick ones', async () => {
  const { seed, anomalies, history } = await judge({
    name: 'slow watchers',
    workload: { watchers: 3, slowWatchers: 6, clients: 10, pauseMs: 2 },
    // What a slow watcher has not read yet is late by its own doing.
    check: { watchDelayMaxMs: 60_000 },
    harm: async ({ flow }) => flow(2_000),
  });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
  const slow = history.watches.filter(({ watcher }) => watcher >= 3);
  expect(slow.flatMap(({ events }) => events).length).toBeGreaterThan(50);
});

/** What a watch said of one object: its versions, and whether it ended with 410. */
interface Seen {
  readonly revisions: number[];
  isGone: boolean;
}

interface WatchDocument {
  readonly type: string;
  readonly object: { readonly code?: number; readonly metadata?: { resourceVersion: string } };
}

test.each([
  { what: 'is told 410 where the cache cannot hold them', serverFlags: ['--cache-memory-mb=16'] },
  { what: 'then reads all of them', serverFlags: [] },
])('a watcher that stops reading while 30 MB of events pass $what', async ({ serverFlags }) => {
  const cluster = await TestCluster.start({ serverFlags });
  const replica = cluster.replica(0);
  const client = new ApiClient(replica.url, accessTo(cluster));
  const stop = new AbortController();
  try {
    const path = '/api/v1/namespaces/default/configmaps';
    const object = (payload: string): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'large' },
      data: { payload },
    });
    const created = await replica.request('POST', path, { body: object('first') });
    const first = revisionOf(created.json());
    const query = `?watch=1&resourceVersion=${first}&fieldSelector=metadata.name%3Dlarge`;
    const stream = client.watch(`${path}${query}`, stop.signal);
    const written: number[] = [];
    // The stream is opened by its first read and stops reading after it.
    const seen: Seen = { revisions: [], isGone: false };
    const opening = stream.next();
    for (let count = 0; count < 300; count += 1) {
      const body = object(`${count}-`.padEnd(100_000, 'x'));
      written.push(revisionOf((await replica.request('PUT', `${path}/large`, { body })).json()));
    }
    note(seen, (await opening).value);
    const last = written.at(-1) ?? 0;
    while (!seen.isGone && seen.revisions.at(-1) !== last) {
      note(seen, (await stream.next()).value);
    }
    expect(seen.revisions).toEqual(written.slice(0, seen.revisions.length));
    expect(seen.isGone).toBe(serverFlags.length > 0);
    expect((await replica.request('GET', '/readyz')).status).toBe(200);
  } finally {
    stop.abort();
    client.close();
    await cluster.stop();
  }
});

function revisionOf(object: WatchDocument['object']): number {
  return Number(object.metadata?.resourceVersion);
}

function note(seen: Seen, document: unknown): void {
  const { type, object } = document as WatchDocument;
  if (type === 'ERROR') {
    expect(object.code).toBe(410);
    seen.isGone = true;
  } else if (type !== 'BOOKMARK') {
    seen.revisions.push(revisionOf(object));
  }
}
