// A file of configuration that is read again when it changes.
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { FollowedSource } from './followed-source.ts';
import type { FollowingOptions } from './followed-source.ts';

/** Looks until it is closed. */
export class FollowedFile {
  readonly #source: FollowedSource;

  constructor(path: string, options: FollowingOptions) {
    const name = basename(path);
    const source = {
      folder: dirname(path),
      concerns: (changed: string) => changed === name,
      read: () => readFile(path, 'utf8'),
    };
    this.#source = new FollowedSource(source, options);
  }

  close(): void {
    this.#source.close();
  }

  /** Resolves when the file as it is now was read and told of. */
  look(): Promise<void> {
    return this.#source.look();
  }
}
