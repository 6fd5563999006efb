// Writes that a member has given up on, before a real etcd: they are sent once more where they
// cannot happen twice, and their outcome is never made up.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { EtcdStorage } from './etcd-storage.ts';
import type { Transaction } from './storage.ts';
import { EtcdCluster } from './testing/etcd-process.ts';
import { ForgetfulMember } from './testing/forgetful-member.ts';
import type { Forgetting } from './testing/forgetful-member.ts';

let etcd: EtcdCluster;
let member: ForgetfulMember;
let storage: EtcdStorage;
const never = new AbortController().signal;
const bytes = (text: string): Buffer => Buffer.from(text);
const unknown = { code: 504, message: expect.stringContaining('outcome of the write is unknown') };

beforeAll(async () => {
  etcd = await EtcdCluster.start();
  member = await ForgetfulMember.listen(etcd.endpoints[0] ?? '');
});
afterAll(async () => {
  member.close();
  await etcd.stop();
});

let key = '';
let count = 0;
let made = 0;
beforeEach(async () => {
  storage = new EtcdStorage({ endpoints: [member.url, ...etcd.endpoints] });
  key = `/registry/lost/${String(count++)}`;
  const result = await storage.put(key, bytes('first'), { expected: 0 }, never);
  made = result.ok ? result.revision : 0;
  member.transactionCount = 0;
});
afterEach(() => storage.close());

const forgets = (...all: readonly Forgetting[]): void => void member.forgets.push(...all);
async function stored(): Promise<[string | undefined, number | undefined]> {
  const { item } = await storage.get(key, never);
  return [item && Buffer.from(item.value).toString(), item?.modRevision];
}

test('an update that was lost happens once, in the same epoch', async () => {
  const { epoch } = storage;
  forgets('dropped');
  const result = await storage.put(key, bytes('second'), { expected: made, epoch }, never);
  expect(result).toEqual({ ok: true, revision: expect.any(Number) });
  expect(await stored()).toEqual(['second', result.ok ? result.revision : 0]);
  expect(member.transactionCount).toBe(2);
  expect(storage.epoch).toBe(epoch);
});

test('a deletion that was lost happens', async () => {
  forgets('dropped');
  expect(await storage.delete(key, { expected: made }, never)).toMatchObject({ ok: true });
  expect(await stored()).toEqual([undefined, undefined]);
});

test.each<[string, () => Promise<unknown>, string | undefined]>([
  ['an update', () => storage.put(key, bytes('second'), { expected: made }, never), 'second'],
  ['a deletion', () => storage.delete(key, { expected: made }, never), undefined],
])('%s that happened is of unknown outcome, and happens once', async (_what, run, now) => {
  forgets('hidden');
  await expect(run()).rejects.toMatchObject(unknown);
  expect((await stored())[0]).toBe(now);
  expect(member.transactionCount).toBe(2);
});

test('one that is lost twice is of unknown outcome', async () => {
  forgets('dropped', 'dropped');
  const run = storage.put(key, bytes('second'), { expected: made }, never);
  const { epoch } = storage;
  await expect(run).rejects.toMatchObject(unknown);
  expect(member.transactionCount).toBe(2);
  expect(storage.epoch).not.toBe(epoch); // it went on to the next member
  expect(await stored()).toEqual(['first', made]);
});

test('another writer that came between is not overwritten', async () => {
  await storage.put(key, bytes('other'), { expected: made }, never);
  member.transactionCount = 0;
  forgets('dropped');
  const run = storage.put(key, bytes('second'), { expected: made }, never);
  await expect(run).rejects.toMatchObject(unknown);
  expect((await stored())[0]).toBe('other');
});

// Made, deleted by somebody and made again: nobody has asked for that.
test('a create is never sent again', async () => {
  const other = `${key}-new`;
  forgets('dropped');
  const run = storage.put(other, bytes('new'), { expected: 0 }, never);
  await expect(run).rejects.toMatchObject(unknown);
  expect(member.transactionCount).toBe(1);
  expect((await storage.get(other, never)).item).toBeUndefined();
});

test('nor is an update that goes with one', async () => {
  const other = `${key}-new`;
  const both: Transaction = {
    conditions: [
      { key, expected: made },
      { key: other, expected: 0 },
    ],
    changes: [
      { type: 'put', key, value: bytes('second') },
      { type: 'put', key: other, value: bytes('new') },
    ],
  };
  forgets('dropped');
  await expect(storage.transact(both, never)).rejects.toMatchObject(unknown);
  expect(member.transactionCount).toBe(1);
  expect(await stored()).toEqual(['first', made]);
});
