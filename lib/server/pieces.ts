// The pieces of a list's body: its entries, made in turns of a few milliseconds, and what stands
// around them.
import { limits } from '../base/limits.ts';
import { Yielder } from '../base/yielder.ts';
import type { Item } from '../cacher/resource-view.ts';

/** Pieces of one body; `totalBytes` is their sum. */
export interface Pieces {
  readonly totalBytes: number;
  [Symbol.iterator](): Iterator<Uint8Array>;
}

/**
 * What stands before, between and after the entries of a list; `first` comes right before the first
 * one.
 */
export interface ListFrame {
  readonly open: Uint8Array;
  readonly first: Uint8Array;
  readonly between: Uint8Array;
  readonly close: Uint8Array;
}

/** What `make` makes of each item, in turns. */
export async function entriesOf(
  items: readonly Item[],
  make: (item: Item) => Uint8Array,
): Promise<readonly Uint8Array[]> {
  const entries: Uint8Array[] = [];
  const yielder = new Yielder(limits.answerTurnMsMax);
  for (const item of items) {
    entries.push(make(item));
    if (yielder.isDue()) await yielder.yield();
  }
  return entries;
}

export function piecesOf(entries: readonly Uint8Array[], frame: ListFrame): Pieces {
  const { open, first, between, close } = frame;
  let totalBytes = open.length + close.length;
  for (const entry of entries) totalBytes += entry.length;
  if (entries.length > 0) totalBytes += first.length + between.length * (entries.length - 1);
  return {
    totalBytes,
    *[Symbol.iterator]() {
      yield open;
      let separator = first;
      for (const entry of entries) {
        if (separator.length > 0) yield separator;
        yield entry;
        separator = between;
      }
      yield close;
    },
  };
}

export const onePiece = (body: Uint8Array): Pieces => ({
  totalBytes: body.length,
  [Symbol.iterator]: () => [body].values(),
});
