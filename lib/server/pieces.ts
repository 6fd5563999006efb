// The pieces of a list's body: its entries, made in turns of a few milliseconds, and what stands
// around them.
import { limits } from '../base/limits.ts';
import { Yielder } from '../base/yielder.ts';
import type { Item } from '../cacher/resource-view.ts';

/** Pieces of one body; `totalBytes` is their sum. */
export interface Pieces {
  readonly totalBytes: number;
  /** The same as a list whose entries are copied to where they belong. */
  readonly framed?: FramedEntries;
  [Symbol.iterator](): Iterator<Uint8Array>;
}

/** Entries of a list, each of which is copied without a view or a copy of its own. */
export interface Entries {
  readonly count: number;
  lengthAt(index: number): number;
  /** Copies the entry to `at` of a buffer with room for it. */
  copyTo(index: number, target: Buffer, at: number): void;
  bytesAt(index: number): Uint8Array;
}

export interface FramedEntries {
  readonly entries: Entries;
  readonly frame: ListFrame;
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
export async function entriesOf<T>(
  items: readonly Item[],
  make: (item: Item) => T,
): Promise<readonly T[]> {
  const entries: T[] = [];
  const yielder = new Yielder(limits.answerTurnMsMax);
  for (const item of items) {
    entries.push(make(item));
    if (yielder.isDue()) await yielder.yield();
  }
  return entries;
}

export const piecesOf = (entries: readonly Uint8Array[], frame: ListFrame): Pieces =>
  framedPieces(madeEntries(entries), frame);

const madeEntries = (entries: readonly Uint8Array[]): Entries => {
  const bytesAt = (index: number): Uint8Array => entries[index] ?? nothing;
  return {
    count: entries.length,
    lengthAt: (index) => bytesAt(index).length,
    copyTo: (index, target, at) => target.set(bytesAt(index), at),
    bytesAt,
  };
};
const nothing = new Uint8Array();

/**
 * `Item.listTail()` of each; undefined: some are yet to be made. @throws StatusError 500 for an
 * item that cannot be read.
 */
export function tailEntries(items: readonly Item[]): Entries | undefined {
  if (!items.every(isTail)) return undefined;
  return {
    count: items.length,
    lengthAt: (index) => items[index]?.listTailBytes ?? 0,
    copyTo: (index, target, at) => items[index]?.copyListTail(target, at),
    bytesAt: (index) => items[index]?.listTail() ?? nothing,
  };
}

type TailItem = Item & Required<Pick<Item, 'listTailBytes' | 'copyListTail'>>;
const isTail = (item: Item): item is TailItem =>
  item.listTailBytes !== undefined && item.copyListTail !== undefined;

export function framedPieces(entries: Entries, frame: ListFrame): Pieces {
  const { open, first, between, close } = frame;
  const { count } = entries;
  let totalBytes = open.length + close.length;
  for (let index = 0; index < count; index++) totalBytes += entries.lengthAt(index);
  if (count > 0) totalBytes += first.length + between.length * (count - 1);
  return {
    totalBytes,
    framed: { entries, frame },
    [Symbol.iterator]: () => eachPiece(entries, frame),
  };
}

function* eachPiece(entries: Entries, frame: ListFrame): Generator<Uint8Array, void> {
  yield frame.open;
  for (let index = 0; index < entries.count; index++) {
    const separator = index === 0 ? frame.first : frame.between;
    if (separator.length > 0) yield separator;
    yield entries.bytesAt(index);
  }
  yield frame.close;
}

export const onePiece = (body: Uint8Array): Pieces => ({
  totalBytes: body.length,
  [Symbol.iterator]: () => [body].values(),
});
