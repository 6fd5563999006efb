// One watcher of the run: starts streams in every way the API knows, cuts them at random, resumes
// them on any server from the last position, and starts over when its position is gone.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';
import { TransportError } from './api-client.ts';
import type { ReadAt, Revision, WatchEvent, WatchRecord, WatchStart } from './history.ts';
import { readQuery, type Operations } from './operations.ts';
import { Random } from './random.ts';
import { asObject, isOfRun, revisionIn, stateIn, type Recorder } from './recorder.ts';
import type { Subject } from './subject.ts';

export interface WatcherOptions {
  readonly watcher: number;
  readonly seed: string;
  readonly servers: readonly ApiClient[];
  readonly namespace: string;
  readonly subject: Subject;
  readonly recorder: Recorder;
  /** Lists on behalf of this watcher. */
  readonly operations: Operations;
  /** A slow watcher rests this long after each event, up to this many milliseconds; 0: never. */
  readonly restMsMax: number;
  /** The longest time after which it cuts a stream by itself. */
  readonly streamMsMax: number;
}

type Ending = WatchRecord['ending']['kind'];

const RETRY_MS = 100;
const FIRST_KINDS = ['list', 'state', 'streamed'] as const;

export class Watcher {
  readonly #options: WatcherOptions;
  readonly #stop = new AbortController();
  /** From where a new stream may resume; undefined: start over. */
  #position: Revision | undefined;
  /** The highest revision shown by any stream, whether or not one can resume there. */
  #reached: Revision = 0;
  #isCalm = false;
  #streamCount = 0;

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  get reached(): Revision {
    return this.#reached;
  }

  /** From now on streams are cut no more, so that the end of the run can be reached. */
  calm(): void {
    this.#isCalm = true;
  }

  stop(): void {
    this.#stop.abort();
  }

  async run(): Promise<void> {
    const { seed, watcher, servers } = this.#options;
    while (!this.#stop.signal.aborted) {
      this.#streamCount += 1;
      const random = new Random(seed, 'watcher', watcher, this.#streamCount);
      const server = random.below(servers.length);
      const start = await this.#chooseStart(random, server);
      const ending = start && (await this.#stream(start, server, random));
      if (ending === undefined || ending === 'failed') await sleep(RETRY_MS);
    }
  }

  async #chooseStart(random: Random, server: number): Promise<WatchStart | undefined> {
    const { recorder, operations, watcher } = this.#options;
    const isResuming = random.chance(0.7);
    if (isResuming && this.#position !== undefined) {
      return { kind: 'after', revision: this.#position };
    }
    // The first streams of a run are of every kind, so that a short run has all of them.
    const isFirst = this.#streamCount === 1;
    const kind = isFirst
      ? FIRST_KINDS[watcher % 3]
      : random.weighted({ list: 4, state: 3, streamed: 3 });
    const mode = random.pick(['latest', 'any', 'notOlderThan'] as const);
    const at: ReadAt = mode === 'notOlderThan' ? { mode, revision: recorder.highest } : { mode };
    if (kind === 'streamed') return { kind, at };
    // Without initial events a watch cannot be asked to be "not older than".
    if (kind === 'state') return { kind, at: mode === 'any' ? at : { mode: 'latest' } };
    const revision = await operations.list(at, { serverOfPage: () => server });
    if (revision === undefined) return undefined;
    this.#reached = Math.max(this.#reached, revision);
    return { kind: 'after', revision };
  }

  async #stream(start: WatchStart, server: number, random: Random): Promise<Ending> {
    const { recorder, watcher, servers, restMsMax, streamMsMax } = this.#options;
    const target = servers[server];
    if (target === undefined) throw new Error(`no server ${server}`);
    const events: WatchEvent[] = [];
    const cut = new AbortController();
    const cutAfterMs = random.below(streamMsMax);
    const timer = setTimeout(() => {
      if (!this.#isCalm) cut.abort();
    }, cutAfterMs);
    const invokedAt = recorder.now();
    let kind: Ending = 'closed';
    let why = '';
    this.#position = start.kind === 'after' ? start.revision : undefined;
    try {
      const signal = AbortSignal.any([cut.signal, this.#stop.signal]);
      for await (const document of target.watch(this.#path(start, random), signal)) {
        const event = this.#read(document);
        if (event === undefined) continue;
        if ('failure' in event) {
          kind = event.failure === 410 ? 'gone' : 'failed';
          why = String(event.failure);
          break;
        }
        events.push(event);
        this.#advance(start, event);
        if (restMsMax > 0 && !this.#isCalm) await sleep(random.below(restMsMax));
      }
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      why = error.message;
      if (this.#stop.signal.aborted) kind = 'stopped';
      else kind = cut.signal.aborted || events.length > 0 ? 'cut' : 'failed';
    } finally {
      clearTimeout(timer);
    }
    if (kind === 'gone') this.#position = undefined;
    const ending = { kind, why, at: recorder.now() };
    recorder.watches.push({ watcher, server, start, invokedAt, events, ending });
    return kind;
  }

  #path(start: WatchStart, random: Random): string {
    const query = start.kind === 'after' ? new URLSearchParams() : readQuery(start.at);
    query.set('watch', '1');
    if (start.kind === 'after') query.set('resourceVersion', String(start.revision));
    if (start.kind === 'streamed') {
      query.set('sendInitialEvents', 'true');
      query.set('resourceVersionMatch', 'NotOlderThan');
    }
    query.set('allowWatchBookmarks', 'true');
    if (random.chance(0.3)) query.set('timeoutSeconds', String(1 + random.below(3)));
    const { namespace, subject } = this.#options;
    const apiPath = random.pick(subject.apiPaths);
    return `${apiPath}/namespaces/${namespace}/${subject.resource}?${query.toString()}`;
  }

  #read(document: unknown): WatchEvent | { failure: number | undefined } | undefined {
    const { type, object: shown } = document as { type?: string; object?: unknown };
    const object = asObject(shown);
    const at = this.#options.recorder.now();
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        return isOfRun(object) ? { type, state: stateIn(object), at } : undefined;
      case 'BOOKMARK': {
        const annotations = Object.entries(object.metadata?.annotations ?? {});
        const endsInitialEvents = annotations.some(
          ([key, value]) => key.endsWith('/initial-events-end') && value === 'true',
        );
        return { type, revision: revisionIn(object), endsInitialEvents, at };
      }
      default:
        return { failure: object.code };
    }
  }

  /** Initial events come in no order that one could resume from; what follows them does. */
  #advance(start: WatchStart, event: WatchEvent): void {
    const revision = event.type === 'BOOKMARK' ? event.revision : event.state.revision;
    this.#options.recorder.saw(revision);
    this.#reached = Math.max(this.#reached, revision);
    const endsInitial =
      start.kind === 'streamed'
        ? event.type === 'BOOKMARK' && event.endsInitialEvents
        : event.type !== 'ADDED';
    if (this.#position !== undefined || endsInitial) this.#position = revision;
  }
}
