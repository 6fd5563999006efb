import { expect, test } from '@jest/globals';
import type { Item } from '../../cacher/resource-view.ts';
import type { Epoch } from '../../storage-etcd/storage.ts';
import { KnownQuotas } from './known-quotas.ts';

const epoch: Epoch = { history: 1, replacedUpTo: 0 };
const later: Epoch = { history: 1, replacedUpTo: 0 };
const item = (name: string, revision: number, corrupted = false): Item =>
  ({ name, revision, corrupted }) as Item; // all that is looked at
const at = (name: string, revision: number) => ({ revision, item: item(name, revision) });
const gone = (revision: number) => ({ revision, item: undefined });

function memoryOf(...items: readonly Item[]) {
  const memory = { items, epoch: epoch as Epoch | undefined };
  const view = {
    get epoch() {
      return memory.epoch;
    },
    all: () => memory.items,
  };
  const quotas = new KnownQuotas(view, 'n');
  const shown = (in_ = epoch) =>
    quotas.in(in_)?.map(({ name, revision }) => `${name}${String(revision)}`);
  return { memory, quotas, shown };
}

test('of memory and what transactions told the newer is known, in the order of names', () => {
  const { memory, quotas, shown } = memoryOf(item('a', 5), item('b', 5));
  quotas.tell('a', at('a', 7), epoch);
  quotas.tell('c', at('c', 6), epoch);
  quotas.tell('b', at('b', 4), epoch);
  expect(shown()).toEqual(['a7', 'b5', 'c6']);
  memory.items = [item('a', 9), item('b', 5), item('c', 6)];
  expect(shown()).toEqual(['a9', 'b5', 'c6']);
  memory.items = [item('b', 5)];
  expect(shown()).toEqual(['b5']);
});

test('what a transaction found gone is gone, until memory shows another one', () => {
  const { memory, quotas, shown } = memoryOf(item('a', 5));
  quotas.tell('a', gone(5), epoch);
  expect(shown()).toEqual([]);
  memory.items = [item('a', 8)];
  expect(shown()).toEqual(['a8']);
});

test('what was read as a whole leaves nothing else', () => {
  const { memory, quotas, shown } = memoryOf(item('a', 5), item('b', 5));
  quotas.tell('c', at('c', 6), epoch);
  quotas.tellAll([item('a', 7)], 8, epoch);
  expect(shown()).toEqual(['a7']);
  memory.items = [item('a', 7), item('b', 9)];
  expect(shown()).toEqual(['a7', 'b9']);
});

test('nothing is kept from an epoch that is over, or known while memory is behind', () => {
  const { memory, quotas, shown } = memoryOf(item('a', 5));
  quotas.tell('a', at('a', 9), epoch);
  expect(shown(later)).toBeUndefined();
  memory.epoch = later;
  expect(shown(later)).toEqual(['a5']);
});

test('those that cannot be read are left out', () => {
  expect(memoryOf(item('a', 5, true), item('b', 5)).shown()).toEqual(['b5']);
});
