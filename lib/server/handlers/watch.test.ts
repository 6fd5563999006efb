import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encodeStored } from '../../codec/stored-form.ts';
import { transports, WatchServer } from '../testing/watch-server.ts';
import type { WatchEnd } from '../testing/watch-server.ts';
import { limits } from '../../base/limits.ts';

let served: WatchServer;
const { signal } = new AbortController();

beforeAll(async () => {
  served = await WatchServer.start();
});
afterAll(() => served.stop());

/** The last object written is everybody's last event. */
const toLast: WatchEnd = { at: 'last' };

interface Seen {
  readonly type: string;
  readonly name: string;
  readonly revision: number;
}

const seenIn = (body: Buffer): Seen[] =>
  body
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { type, object } = JSON.parse(line) as {
        type: string;
        object: { metadata: { name?: string; resourceVersion: string } };
      };
      const { name = '', resourceVersion } = object.metadata;
      return { type, name, revision: Number(resourceVersion) };
    });

const revisions = new Map<string, number>();
async function put(namespace: string, name: string, payload: string, label = ''): Promise<void> {
  const { storage } = served.replica;
  const { resource } = served.replica.store('configmaps');
  const metadata = { name, namespace, uid: 'u', labels: { label } };
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { payload } };
  const key = `/registry/configmaps/${namespace}/${name}`;
  const expected = revisions.get(key) ?? 0;
  const result = await storage.put(key, encodeStored(object, resource).value, { expected }, signal);
  if (!result.ok) throw new Error('nobody else writes here');
  revisions.set(key, result.revision);
}

/** Deletes in one transaction: events that have one revision. */
const removeAll = (prefix: string): Promise<string> =>
  served.registry.etcd.etcdctl('del', '--prefix', `/registry/configmaps/${prefix}`);

const configMaps = (namespace: string, query: string): string =>
  `/api/v1/namespaces/${namespace}/configmaps?watch=1&allowWatchBookmarks=true&${query}`;

/**
 * A watch that is cut as told, and another one from its last bookmark on (its start, where none
 * came): what the first one sent up to there and all that the second one sent.
 */
async function cutAndResumed(
  namespace: string,
  options: {
    readonly after: number;
    readonly query: string;
    readonly over: (typeof transports)[number];
    readonly end: WatchEnd;
  },
): Promise<{ readonly events: Seen[]; readonly bookmark: number | undefined }> {
  const { after, query, over, end } = options;
  const from = (revision: number): string =>
    configMaps(namespace, `${query}&resourceVersion=${String(revision)}`);
  const first = seenIn(await served.watch(from(after), { end, over }));
  const bookmark = first.findLast(({ type }) => type === 'BOOKMARK')?.revision;
  const reached = bookmark ?? after;
  const kept = first.filter(({ type, revision }) => type !== 'BOOKMARK' && revision <= reached);
  const isDone = kept.at(-1)?.name === 'last';
  const rest = isDone ? undefined : await served.watch(from(reached), { end: toLast, over });
  const resumed = seenIn(rest ?? Buffer.from('')).filter(({ type }) => type !== 'BOOKMARK');
  return { events: [...kept, ...resumed], bookmark };
}

describe('a watch that is cut says with its last bookmark no more than it sent', () => {
  // An event is handed over as soon as it is framed.
  const large = 'x'.repeat(limits.answerChunkBytes);
  const namespace = 'large';
  let start = 0;

  beforeAll(async () => {
    start = await served.replica.storage.currentRevision(signal);
    for (let count = 0; count < 5; count++) await put(namespace, `c${String(count)}`, large);
    for (let count = 0; count < 3; count++) await put(namespace, `m${String(count)}`, large);
    await put(namespace, 'c0', large, 'other');
    await put(namespace, 'c1', large, 'other');
    await removeAll(`${namespace}/m`);
    await removeAll(`${namespace}/c3`);
    await put(namespace, 'last', large);
  });

  const selections = [
    { what: 'everything', query: '', count: 15 },
    { what: 'some', query: 'labelSelector=label!%3Dother', count: 15 },
    { what: 'one object', query: 'fieldSelector=metadata.name%3Dlast', count: 1 },
  ];
  const rows = transports.flatMap((over) =>
    selections.flatMap((selection) =>
      [false, true].map((isLater) => ({
        ...selection,
        over,
        isLater,
        when: isLater ? 'on its way' : 'framed',
      })),
    ),
  );

  test.each(rows)('changes of $what over $over, cut with each event $when', async (row) => {
    const { query, over, count, isLater } = row;
    const from = configMaps(namespace, `${query}&resourceVersion=${String(start)}`);
    const whole = seenIn(await served.watch(from, { end: toLast, over }));
    const events = whole.filter(({ type }) => type !== 'BOOKMARK');
    expect(events.length).toBe(count);
    for (let at = 1; at <= count; at++) {
      const end = { at, isLater };
      const cut = await cutAndResumed(namespace, { after: start, query, over, end });
      expect({ at, ...cut }).toMatchObject({ at, events });
      if (at === count) expect(cut.bookmark).toBeGreaterThanOrEqual(events.at(-1)?.revision ?? 0);
    }
  });

  const states = ['resourceVersion=0', 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'];
  test.each(rows.filter(({ what }) => what !== 'one object'))(
    'the state of $what over $over, cut with each event $when',
    async ({ query, over, isLater }) => {
      for (const state of states) {
        const path = configMaps(namespace, `${query}&${state}`);
        const whole = seenIn(await served.watch(path, { end: toLast, over }));
        const names = whole.map(({ name }) => name).filter((name) => name !== '');
        expect(names.length).toBeGreaterThan(2);
        for (let at = 1; at <= names.length; at++) {
          const cut = seenIn(await served.watch(path, { end: { at, isLater }, over }));
          const isMarked = cut.some(({ type }) => type === 'BOOKMARK');
          const shown = cut.map(({ name }) => name).filter((name) => name !== '');
          expect({ at, shown }).toEqual({ at, shown: names.slice(0, shown.length) });
          if (isMarked) expect({ at, shown }).toEqual({ at, shown: names });
          else if (!isLater) expect(shown.length).toBe(at);
        }
      }
    },
  );
});

describe('a watch of more events than come at once', () => {
  const namespace = 'many';
  let start = 0;

  beforeAll(async () => {
    start = await served.replica.storage.currentRevision(signal);
    const names = Array.from({ length: 997 }, (_, index) => `w${String(index)}`);
    const writer = async (): Promise<void> => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        await put(namespace, name, '');
      }
    };
    await Promise.all(Array.from({ length: 16 }, writer));
    await removeAll(`${namespace}/w99`); // events 998 to 1005, of one revision
    for (let count = 0; count < 20; count++) await put(namespace, `x${String(count)}`, '');
    await put(namespace, 'last', '');
  });

  test.each([998, 1_000, 1_001, 1_005, 1_006])('changes, cut at event %i', async (at) => {
    const from = configMaps(namespace, `resourceVersion=${String(start)}`);
    const whole = seenIn(await served.watch(from, { end: toLast }));
    const events = whole.filter(({ type }) => type !== 'BOOKMARK');
    expect(events.length).toBe(1_026);
    expect(new Set(events.slice(997, 1_005).map(({ revision }) => revision)).size).toBe(1);
    const end = { at };
    const cut = await cutAndResumed(namespace, { after: start, query: '', over: 'HTTP/1.1', end });
    expect(cut.events).toEqual(events);
    expect(cut.bookmark).toBeDefined();
  });

  test.each([999, 1_000, 1_001])('the state, cut at event %i', async (at) => {
    const path = configMaps(namespace, 'resourceVersion=0');
    const cut = seenIn(await served.watch(path, { end: { at } }));
    const isMarked = cut.some(({ type }) => type === 'BOOKMARK');
    const count = cut.filter(({ type }) => type === 'ADDED').length;
    expect({ isMarked, count }).toEqual({
      isMarked: at > 1_000,
      count: at > 1_000 ? 1_010 : 1_000,
    });
  });
});

test('clients of every transport that are told in one turn get the same events', async () => {
  const namespace = 'together';
  const start = await served.replica.storage.currentRevision(signal);
  const path = configMaps(namespace, `resourceVersion=${String(start)}`);
  const watching = [...transports, ...transports].map((over) =>
    served.watch(path, { end: toLast, over }),
  );
  for (let count = 0; count < 20; count++) await put(namespace, `c${String(count)}`, '');
  await put(namespace, 'last', '');
  const names = Array.from({ length: 20 }, (_, index) => `c${String(index)}`);
  for (const body of await Promise.all(watching)) {
    const events = seenIn(body).filter(({ type }) => type !== 'BOOKMARK');
    expect(events.map(({ name }) => name)).toEqual([...names, 'last']);
  }
});
