// The folder of one replica (`--data-dir`): one server at a time, private files readable by their
// owner alone.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from '../../lib/base/log.ts';
import { FlagError } from '../../lib/config/flags.ts';
import { fileProblem } from './file-problem.ts';
import { identify, isAlive } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

const lockName = 'apiserver.lock';

export class DataDirectory {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** @throws FlagError when another server uses the folder, or when it cannot be used at all. */
  static open(path: string): DataDirectory {
    const directory = new DataDirectory(resolve(path));
    orRefuse(directory.path, () => {
      mkdirSync(directory.path, { recursive: true, mode: 0o700 });
      directory.#lock();
    });
    return directory;
  }

  /** As above, in a folder that the parent of this process has opened. */
  static ofParent(path: string): DataDirectory {
    return new DataDirectory(resolve(path));
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** undefined: there is none. @throws FlagError when it cannot be read. */
  read(name: string): string | undefined {
    const file = this.file(name);
    return orRefuse(file, () => {
      try {
        return readFileSync(file, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    });
  }

  /** Replaces the file in one step; mode 0600. @throws FlagError when it cannot be written. */
  writePrivate(name: string, text: string): void {
    const file = this.file(name);
    orRefuse(file, () => {
      const temporary = `${file}.${String(process.pid)}.new`; // workers write the same file
      writeFileSync(temporary, text, { mode: 0o600 });
      renameSync(temporary, file);
    });
  }

  /** @throws FlagError when it is there and cannot be removed. */
  remove(name: string): void {
    const file = this.file(name);
    orRefuse(file, () => rmSync(file, { force: true }));
  }

  release(): void {
    this.remove(lockName);
  }

  #lock(): void {
    const lock = this.file(lockName);
    const draft = this.file(`${lockName}.${String(process.pid)}`);
    // Written aside and linked into place, so that nobody reads a lock that is half written.
    writeFileSync(draft, JSON.stringify(identify(process.pid)), { mode: 0o600 });
    try {
      while (!linked(draft, lock)) this.#removeStale(lock);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  /**
   * Takes away the lock of a server that was killed. Two starts may see the same one: each moves
   * the file to a name of its own, and the one that caught the other's new lock puts it back.
   */
  #removeStale(lock: string): void {
    this.#refuseLiving(this.read(lockName));
    const taken = `${lock}.${String(process.pid)}.stale`;
    try {
      renameSync(lock, taken);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    try {
      const owner = parseIdentity(readFileSync(taken, 'utf8'));
      if (owner !== undefined && isAlive(owner)) linked(taken, lock);
    } finally {
      rmSync(taken, { force: true });
    }
  }

  #refuseLiving(text: string | undefined): void {
    const owner = parseIdentity(text);
    if (owner === undefined || !isAlive(owner)) return;
    throw new FlagError(
      `--data-dir=${this.path} is in use by process ${String(owner.pid)}: ` +
        'stop that server, or give this one another --data-dir and --secure-port',
    );
  }
}

/** A read-only disk keeps no server from ending well: the next start knows a dead lock. */
export function releaseOrWarn(directory: DataDirectory, logger: Logger): void {
  try {
    directory.release();
  } catch (error) {
    logger.warn('the lock of --data-dir stays', { reason: String(error) });
  }
}

/** @throws FlagError that says why the file or folder cannot be used. */
function orRefuse<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof FlagError) throw error;
    throw new FlagError(`--data-dir: ${file}: ${fileProblem(error)}`, { cause: error });
  }
}

/** False: the name is taken. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** undefined for anything that is no identity (an empty or cut file). */
export function parseIdentity(text: string | undefined): ProcessIdentity | undefined {
  try {
    const value = JSON.parse(text ?? '') as Partial<ProcessIdentity> | null;
    if (typeof value?.pid !== 'number' || typeof value.startedAt !== 'string') return undefined;
    return { pid: value.pid, startedAt: value.startedAt };
  } catch {
    return undefined;
  }
}
