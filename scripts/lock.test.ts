// One process at a time, and a dead one does not block the next.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from './lock.mjs';

let folder: string;
let lock: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  lock = join(folder, 'lock');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('two holders never overlap, and both get their turn', async () => {
  const order: string[] = [];
  const hold = (name: string): Promise<void> =>
    withLock(lock, {}, async () => {
      order.push(`${name} in`);
      await new Promise((resolve) => setTimeout(resolve, 30));
      order.push(`${name} out`);
    });
  await Promise.all([hold('a'), hold('b')]);
  expect(order).toHaveLength(4);
  expect(order[1]).toBe(order[0]?.replace('in', 'out'));
  expect(readdirSync(folder)).toEqual([]);
});

test('a lock of a dead process is taken over', async () => {
  const dead = spawnSync(process.execPath, ['-e', 'process.stdout.write(String(process.pid))']);
  writeFileSync(lock, `${dead.stdout.toString()} 1`);
  expect(await withLock(lock, {}, () => 'done')).toBe('done');
  expect(existsSync(lock)).toBe(false);
});

test('a lock whose process id now belongs to another process is taken over', async () => {
  writeFileSync(lock, `${process.pid} 1`);
  const result = await withLock(lock, { deadlineMs: 2_000 }, () => 'done');
  expect(result).toBe('done');
});

test('failed work releases the lock', async () => {
  await expect(
    withLock(lock, {}, () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(existsSync(lock)).toBe(false);
});

test('a lock held by a living process is waited for, said once, until the deadline', async () => {
  const lines: string[] = [];
  await withLock(lock, {}, async () => {
    const second = withLock(lock, { log: (line) => lines.push(line), deadlineMs: 250 }, () => 1);
    await expect(second).rejects.toThrow(/has been held by process/);
  });
  expect(lines).toHaveLength(1);
});
