// Configuration in files that is read again when it changes: as soon as the file system tells, and
// every 60 seconds where it does not (specification 3, Configuration file changed).
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';

/** Told of each attempt to put files in force; `text` is theirs, where it is in force now. */
export type OnReload = (result: { readonly text: string } | 'failure') => void;

export interface FollowingOptions {
  readonly clock: Clock;
  /** What is in force; it is not told. */
  readonly text: string;
  /**
   * Told of each text that differs from the one before, one at a time. It throws, or rejects with,
   * what makes the text useless.
   */
  readonly changed: (text: string) => Promise<void> | void;
  /**
   * Told of what `changed` throws, and once of each new reason why nothing can be read; what
   * was in force stays.
   */
  readonly failed: (error: Error) => void;
}

/** Where the text comes from. */
export interface Source {
  /** Whose changes are watched: editors and mounts replace files. */
  readonly folder: string;
  /** Whether a change of this name in the folder may be one of the text. */
  concerns(name: string): boolean;
  read(): Promise<string>;
}

/** Looks until it is closed. */
export class FollowedSource {
  readonly #source: Source;
  readonly #options: FollowingOptions;
  readonly #watcher: FSWatcher | undefined;
  #text: string;
  #lastProblem: string | undefined;
  #looking: Promise<void> | undefined;
  #isStale = false;
  #isClosed = false;
  #cancel: () => void = () => undefined;
  #cancelSoon: () => void = () => undefined;

  constructor(source: Source, options: FollowingOptions) {
    this.#source = source;
    this.#options = options;
    this.#text = options.text;
    this.#watcher = this.#watch();
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
    this.#cancelSoon();
    this.#watcher?.close();
  }

  /** Resolves when what is there now was read and told of. */
  async look(): Promise<void> {
    this.#isStale = true;
    this.#looking ??= this.#lookWhileStale().finally(() => (this.#looking = undefined));
    await this.#looking;
  }

  async #lookWhileStale(): Promise<void> {
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      await this.#lookOnce();
    }
  }

  async #lookOnce(): Promise<void> {
    const { changed, failed } = this.#options;
    try {
      const text = await this.#source.read();
      this.#lastProblem = undefined;
      if (text === this.#text || this.#isClosed) return;
      this.#text = text;
      await changed(text);
    } catch (error) {
      const problem = (error as Error).message;
      if (problem === this.#lastProblem || this.#isClosed) return;
      this.#lastProblem = problem;
      failed(error as Error);
    }
  }

  /**
   * undefined: the file system tells nothing. Any event of the folder counts: a mounted
   * configuration changes by a link beside the file.
   */
  #watch(): FSWatcher | undefined {
    try {
      const { folder } = this.#source;
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || name.startsWith('..') || this.#source.concerns(name)) this.#soon();
      });
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      return undefined;
    }
  }

  #soon(): void {
    this.#cancelSoon();
    const { clock } = this.#options;
    this.#cancelSoon = clock.after(limits.configFileSettleMs, () => void this.look());
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#options.clock.after(limits.configFilesIntervalMs, () => {
      void this.look().finally(() => this.#schedule());
    });
  }
}
