import { expect, test } from '@jest/globals';
import { MemoryBudget } from './memory-budget.ts';
import type { MemoOwner, MemoryUse } from './memory-budget.ts';

const owner = (): MemoOwner => ({ kept: undefined });

function budgetOf(limitBytes: number): { budget: MemoryBudget; told: MemoryUse[] } {
  const told: MemoryUse[] = [];
  return { budget: new MemoryBudget(limitBytes, (use) => told.push(use)), told };
}

test('an encoding is made once while kept, and again after it was evicted', () => {
  const { budget } = budgetOf(2_000);
  const first = owner();
  let made = 0;
  const ask = (of: MemoOwner): Uint8Array =>
    budget.encoding(of, 'table', () => {
      made++;
      return new Uint8Array(700);
    });
  expect(ask(first)).toBe(ask(first));
  expect(made).toBe(1);
  budget.nowMs = 5_000;
  const others = [owner(), owner()];
  for (const other of others) ask(other);
  expect(first.kept).toBeUndefined();
  ask(first);
  expect(made).toBe(4);
  expect(budget.use().memoBytes).toBeLessThanOrEqual(2_000);
});

test('an encoding holds no more memory than it counts', () => {
  const { budget } = budgetOf(100_000);
  const page = new Uint8Array(64 * 1024);
  const encoding = budget.encoding(owner(), 'protobuf', () => page.subarray(1_000, 1_700).fill(7));
  expect(encoding.buffer.byteLength).toBe(700);
  expect(encoding).toEqual(Buffer.alloc(700, 7));
  const exact = new Uint8Array(700);
  expect(budget.encoding(owner(), 'protobuf', () => exact)).toBe(exact);
});

test('what was used last stays', () => {
  const { budget } = budgetOf(2_000);
  const owners = [owner(), owner()];
  const make = (): Uint8Array => new Uint8Array(700);
  for (const each of owners) budget.encoding(each, 'table', make);
  budget.nowMs = 5_000;
  budget.encoding(owners[0] ?? owner(), 'table', make);
  budget.encoding(owner(), 'table', make);
  expect(owners.map(({ kept }) => kept === undefined)).toEqual([false, true]);
});

test('a memo that nobody used for a time is dropped', () => {
  const { budget } = budgetOf(1_000_000);
  const [idle, used] = [owner(), owner()];
  const make = (): Uint8Array => new Uint8Array(700);
  for (const each of [idle, used]) budget.encoding(each, 'table', make);
  budget.nowMs = 5_000;
  budget.encoding(used, 'table', make);
  budget.expire(4_999);
  expect([idle.kept, used.kept?.usedMs]).toEqual([undefined, 5_000]);
  expect(budget.use().memoBytes).toBe(used.kept?.bytes);
});

test('decoded objects and encodings of one owner go together', () => {
  const { budget } = budgetOf(100_000);
  const one = owner();
  const object = budget.object(one, 1_000, () => ({ kind: 'Pod' }));
  expect(budget.object(one, 1_000, () => ({ kind: 'Other' }))).toBe(object);
  budget.encoding(one, 'table', () => new Uint8Array(100));
  expect(budget.use().memoBytes).toBeGreaterThan(2_000);
  budget.forget(one);
  expect(budget.use().memoBytes).toBe(0);
  expect(one.kept).toBeUndefined();
});

test('the older of log and memos goes first; current state stays and is reported', () => {
  const { budget, told } = budgetOf(3_000);
  const entries = [{ atMs: 10 }, { atMs: 3_000 }];
  budget.attach({
    get bytes() {
      return entries.length * 1_000;
    },
    oldestMs: () => entries[0]?.atMs,
    evictOldest: () => void entries.shift(),
  });
  budget.nowMs = 1_500;
  const one = owner();
  budget.encoding(one, 'table', () => new Uint8Array(700));
  expect(entries.length).toBe(2);
  budget.addState(1_000);
  budget.settle();
  expect([entries.length, one.kept === undefined]).toEqual([1, false]);
  budget.addState(1_000);
  budget.settle();
  expect([entries.length, one.kept === undefined]).toEqual([1, true]);
  budget.addState(3_000);
  budget.settle();
  expect(entries.length).toBe(0);
  expect(told.map(({ isOver }) => isOver)).toEqual([true]);
  budget.addState(-4_000);
  budget.settle();
  expect(told.map(({ isOver }) => isOver)).toEqual([true, false]);
});

test('a decoded object goes alone, and takes its bytes along', () => {
  const { budget } = budgetOf(100_000);
  const [bare, encoded] = [owner(), owner()];
  for (const each of [bare, encoded]) budget.object(each, 1_000, () => ({ kind: 'Pod' }));
  budget.encoding(encoded, 'table', () => new Uint8Array(100));
  for (const each of [bare, encoded]) budget.forgetObject(each);
  expect(bare.kept).toBeUndefined();
  expect(encoded.kept?.object).toBeUndefined();
  expect(budget.use().memoBytes).toBe(encoded.kept?.bytes);
  expect(budget.use().memoBytes).toBeLessThan(1_000);
  budget.forgetObject(encoded);
  expect(budget.use().memoBytes).toBe(encoded.kept?.bytes);
});
