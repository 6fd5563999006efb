// Tests of what watches write of a log that grows while they write: everything, once, in order.
import { expect, test } from '@jest/globals';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { expired } from '../base/status.ts';
import { nextTurn } from '../base/turn.ts';
import { ResourceCounts } from '../cacher/resource-counts.ts';
import { widget, widgets } from '../cacher/testing/cache-fixture.ts';
import { resourceCacheAt } from '../cacher/testing/item-source.ts';
import { LogCursor } from '../cacher/watch-cursor.ts';
import { encodeStored } from '../codec/stored-form.ts';
import { silentRequestMetrics } from '../telemetry/testing/silent-request-metrics.ts';
import type { RequestContext } from './request-context.ts';
import type { StreamSerializer } from './serializers.ts';
import { WatchPump } from './watch-pump.ts';
import type { WatchSink } from './watch-sink.ts';

/** Numbers that depend on the seed alone. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

class Served {
  readonly #made = resourceCacheAt(10);
  readonly changes: number[] = [];
  #revision = 10;

  change(): void {
    const revision = ++this.#revision;
    const { value } = encodeStored(widget(`a/w${String(revision % 7)}`), widgets);
    this.#made.cache.put(`a/w${String(revision % 7)}`, value, revision, 0);
    this.changes.push(revision);
  }

  advance(): void {
    this.#made.log.advance(this.#revision, 0);
  }

  /** `odd`: only of every other object. */
  cursor(odd: boolean): LogCursor {
    const { cache, log } = this.#made;
    const { watchIndex } = cache.log;
    return new LogCursor({
      log,
      watchIndex,
      bucket: watchIndex.join({ by: 'all' }, 10),
      predicate: odd ? ({ name }) => Number(name.slice(1)) % 2 === 1 : undefined,
      mayHold: () => true,
      showsUnreadable: false,
      after: 10,
      state: undefined,
      bookmarkMs: 0,
      counts: new ResourceCounts(),
      onClose: () => undefined,
    });
  }
}

/** What a client has: revisions, in the order of their frames. `busy`: turns that a flush takes. */
class Client implements WatchSink {
  readonly seen: number[] = [];
  #gathered: number[] = [];
  readonly #busy: () => number;
  #busyTurns = 0;
  flushedMost = 0;

  constructor(busy: () => number) {
    this.#busy = busy;
  }

  write(frame: Uint8Array): void {
    this.#gathered.push(Number(Buffer.from(frame).toString()));
  }
  writeAll(frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.write(frame);
  }
  flush(): boolean {
    this.flushedMost = Math.max(this.flushedMost, this.#gathered.length);
    this.seen.push(...this.#gathered);
    this.#gathered = [];
    this.#busyTurns = this.#busy();
    return this.#busyTurns === 0;
  }
  async drained(signal: AbortSignal): Promise<void> {
    for (; this.#busyTurns > 0; this.#busyTurns--) await nextTurn();
    signal.throwIfAborted();
  }
  end(): void {
    this.seen.push(0);
  }
  destroy(): void {
    this.end();
  }
}

/** A frame of so many bytes that shows the revision alone. */
const serializer = (frameBytes = 8): StreamSerializer => ({
  contentType: '',
  variant: String(frameBytes),
  frame: ({ revision }) => Buffer.from(String(revision).padStart(frameBytes)),
  message: (frame) => frame,
  bookmark: () => Buffer.alloc(0),
  error: () => Buffer.alloc(0),
});

function pumpOf(cursor: LogCursor, sink: WatchSink, frames = serializer()) {
  const end = new AbortController();
  const open = { signal: end.signal, labels: {}, responseBytes: 0 } as unknown as RequestContext;
  const metrics = silentRequestMetrics;
  const pump = new WatchPump({
    cursor,
    sink,
    serializer: frames,
    open,
    metrics,
    clock: systemClock,
  });
  return { ended: pump.run(), end, open };
}

test.each([1, 2, 3, 4, 5])(
  'fast and slow clients get all, once, in order (seed %i)',
  async (seed) => {
    const below = random(seed);
    const served = new Served();
    const watches = Array.from({ length: 40 }, (_, index) => {
      const isSlow = index % 4 === 0;
      const client = new Client(() => (isSlow && below(3) === 0 ? 1 + below(20) : 0));
      const isOdd = index % 5 === 0;
      const cursor = served.cursor(isOdd);
      return { client, isOdd, cursor, ...pumpOf(cursor, client) };
    });
    for (let step = 0; step < 200; step++) {
      for (let count = below(4); count > 0; count--) served.change();
      served.advance();
      if (below(2) === 0) await nextTurn();
    }
    const lastOf = (isOdd: boolean): number | undefined =>
      served.changes.findLast((revision) => !isOdd || (revision % 7) % 2 === 1);
    while (watches.some(({ client, isOdd }) => client.seen.at(-1) !== lastOf(isOdd))) {
      await nextTurn();
    }
    for (const { client, isOdd, cursor } of watches) {
      const wanted = served.changes.filter((revision) => !isOdd || (revision % 7) % 2 === 1);
      expect(client.seen).toEqual(wanted);
      cursor.close();
    }
    const endings = await Promise.all(watches.map(({ ended }) => ended));
    expect(endings).toEqual(watches.map(() => ({ reason: undefined, unwrittenCount: 0 })));
  },
);

test('what is larger than a part goes out in parts, each in a turn of its own', async () => {
  const served = new Served();
  for (let count = 0; count < 40; count++) served.change();
  served.advance();
  const client = new Client(() => 0);
  const cursor = served.cursor(false);
  const { open } = pumpOf(cursor, client, serializer(limits.answerChunkBytes / 4));
  expect(client.seen.length).toBe(4);
  while (client.seen.length < 40) await nextTurn();
  expect(client.flushedMost).toBe(4);
  expect(client.seen).toEqual(served.changes);
  expect(open.responseBytes).toBe(10 * limits.answerChunkBytes);
  cursor.close();
});

test.each([
  ['waits for events', 0, 0],
  ['waits for its client', 1_000_000, 0],
])('one that is ended while it %s writes nothing more', async (_what, busyTurns, unwritten) => {
  const served = new Served();
  const client = new Client(() => busyTurns);
  const cursor = served.cursor(false);
  const { ended, end } = pumpOf(cursor, {
    write: (frame) => client.write(frame),
    writeAll: (frames) => client.writeAll(frames),
    flush: () => client.flush(),
    drained: (signal) =>
      new Promise((resolve, reject) => {
        if (busyTurns === 0) resolve();
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
    end: () => undefined,
    destroy: () => undefined,
  });
  served.change();
  served.advance();
  while (client.seen.length === 0) await nextTurn();
  const reason = new Error('the client left');
  end.abort(reason);
  served.change();
  served.advance();
  expect(await ended).toEqual({ reason, unwrittenCount: unwritten });
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(client.seen).toEqual([11]);
  // What it has not taken is still to come for who goes on from its position.
  expect(cursor.position).toBe(11);
  cursor.close();
});

test('a failure of the cursor, and one of a frame, are how it ends', async () => {
  const served = new Served();
  const cursor = served.cursor(false);
  const failed = pumpOf(cursor, new Client(() => 0));
  const gone = expired('the log has passed it');
  cursor.fail(gone);
  expect(await failed.ended).toEqual({ reason: gone, unwrittenCount: 0 });
  const unreadable = new Error('no frame');
  const client = new Client(() => 0);
  const frames = {
    ...serializer(),
    frame: () => {
      throw unreadable;
    },
  };
  const other = served.cursor(false);
  const { ended } = pumpOf(other, client, frames);
  served.change();
  served.change();
  served.advance();
  expect(await ended).toEqual({ reason: unreadable, unwrittenCount: 2 });
  expect(client.seen).toEqual([]);
  other.close();
});
