import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import type { Cache } from './cache.ts';
import type { ReadAt, ResourceView, Selection, WatchCursor, WatchEvent } from './resource-view.ts';
import { CacheFixture, paths, widgets } from './testing/cache-fixture.ts';

const garbage = Buffer.from('garbage');
const everything = { limitCount: 0 };
const red = { labels: (labels: Readonly<Record<string, string>>) => labels['color'] === 'red' };
const field = (path: string, operator: '=' | '!=', value: string): Selection => ({
  fields: [{ path, operator, value }],
});

let etcd: EtcdCluster;
let fixture: CacheFixture;

beforeAll(async () => {
  etcd = await EtcdCluster.start();
});
afterAll(async () => {
  await etcd.stop();
});
beforeEach(() => {
  fixture = new CacheFixture(etcd);
});
afterEach(async () => {
  await fixture.close();
});

const viewOf = (cache: Cache): ResourceView => cache.view(widgets);
const breakOne = (path: string): Promise<number> => fixture.putRaw(`widgets/${path}`, garbage);

/** Paths, or the status code of the failure. */
async function list(view: ResourceView, select: Selection, at: ReadAt): Promise<unknown> {
  try {
    return paths((await view.list(select, at, everything, fixture.signal)).items);
  } catch (error) {
    return (error as { code?: number }).code;
  }
}

describe('a list', () => {
  // m/c, n/a (red), n/b (unreadable), n/d (on node x)
  const cases: readonly (readonly [string, Selection, unknown])[] = [
    ['everything', {}, 500],
    ['its namespace', { namespace: 'n' }, 500],
    ['another namespace', { namespace: 'm' }, ['m/c']],
    ['its name', { name: 'b' }, 500],
    ['another name', { name: 'a' }, ['n/a']],
    ['the object', { namespace: 'n', name: 'b' }, 500],
    ['another object', { namespace: 'n', name: 'a' }, ['n/a']],
    ['labels, which it may have', red, 500],
    ['labels in another namespace', { ...red, namespace: 'm' }, []],
    ['a field, which it may have', field('spec.nodeName', '=', 'x'), 500],
    ['every name but its own', field('metadata.name', '!=', 'b'), ['m/c', 'n/a', 'n/d']],
    ['another namespace by field', field('metadata.namespace', '=', 'm'), ['m/c']],
    ['everything, shown', { showsUnreadable: true }, ['m/c', 'n/a', 'n/b', 'n/d']],
    ['its name, shown', { name: 'b', showsUnreadable: true }, ['n/b']],
    ['another namespace, shown', { namespace: 'm', showsUnreadable: true }, ['m/c']],
  ];

  test.each(cases)('of %s', async (_what, select, expected) => {
    await fixture.put('m/c');
    await fixture.put('n/a', { labels: { color: 'red' } });
    await breakOne('n/b');
    const revision = await fixture.put('n/d', { nodeName: 'x' });
    const cache = await fixture.started();
    const stored = viewOf(await fixture.started({ listFromSnapshot: false }));
    const view = viewOf(cache);
    const exact = { mode: 'exact', revision } as const;
    const seen = [
      await list(view, select, { mode: 'any' }),
      await list(view, select, { mode: 'latest' }),
      await list(view, select, exact),
      await list(stored, select, exact),
    ];
    await fixture.put('n/b');
    await view.get({ namespace: '', name: '' }, { mode: 'latest' }, fixture.signal);
    seen.push(await list(view, select, exact));
    expect(seen).toEqual(seen.map(() => expected));
  });

  test('says which objects it means, and that there are more', async () => {
    for (let i = 0; i < 102; i++) await breakOne(`n/b${String(i).padStart(3, '0')}`);
    const cache = await fixture.started();
    const failed = viewOf(cache).list({}, { mode: 'any' }, everything, fixture.signal);
    const error = await failed.catch((reason: unknown) => reason);
    const key = (name: string): string => `${fixture.prefix}widgets/n/${name}`;
    expect(error).toMatchObject({
      reason: 'StorageReadError',
      message: expect.stringContaining('n/b000, n/b001'),
      details: { kind: 'widgets', group: 'example.com' },
    });
    const { causes } = (error as { details: { causes: readonly { field?: string }[] } }).details;
    expect(causes).toHaveLength(101);
    expect(causes[0]).toEqual({
      reason: 'UnexpectedServerResponse',
      message: expect.stringContaining(key('b000')),
      field: key('b000'),
    });
    expect(causes[100]).toEqual({ reason: 'FieldValueTooMany', message: 'there are more' });
  });

  test('in pages fails with the page that meets one', async () => {
    await fixture.put('n/a');
    await fixture.put('n/b');
    await breakOne('n/c');
    const revision = await fixture.put('n/d');
    const memory = viewOf(await fixture.started());
    const stored = viewOf(await fixture.started({ listFromSnapshot: false }));
    for (const view of [memory, stored]) {
      const at = { mode: 'exact', revision } as const;
      const first = await view.list({}, at, { limitCount: 2 }, fixture.signal);
      expect([paths(first.items), first.more, first.remainingCount]).toEqual([
        ['n/a', 'n/b'],
        true,
        2,
      ]);
      const after = { namespace: 'n', name: 'b' };
      const second = view.list({}, at, { limitCount: 2, after }, fixture.signal);
      await expect(second).rejects.toMatchObject({ code: 500 });
    }
  });
});

describe('a watch', () => {
  let cache: Cache;
  let start: number;

  const watch = (select: Selection, view = viewOf(cache)): Promise<WatchCursor> => {
    const from = { from: 'revision', revision: start } as const;
    return view.watch(select, from, { bookmarks: false }, fixture.signal);
  };
  const shown = ({ type, item, revision }: WatchEvent): string =>
    `${type} ${item?.name ?? ''}@${String(revision - start)}${item?.corrupted === true ? '!' : ''}`;
  /** Until `count` events came, or the watch ended: then with the code. */
  const read = async (cursor: WatchCursor, count: number): Promise<unknown[]> => {
    const seen: unknown[] = [];
    try {
      while (seen.length < count) {
        const events = await cursor.next(AbortSignal.timeout(60_000));
        seen.push(...(events ?? []).map(shown));
      }
    } catch (error) {
      seen.push((error as { code?: number }).code);
    }
    return seen;
  };

  beforeEach(async () => {
    start = await fixture.put('n/a', { nodeName: 'x', labels: { color: 'red' } });
    cache = await fixture.started();
  });

  test.each([
    ['everything', {}, ['ADDED b@1', 410]],
    ['its namespace', { namespace: 'n' }, ['ADDED b@1', 410]],
    ['the object', { namespace: 'n', name: 'a' }, [410]],
    ['labels', red, [410]],
    ['the field that it had', field('spec.nodeName', '=', 'x'), [410]],
    ['a field that it may have now', field('spec.nodeName', '=', 'y'), [410]],
    ['another object', { namespace: 'n', name: 'b' }, ['ADDED b@1', 'MODIFIED b@3']],
    ['another name', field('metadata.name', '=', 'b'), ['ADDED b@1', 'MODIFIED b@3']],
    ['every other name', field('metadata.name', '!=', 'a'), ['ADDED b@1', 'MODIFIED b@3']],
    [
      'everything, shown',
      { showsUnreadable: true },
      ['ADDED b@1', 'MODIFIED a@2!', 'MODIFIED b@3', 'DELETED a@4!'],
    ],
  ] as const)('of %s, when an object becomes unreadable', async (_what, select, expected) => {
    const live = await watch(select);
    await fixture.put('n/b');
    await breakOne('n/a');
    await fixture.put('n/b');
    await fixture.delete('n/a');
    expect(await read(live, expected.length)).toEqual(expected);
    // From the log, too.
    expect(await read(await watch(select), expected.length)).toEqual(expected);
  });

  test.each(['repaired', 'deleted'])('ends when an unreadable object is %s', async (fate) => {
    start = await breakOne('n/a');
    // One replica knew it before, another one never did.
    const other = await fixture.started();
    await viewOf(cache).get(
      { namespace: 'n', name: 'a' },
      { mode: 'notOlderThan', revision: start },
      fixture.signal,
    );
    const cursors = [await watch({}), await watch(red), await watch({}, viewOf(other))];
    if (fate === 'deleted') await fixture.delete('n/a');
    else await fixture.put('n/a');
    for (const cursor of cursors) expect(await read(cursor, 1)).toEqual([410]);
  });

  test('from a state with an unreadable object fails', async () => {
    const at = { mode: 'latest' } as const;
    const from = { from: 'state', at, bookmark: true } as const;
    const open = (select: Selection): Promise<WatchCursor> =>
      viewOf(cache).watch(select, from, { bookmarks: true }, fixture.signal);
    await breakOne('n/a');
    await expect(open({})).rejects.toMatchObject({ code: 500, reason: 'StorageReadError' });
    await expect(open(red)).rejects.toMatchObject({ code: 500 });
    await expect(open(field('spec.nodeName', '=', 'y'))).rejects.toMatchObject({ code: 500 });
    expect(await read(await open({ namespace: 'm' }), 1)).toEqual(['BOOKMARK @1']);
    const all = await open({ showsUnreadable: true });
    expect(await read(all, 2)).toEqual(['ADDED a@1!', 'BOOKMARK @1']);
  });
});
