// The folder of one replica (`--data-dir`): one server at a time, private files readable by their owner alone.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { FlagError } from '../../lib/config/flags.ts';
import { identify, isAlive } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

const lockName = 'apiserver.lock';

export class DataDirectory {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** @throws FlagError when another server uses the folder, or when it cannot be made. */
  static open(path: string): DataDirectory {
    const directory = new DataDirectory(resolve(path));
    try {
      mkdirSync(directory.path, { recursive: true, mode: 0o700 });
    } catch (error) {
      const message = `--data-dir=${path}: cannot make the folder: ${(error as Error).message}`;
      throw new FlagError(message, { cause: error });
    }
    directory.#lock();
    return directory;
  }

  file(name: string): string {
    return join(this.path, name);
  }

  read(name: string): string | undefined {
    const file = this.file(name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  /** Replaces the file in one step; mode 0600. */
  writePrivate(name: string, text: string): void {
    const temporary = this.file(`${name}.new`);
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, this.file(name));
  }

  remove(name: string): void {
    rmSync(this.file(name), { force: true });
  }

  release(): void {
    this.remove(lockName);
  }

  #lock(): void {
    for (;;) {
      try {
        const handle = openSync(this.file(lockName), 'wx', 0o600);
        writeFileSync(handle, JSON.stringify(identify(process.pid)));
        closeSync(handle);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const owner = parseIdentity(this.read(lockName));
      if (owner !== undefined && isAlive(owner)) {
        throw new FlagError(
          `--data-dir=${this.path} is in use by process ${String(owner.pid)}: ` +
            'stop that server, or give this one another --data-dir and --secure-port',
        );
      }
      this.remove(lockName); // its owner was killed
    }
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
