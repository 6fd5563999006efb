import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { FollowedFile } from './followed-file.ts';

describe('FollowedFile', () => {
  let folder = '';
  let path = '';
  let followed: FollowedFile | undefined;
  const texts: string[] = [];
  const problems: string[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'apiserver-followed-'));
    path = join(folder, 'config.yaml');
    writeFileSync(path, 'one');
    texts.length = 0;
    problems.length = 0;
  });
  afterEach(() => {
    followed?.close();
    rmSync(folder, { recursive: true });
  });

  /** Resolves when it was told of as many texts. */
  const follow = (count: number, clock: Clock = systemClock): Promise<void> =>
    new Promise((resolve) => {
      followed = new FollowedFile(path, {
        clock,
        text: 'one',
        changed: (text) => {
          texts.push(text);
          if (texts.length === count) resolve();
        },
        failed: ({ message }) => void problems.push(message),
      });
    });

  test('on file change: one that was written is read at once', async () => {
    const told = follow(1);
    writeFileSync(path, 'two');
    await told;
    expect(texts).toEqual(['two']);
  });

  test('on file change: one that was put in its place is read at once', async () => {
    const told = follow(1);
    writeFileSync(join(folder, 'other'), 'two');
    renameSync(join(folder, 'other'), path);
    await told;
    expect(texts).toEqual(['two']);
  });

  test('every 60 seconds it is read where the file system tells nothing', async () => {
    const timers: { delayMs: number; run: () => void }[] = [];
    const clock: Clock = {
      ...systemClock,
      after: (delayMs, run) => {
        timers.push({ delayMs, run });
        return () => undefined;
      },
    };
    const told = follow(1, clock);
    writeFileSync(path, 'two');
    const minute = timers.find(({ delayMs }) => delayMs === 60_000);
    minute?.run();
    await told;
    expect(texts).toEqual(['two']);
  });

  test('what is thrown at a change is a failure, each time', async () => {
    const failures: string[] = [];
    followed = new FollowedFile(path, {
      clock: systemClock,
      text: 'one',
      changed: (text) => Promise.reject(new Error(`${text} is useless`)),
      failed: ({ message }) => void failures.push(message),
    });
    for (const text of ['two', 'three', 'two']) {
      writeFileSync(path, text);
      await followed.look();
      await followed.look();
    }
    expect(failures).toEqual(['two is useless', 'three is useless', 'two is useless']);
  });

  test('the same text is no change, and a file that is gone is told once', async () => {
    void follow(1);
    writeFileSync(path, 'one');
    await followed?.look();
    unlinkSync(path);
    await followed?.look();
    await followed?.look();
    expect(texts).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('ENOENT');
  });
});
