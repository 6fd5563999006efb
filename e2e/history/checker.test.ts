// The checker against hand-written histories: it accepts what a correct server can do, and names
// what none can.

import { describe, expect, test } from '@jest/globals';
import { checkHistory, type CheckOptions } from './checker.ts';
import type { AnomalyKind } from './history.ts';
import { Story } from './testing/story.ts';

const story = new Story();
const a1 = story.state('a', 1, 'w1');
const a2 = story.state('a', 2, 'w2');
const a3 = story.state('a', 3, 'w3');
const a4 = story.state('a', 4, 'w4');
const b5 = story.state('b', 5, 'w5');
/** The deletion of a2 at revision 6: last state, new revision. */
const gone6 = { ...a2, revision: 6 };
const reborn7 = story.state('a', 7, 'w7', { uid: 'second' });

function base(): Story {
  return new Story().create(a1).update(a2, 1);
}
function longer(): Story {
  return base().update(a3, 2).update(a4, 3).create(b5);
}
const after = (revision: number) => ({ kind: 'after', revision }) as const;
const latest = { mode: 'latest' } as const;
const any = { mode: 'any' } as const;
const exact = (revision: number) => ({ mode: 'exact', revision }) as const;
const notOlderThan = (revision: number) => ({ mode: 'notOlderThan', revision }) as const;
const unknown = { kind: 'unknown', why: 'cut' } as const;
const refused = (why: 'conflict' | 'exists' | 'absent') => ({ kind: 'refused', why }) as const;
const deletedBase = (): Story =>
  base()
    .delete(a2, 'd6')
    .watch(after(0), [
      ['ADDED', a1],
      ['MODIFIED', a2],
      ['DELETED', gone6],
    ]);

const good: Record<string, Story> = {
  'an empty history': new Story(),
  'reads of the last write': base()
    .get('a', a2)
    .list(2, [[a2]]),
  'a read beside a write may show either state': base()
    .update(a3, 2, { invokedAt: 10, returnedAt: 20 })
    .get('a', a2, latest, { invokedAt: 11, returnedAt: 12 })
    .get('a', a3, latest, { invokedAt: 13, returnedAt: 14 }),
  'a read of any version may be old': longer()
    .get('a', a1, any)
    .list(2, [[a2]], any),
  'a read not older than a version may be of that version': longer()
    .get('a', a2, notOlderThan(2))
    .list(3, [[a3]], notOlderThan(2)),
  'an exact list of the past': longer().list(3, [[a3]], exact(3)),
  'a paged list of one state': longer().list(5, [[a4], [b5]]),
  'a paged list that broke off': longer().list(5, [[a4]], latest, { kind: 'failed', why: 'cut' }),
  'a lost answer of a write that was applied': base()
    .failed('update', 'a', 'w3', unknown, { expected: { revision: 2 } })
    .get('a', a3),
  'a lost answer of a write that was not applied': base()
    .failed('update', 'a', 'w3', unknown, { expected: { revision: 2 } })
    .get('a', a2),
  'a conflict with a newer version': base().failed('update', 'a', 'w9', refused('conflict'), {
    expected: { revision: 1 },
  }),
  'refusals after a deletion': deletedBase()
    .failed('update', 'a', 'w9', refused('absent'), { expected: { revision: 2 } })
    .get('a', 'absent')
    .create(reborn7)
    .failed('create', 'a', 'w8', refused('exists'))
    .get('a', reborn7),
  'a watch from a list': longer().watch(after(2), [
    ['MODIFIED', a3],
    ['MODIFIED', a4],
    ['ADDED', b5],
    ['BOOKMARK', 9],
  ]),
  'a watch that was cut': longer().watch(after(2), [['MODIFIED', a3]]),
  'a watch with initial events and changes': longer().watch({ kind: 'state', at: any }, [
    ['ADDED', a3],
    ['MODIFIED', a4],
    ['ADDED', b5],
  ]),
  'a watch cut in the middle of initial events': longer().watch({ kind: 'state', at: latest }, [
    ['ADDED', b5],
  ]),
  'streamed initial events': longer().watch({ kind: 'streamed', at: latest }, [
    ['ADDED', a4],
    ['ADDED', b5],
    ['BOOKMARK', 5],
  ]),
  'streamed initial events with a change before their bookmark': longer().watch(
    { kind: 'streamed', at: any },
    [
      ['ADDED', a3],
      ['MODIFIED', a4],
      ['BOOKMARK', 4],
      ['ADDED', b5],
    ],
  ),
  'a patch keeps what it did not name': new Story()
    .create(story.state('a', 1, 'w1', { x: '1' }))
    .applied('patch', story.state('a', 2, 'w2', { x: '1', y: '2' }), {
      sent: { write: 'w2', y: '2' },
    }),
  'a deletion nobody watched': base().delete(a2, 'd6').create(reborn7).get('a', reborn7),
  'initial events right after a deletion nobody watched': base()
    .delete(a2, 'd3')
    .watch({ kind: 'streamed', at: latest }, [['BOOKMARK', 3]]),
};

const bad: Record<string, readonly [AnomalyKind, Story, CheckOptions?]> = {
  'a lost update': ['lost-update', base().update(a3, 1)],
  'a create over a living object': ['lost-update', base().create(a3)],
  'a patch that forgot a field of another': [
    'lost-update',
    new Story()
      .create(story.state('a', 1, 'w1', { x: '1' }))
      .applied('patch', story.state('a', 2, 'w2'), { sent: { write: 'w2' } }),
  ],
  'an update of a deleted object': [
    'lost-update',
    deletedBase().update({ ...a2, revision: 8, data: { write: 'w8' } }, 6),
  ],
  'a delete that overlooked a newer version': [
    'lost-update',
    base()
      .delete(a2, 'd6', { expected: { revision: 1 } })
      .watch(after(2), [['DELETED', gone6]]),
  ],
  'a stale read': ['stale-read', base().get('a', a1)],
  'a stale absence': ['stale-read', base().get('a', 'absent')],
  'a read of a deleted object': ['stale-read', deletedBase().get('a', a2)],
  'a read of an object whose deletion nobody saw': [
    'stale-read',
    base().delete(a2, 'd6').get('a', a2),
  ],
  'reads that go back': [
    'stale-read',
    base()
      .failed('update', 'a', 'w3', unknown, { invokedAt: 10, returnedAt: 99 })
      .get('a', a3, latest, { invokedAt: 11, returnedAt: 12 })
      .get('a', a2, latest, { invokedAt: 13, returnedAt: 14 }),
  ],
  'a stale list': ['stale-read', base().list(1, [[a1]])],
  'a list whose resourceVersion goes back': [
    'stale-read',
    base()
      .list(9, [[a2]])
      .list(8, [[a2]]),
  ],
  'a read older than it was asked to be': ['stale-read', longer().get('a', a1, notOlderThan(2))],
  'a list older than it was asked to be': [
    'list-revision',
    longer().list(2, [[a2]], notOlderThan(3)),
  ],
  'an exact list of another version': ['list-revision', longer().list(4, [[a4]], exact(3))],
  'a version from the future': ['write-order', base().get('a', a3, any).update(a3, 2)],
  'writes against real time': ['write-order', new Story().create(b5).create(a1)],
  'a list without an object': ['torn-list', longer().list(5, [[a4]])],
  'a list with an old version': ['torn-list', longer().list(5, [[a3, b5]])],
  'a list with an object of the future': ['torn-list', longer().list(4, [[a4, b5]], any)],
  'a torn page': [
    'torn-list',
    longer()
      .update(story.state('b', 6, 'w6'), 5)
      .list(5, [[a4], [story.state('b', 6, 'w6')]]),
  ],
  'a torn page of a list that broke off': [
    'torn-list',
    longer().list(5, [[b5]], latest, { kind: 'failed', why: 'cut' }),
  ],
  'a page twice': ['torn-list', longer().list(5, [[a4], [a4], [b5]])],
  'a lost event': ['missing-event', longer().watch(after(2), [['MODIFIED', a4]])],
  'an event lost before a bookmark': ['missing-event', longer().watch(after(3), [['BOOKMARK', 4]])],
  'an event lost between initial events and changes': [
    'missing-event',
    longer().watch({ kind: 'state', at: any }, [
      ['ADDED', a2],
      ['MODIFIED', a4],
    ]),
  ],
  'a deletion that no watch was told of': [
    'missing-event',
    base()
      .delete(a2, 'd6')
      .create(reborn7)
      .watch(after(1), [
        ['MODIFIED', a2],
        ['ADDED', reborn7],
      ]),
  ],
  'a duplicated event': [
    'duplicate-event',
    longer().watch(after(2), [
      ['MODIFIED', a3],
      ['MODIFIED', a3],
    ]),
  ],
  'an event from before the start': [
    'duplicate-event',
    longer().watch(after(3), [['MODIFIED', a3]]),
  ],
  'reordered events': [
    'reordered-event',
    longer().watch(after(2), [
      ['MODIFIED', a4],
      ['MODIFIED', a3],
    ]),
  ],
  'an event after its bookmark': [
    'reordered-event',
    longer().watch(after(2), [
      ['BOOKMARK', 4],
      ['MODIFIED', a3],
      ['MODIFIED', a4],
    ]),
  ],
  'a bookmark that goes back': [
    'reordered-event',
    longer().watch(after(2), [
      ['MODIFIED', a3],
      ['MODIFIED', a4],
      ['BOOKMARK', 3],
    ]),
  ],
  'an event of the wrong type': ['wrong-event', longer().watch(after(2), [['ADDED', a3]])],
  'a DELETED event without the last state': [
    'wrong-event',
    base()
      .delete(a2, 'd6')
      .watch(after(2), [['DELETED', { ...a1, revision: 6 }]]),
  ],
  'an ADDED that should be MODIFIED after initial events': [
    'wrong-event',
    longer().watch({ kind: 'state', at: any }, [
      ['ADDED', a3],
      ['ADDED', a4],
    ]),
  ],
  'initial events of no state': [
    'torn-initial-events',
    longer().watch({ kind: 'streamed', at: any }, [
      ['ADDED', b5],
      ['BOOKMARK', 5],
    ]),
  ],
  'initial events that never were together': [
    'torn-initial-events',
    longer().watch({ kind: 'state', at: any }, [
      ['ADDED', a3],
      ['ADDED', b5],
    ]),
  ],
  'a consistent watch that starts in the past': [
    'stale-read',
    longer().watch({ kind: 'streamed', at: latest }, [
      ['ADDED', a3],
      ['BOOKMARK', 3],
    ]),
  ],
  'an unset watch that starts in the past': [
    'stale-read',
    longer().watch({ kind: 'state', at: latest }, [
      ['ADDED', a3],
      ['MODIFIED', a4],
    ]),
  ],
  'initial events older than asked for': [
    'stale-read',
    longer().watch({ kind: 'streamed', at: notOlderThan(4) }, [
      ['ADDED', a3],
      ['BOOKMARK', 3],
    ]),
  ],
  'a late event': [
    'late-event',
    longer().watch(after(4), [['ADDED', b5, 9_000]]),
    { watchDelayMaxMs: 1_000 },
  ],
  'a watch that stopped moving': [
    'stalled-watch',
    longer()
      .endsAt(5)
      .watch(after(2), [['MODIFIED', a3]]),
  ],
  '410 for what is young': [
    'gone',
    longer().watch(after(4), [], { ending: { kind: 'gone', why: '410', at: 500 } }),
  ],
  '410 in the middle of a young list': [
    'gone',
    longer().list(5, [[a4]], latest, { kind: 'gone', at: 500 }),
  ],
  'two contents of one version': [
    'contradiction',
    base().get('a', { ...a2, data: { write: 'w2', x: '' } }),
  ],
  'two objects of one revision': ['contradiction', base().create({ ...b5, revision: 2 })],
  'contents other than sent': [
    'contradiction',
    new Story().applied('create', a1, { sent: { write: 'w1', x: '1' } }),
  ],
  'a value nobody wrote': ['phantom', base().get('a', story.state('a', 3, 'who?'))],
  'a deletion nobody asked for': ['phantom', base().watch(after(2), [['DELETED', gone6]])],
  'a refused write that was applied': [
    'refused-but-applied',
    base()
      .failed('update', 'a', 'w3', refused('conflict'), { expected: { revision: 1 } })
      .get('a', a3),
  ],
  'a write applied twice': ['applied-twice', base().get('a', { ...a2, revision: 3 })],
  'two deletes of one object': ['applied-twice', deletedBase().delete(a2, 'd7')],
  'a conflict without a cause': [
    'unfounded-refusal',
    base().failed('update', 'a', 'w9', refused('conflict'), { expected: { revision: 2 } }),
  ],
  '"exists" without an object': [
    'unfounded-refusal',
    deletedBase().failed('create', 'a', 'w9', refused('exists')),
  ],
  '"absent" of a living object': [
    'unfounded-refusal',
    base().failed('patch', 'a', 'w9', refused('absent')),
  ],
};

describe('a correct server may answer', () => {
  test.each(Object.entries(good))('%s', (_, { history }) => {
    expect(checkHistory(history)).toEqual([]);
  });
  test('410 once the retention time is over', () => {
    const { history } = longer().watch(after(4), [], {
      ending: { kind: 'gone', why: '410', at: 500 },
    });
    expect(checkHistory(history, { retentionMs: 400 })).toEqual([]);
  });
});

describe('no correct server answers', () => {
  test.each(Object.entries(bad))('%s', (_, [kind, { history }, options]) => {
    const kinds = checkHistory(history, options).map((anomaly) => anomaly.kind);
    expect(new Set(kinds)).toContain(kind);
  });
});

describe('absence that fits several moments', () => {
  const twice = (): Story =>
    deletedBase()
      .create(reborn7)
      .delete(reborn7, 'd8')
      .watch(after(6), [
        ['ADDED', reborn7],
        ['DELETED', { ...reborn7, revision: 8 }],
      ]);
  test('is explained by any of them', () => {
    const { history } = twice().get('a', 'absent', latest, { invokedAt: 0, returnedAt: 99 });
    expect(checkHistory(history)).toEqual([]);
  });
  test('is narrowed down by what else is known', () => {
    const { history } = twice()
      .create(story.state('a', 9, 'w9', { uid: 'third' }))
      .get('a', 'absent');
    expect(checkHistory(history).map(({ kind }) => kind)).toEqual(['stale-read']);
  });
});
