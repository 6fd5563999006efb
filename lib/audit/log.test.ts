import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { PassThrough } from 'node:stream';
import { streamSink } from './byte-sink.ts';
import type { ByteSink } from './byte-sink.ts';
import { LogFile } from './log-file.ts';
import type { LogFileOptions } from './log-file.ts';
import { LogWriter } from './log-writer.ts';
import { eventOf } from './testing/recorder.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-log-'));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true, force: true });
});

const day = 24 * 60 * 60 * 1_000;
const startMs = Date.parse('2026-03-04T05:06:07.000Z');
let nowMs = startMs;
const pathOf = (): string => join(folder, 'logs', 'audit.log');
const namesIn = (): string[] => readdirSync(join(folder, 'logs')).sort();
const textIn = (name: string): string => readFileSync(join(folder, 'logs', name), 'utf8');

function openFile(given: Partial<LogFileOptions> = {}): LogFile {
  nowMs = startMs;
  return new LogFile(pathOf(), {
    bytesMax: 10,
    daysMax: 0,
    olderCountMax: 0,
    compress: false,
    clock: { nowMs: () => nowMs },
    failed: (error) => {
      throw error;
    },
    ...given,
  });
}
const write = (file: LogFile, text: string): Promise<void> => file.write(Buffer.from(text));

describe('a log file', () => {
  test('is made with its folder, for its owner alone, and goes on with what is there', async () => {
    const first = openFile();
    await write(first, 'one\n');
    await first.close();
    const second = openFile();
    await write(second, 'two\n');
    await second.close();
    expect(textIn('audit.log')).toBe('one\ntwo\n');
    expect(statSync(pathOf()).mode & 0o777).toBe(0o600);
  });

  test('is renamed by the time when the next line does not fit', async () => {
    const file = openFile();
    for (const text of ['12345678\n', 'next\n', 'fits\n', 'last\n']) {
      await write(file, text);
      nowMs += 1_000;
    }
    await file.close();
    expect(namesIn()).toEqual([
      'audit-2026-03-04T05-06-08.000.log',
      'audit-2026-03-04T05-06-10.000.log',
      'audit.log',
    ]);
    expect(textIn('audit-2026-03-04T05-06-08.000.log')).toBe('12345678\n');
    expect(textIn('audit-2026-03-04T05-06-10.000.log')).toBe('next\nfits\n');
    expect(textIn('audit.log')).toBe('last\n');
  });

  test('loses nothing of what is rotated at once, and writes what is too long', async () => {
    const file = openFile();
    for (const text of ['a', 'b', 'c']) await write(file, text.repeat(20));
    await file.close();
    expect(namesIn().map((name) => textIn(name)[0])).toEqual(['a', 'b', 'c']);
  });

  test('keeps so many older ones, the latest, and files of others', async () => {
    const file = openFile({ olderCountMax: 2 });
    writeFileSync(join(folder, 'logs', 'audit-notes.log'), 'mine');
    for (const text of ['a', 'b', 'c', 'd']) {
      await write(file, text.repeat(10));
      nowMs += 1_000;
    }
    await file.close();
    const texts = namesIn().map((name) => textIn(name)[0]);
    expect(texts).toEqual(['b', 'c', 'm', 'd']);
  });

  test('keeps older ones for so many days', async () => {
    const file = openFile({ daysMax: 2 });
    await write(file, 'a'.repeat(10));
    nowMs += day;
    await write(file, 'b'.repeat(10)); // a was rotated on day 1
    nowMs += 2 * day + 1;
    await write(file, 'c'.repeat(10)); // b on day 3
    await file.close();
    expect(namesIn().map((name) => textIn(name)[0])).toEqual(['b', 'c']);
  });

  test('removes what is too old when it is opened', async () => {
    const file = openFile();
    await write(file, 'a'.repeat(10));
    await write(file, 'b');
    await file.close();
    const old = namesIn()[0] ?? '';
    const other = old.replace('2026', '2020');
    renameSync(join(folder, 'logs', old), join(folder, 'logs', other));
    await openFile({ daysMax: 30 }).close();
    expect(namesIn()).toEqual(['audit.log']);
  });

  test('compresses older ones, with all that is in them', async () => {
    const file = openFile({ compress: true, olderCountMax: 5 });
    await write(file, 'a'.repeat(10));
    await write(file, 'b'.repeat(10));
    await file.close();
    const [name = ''] = namesIn();
    expect(name).toBe('audit-2026-03-04T05-06-07.000.log.gz');
    const packed = readFileSync(join(folder, 'logs', name));
    expect(gunzipSync(packed).toString()).toBe('a'.repeat(10));
    expect(statSync(join(folder, 'logs', name)).mode & 0o777).toBe(0o600);
  });

  test('that cannot be opened says why', () => {
    writeFileSync(join(folder, 'logs'), '');
    expect(() => openFile()).toThrow(/EEXIST|ENOTDIR/);
  });

  test('that somebody took away is made anew', async () => {
    const file = openFile();
    await write(file, 'a'.repeat(10));
    rmSync(pathOf());
    await write(file, 'b');
    await file.close();
    expect(namesIn()).toEqual(['audit.log']);
    expect(textIn('audit.log')).toBe('b');
  });

  test('that cannot be renamed fails the write, and is in use for the next one', async () => {
    const file = openFile();
    await write(file, 'a'.repeat(10));
    chmodSync(join(folder, 'logs'), 0o500);
    const isRefused = await write(file, 'b').then(
      () => false,
      () => true,
    );
    chmodSync(join(folder, 'logs'), 0o700);
    await write(file, 'c');
    await file.close();
    // A user who may do everything is not refused.
    expect(textIn('audit.log')).toBe(isRefused ? 'c' : 'bc');
  });
});

test('standard output gets the lines, and stays open', async () => {
  const stream = new PassThrough();
  const writer = new LogWriter(streamSink(stream), { format: 'json', apiVersion: 'v' });
  await writer.write([eventOf()]);
  await writer.close(10);
  expect(String(stream.read())).toMatch(/^\{"kind":"Event".*\n$/);
  expect(stream.writableEnded).toBe(false);
});

describe('the writer', () => {
  const format = { format: 'json', apiVersion: 'audit.test/v1' } as const;

  test('makes a line of each event, in order, however many are written at a time', async () => {
    const writer = new LogWriter(openFile({ bytesMax: 1_000_000 }), format);
    const ids = Array.from({ length: 200 }, (_, index) => `id-${String(index)}`);
    await Promise.all(
      ids.map(async (auditID, index) => {
        if (index % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
        await writer.write([eventOf({ auditID })]);
        expect(textIn('audit.log')).toContain(`"${auditID}"`); // written before it is told
      }),
    );
    await writer.close(1_000);
    const lines = textIn('audit.log').trimEnd().split('\n');
    const found = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(found.map(({ auditID }) => auditID).sort()).toEqual([...ids].sort());
    expect(lines[0]).toMatch(/^\{"kind":"Event","apiVersion":"audit.test\/v1","level":"Metadata",/);
  });

  test('writes the older format', async () => {
    const writer = new LogWriter(openFile({ bytesMax: 10_000 }), { ...format, format: 'legacy' });
    await writer.write([eventOf(), eventOf()]);
    await writer.close(1_000);
    expect(textIn('audit.log')).toMatch(/^(\S+Z AUDIT: id="a-1" .*\n){2}$/);
  });

  test('tells whoever wrote of a failure, and goes on', async () => {
    const taken: string[] = [];
    const sink: ByteSink = {
      write(bytes) {
        if (taken.push(Buffer.from(bytes).toString()) === 1) throw new Error('no space');
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    };
    const writer = new LogWriter(sink, format);
    await expect(writer.write([eventOf()])).rejects.toThrow('no space');
    await writer.write([eventOf({ auditID: 'second' })]);
    expect(taken[1]).toContain('"second"');
    await writer.close(10);
  });
});
