// A log file that makes room for itself: when it is full it is renamed by the time, and older ones
// are compressed and removed. Names and rules are those of kube-apiserver's audit log.
import { createReadStream, createWriteStream, mkdirSync, openSync, fstatSync } from 'node:fs';
import { access, readdir, rename, rm, stat } from 'node:fs/promises';
import { close as closeFile, write as writeFile } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import type { Clock } from '../base/clock.ts';
import type { ByteSink } from './byte-sink.ts';

export interface LogFileOptions {
  readonly bytesMax: number;
  /** Days that older files are kept; 0: for ever. */
  readonly daysMax: number;
  /** Older files that are kept; 0: all. */
  readonly olderCountMax: number;
  /** Older files are compressed by gzip. */
  readonly compress: boolean;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Told when older files cannot be compressed or removed: nothing is lost by that. */
  readonly failed: (error: Error) => void;
}

const dayMs = 24 * 60 * 60 * 1_000;
const newline = Buffer.from('\n');
const writeBytes = promisify(writeFile);
const closeDescriptor = promisify(closeFile);

export class LogFile implements ByteSink {
  readonly #path: string;
  readonly #options: LogFileOptions;
  #descriptor: number;
  #byteCount: number;
  /** The last write failed within a line. */
  #isTorn = false;
  #tidying: Promise<void> | undefined;
  #isTidyDue = false;

  /** Goes on with a file that is there. @throws Error of the file system */
  constructor(path: string, options: LogFileOptions) {
    this.#path = path;
    this.#options = options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#descriptor = openSync(path, 'a', 0o600);
    this.#byteCount = fstatSync(this.#descriptor).size;
    this.#tidySoon();
  }

  async write(bytes: Uint8Array): Promise<void> {
    const { bytesMax } = this.#options;
    const isFull = this.#byteCount > 0 && this.#byteCount + bytes.length > bytesMax;
    if (isFull) await this.#rotate();
    await this.#append(this.#isTorn ? Buffer.concat([newline, bytes]) : bytes);
  }

  async close(): Promise<void> {
    await this.#tidying;
    await closeDescriptor(this.#descriptor);
  }

  async #append(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      try {
        const { bytesWritten } = await writeBytes(this.#descriptor, bytes, written);
        written += bytesWritten;
        this.#byteCount += bytesWritten;
      } catch (error) {
        this.#isTorn ||= written > 0;
        throw error;
      }
    }
    this.#isTorn = false;
  }

  /** What fails leaves the old one in use; one that somebody took away need not be renamed. */
  async #rotate(): Promise<void> {
    if (await exists(this.#path)) await rename(this.#path, await this.#olderPath());
    const old = this.#descriptor;
    this.#descriptor = openSync(this.#path, 'a', 0o600);
    this.#byteCount = fstatSync(this.#descriptor).size;
    this.#isTorn = false;
    await closeDescriptor(old);
    this.#tidySoon();
  }

  /** A name that no file has, nor one that was compressed. */
  async #olderPath(): Promise<string> {
    const { prefix, extension } = this.#names();
    for (let atMs = this.#options.clock.nowMs(); ; atMs++) {
      const time = new Date(atMs).toISOString().slice(0, -1).replaceAll(':', '-');
      const path = join(dirname(this.#path), `${prefix}${time}${extension}`);
      if (!(await exists(path)) && !(await exists(`${path}.gz`))) return path;
    }
  }

  #names(): { readonly prefix: string; readonly extension: string } {
    const extension = extname(this.#path);
    return { prefix: `${basename(this.#path, extension)}-`, extension };
  }

  #tidySoon(): void {
    this.#isTidyDue = true;
    this.#tidying ??= this.#tidy().finally(() => (this.#tidying = undefined));
  }

  async #tidy(): Promise<void> {
    while (this.#isTidyDue) {
      this.#isTidyDue = false;
      try {
        await this.#tidyOnce();
      } catch (error) {
        this.#options.failed(error as Error);
      }
    }
  }

  async #tidyOnce(): Promise<void> {
    const { daysMax, olderCountMax, compress, clock } = this.#options;
    if (daysMax === 0 && olderCountMax === 0 && !compress) return;
    const older = await this.#older();
    const earliestMs = daysMax === 0 ? -Infinity : clock.nowMs() - daysMax * dayMs;
    const countMax = olderCountMax === 0 ? Infinity : olderCountMax;
    for (const [index, { path, atMs, isCompressed }] of older.entries()) {
      if (index >= countMax || atMs < earliestMs) await rm(path, { force: true });
      else if (compress && !isCompressed) await compressFile(path);
    }
  }

  /** Latest first. */
  async #older(): Promise<readonly OlderFile[]> {
    const { prefix, extension } = this.#names();
    const folder = dirname(this.#path);
    const found: OlderFile[] = [];
    for (const name of await readdir(folder)) {
      const isCompressed = name.endsWith(`${extension}.gz`);
      const ending = isCompressed ? `${extension}.gz` : extension;
      if (!name.startsWith(prefix) || !name.endsWith(ending)) continue;
      const atMs = timeIn(name.slice(prefix.length, name.length - ending.length));
      if (atMs !== undefined) found.push({ path: join(folder, name), atMs, isCompressed });
    }
    return found.sort((a, b) => b.atMs - a.atMs);
  }
}

interface OlderFile {
  readonly path: string;
  readonly atMs: number;
  readonly isCompressed: boolean;
}

/** `2026-01-02T15-04-05.000`; undefined: the file is somebody else's. */
function timeIn(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(text);
  if (match === null) return undefined;
  const [, day = '', hour = '', minute = '', second = ''] = match;
  const atMs = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(atMs) ? undefined : atMs;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** The file stays until all of it is in the compressed one. */
async function compressFile(path: string): Promise<void> {
  const { mode } = await stat(path);
  const target = `${path}.gz`;
  try {
    await pipeline(createReadStream(path), createGzip(), createWriteStream(target, { mode }));
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
  await rm(path);
}
