// One gRPC watch stream: compares its beginning with the tail of the stream before, joins
// fragments, checks the order of revisions, queues what was not yet taken. It ends (for any reason
// but compaction and disorder, which throw 410) and is then replaced, never repaired.
import { limits } from '../base/limits.ts';
import { abortable } from '../base/abort.ts';
import { expired } from '../base/status.ts';
import type { EtcdConnection } from './connection.ts';
import type { Endpoint } from './endpoint.ts';
import { prefixEnd } from './keys.ts';
import { toItem } from './range.ts';
import { eventTypeDelete, streamWatchId } from './rpc.ts';
import type { EtcdEvent, WatchRequest, WatchResponse } from './rpc.ts';
import type { Epoch, Revision, StorageEvent, WatchBatch } from './storage.ts';
import type { MessageStream } from './transport/channel.ts';
import type { WatchTail } from './watch-tail.ts';

export interface WatchSessionOptions {
  readonly prefix: string;
  readonly after: Revision;
  /** Ends with the session. */
  readonly epoch: Epoch;
  /** The last events up to `after`: a new stream has to repeat them, and later ones are added. */
  readonly tail: WatchTail;
  readonly previousValues: boolean;
  readonly silenceMs: number;
}

const { etcdWatchQueuedBytesMax, etcdAskAgainMs } = limits;

export class WatchSession {
  readonly #connection: EtcdConnection;
  readonly #endpoint: Endpoint;
  readonly #call: MessageStream<WatchRequest>;
  readonly #after: Revision;
  readonly #epoch: Epoch;
  readonly #tail: WatchTail;
  /** Events below it were not asked for. */
  readonly #start: Revision;
  /** The events of the tail come first, and must be as they were. */
  #isRepeating: boolean;
  readonly #liveness: NodeJS.Timeout;
  readonly #stopListening: () => void;
  /** Highest revision received whole: of an event, or of progress. */
  #position: Revision;
  #fragments: EtcdEvent[] = [];
  #queue: StorageEvent[] = [];
  #queuedBytes = 0;
  #hasNews = false;
  #wake: (() => void) | undefined;
  #failure: Error | undefined;
  #isCreated = false;
  #progress: 'none' | 'wanted' | 'asked' | 'askedAndWanted' = 'none';
  #isSilent = false;
  #askAgain: NodeJS.Timeout | undefined;
  #endReason: string | undefined;

  constructor(connection: EtcdConnection, endpoint: Endpoint, options: WatchSessionOptions) {
    this.#connection = connection;
    this.#endpoint = endpoint;
    this.#after = options.after;
    this.#epoch = options.epoch;
    this.#tail = options.tail;
    this.#isRepeating = !options.tail.isEmpty;
    options.tail.rewind();
    // One revision early where nothing is known: etcd answers no progress request below the start,
    // so a quiet store would look dead; and it may lose deletions at a start that is being
    // compacted (etcd#18089, #19179).
    this.#start = this.#isRepeating ? options.tail.start : Math.max(options.after, 1);
    this.#position = options.after;
    this.#call = endpoint.openWatch({
      message: (response) => {
        this.#receive(response);
      },
      ended: (error) => {
        // A cut connection or a member without a leader; the next session asks the next member.
        if (error !== undefined) this.#connection.leave(this.#endpoint);
        this.end(error?.message ?? 'etcd ended the stream');
      },
    });
    this.#call.send({
      create_request: {
        key: options.prefix,
        range_end: prefixEnd(options.prefix),
        start_revision: this.#start,
        progress_notify: true,
        prev_kv: options.previousValues,
        fragment: true,
      },
    });
    this.#stopListening = connection.fence.onEpoch((fenced) => {
      this.end(fenced === undefined ? 'its connection is gone' : 'the store was replaced');
    });
    this.#liveness = setInterval(() => {
      this.#checkLiveness();
    }, options.silenceMs);
    this.#liveness.unref();
  }

  /** Why the session ended; for logs. */
  get endReason(): string {
    return this.#endReason ?? '';
  }

  /**
   * All that has arrived, in one batch; undefined when the session has ended. @throws StatusError
   * 410
   */
  async next(signal: AbortSignal): Promise<WatchBatch | undefined> {
    for (;;) {
      if (this.#hasNews) return this.#take();
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#endReason !== undefined) return undefined;
      const news = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await abortable(news, signal);
    }
  }

  requestProgress(): void {
    if (this.#progress === 'asked') this.#progress = 'askedAndWanted';
    else if (this.#progress === 'none') this.#progress = 'wanted';
    this.#askProgress();
  }

  /** Nothing more is received; what has arrived whole is still delivered. */
  end(reason: string): void {
    if (this.#endReason !== undefined) return;
    this.#endReason = reason;
    clearInterval(this.#liveness);
    clearTimeout(this.#askAgain);
    this.#stopListening();
    this.#call.cancel();
    this.#wake?.();
  }

  close(): void {
    this.end('closed');
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.end(error.message);
  }

  #take(): WatchBatch {
    const batch = { revision: this.#position, events: this.#queue, epoch: this.#epoch };
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#hasNews = false;
    if (this.#call.isPaused) this.#call.resume();
    return batch;
  }

  #receive(response: WatchResponse): void {
    if (this.#endReason !== undefined) return;
    this.#isSilent = false;
    if (response.canceled) {
      this.#canceled(response);
    } else if (response.created) {
      this.#isCreated = true;
      this.#askProgress();
      this.#askProof();
    } else if (response.events.length === 0) {
      this.#progressed(response);
    } else if (response.fragment || this.#fragments.length > 0) {
      this.#join(response);
    } else {
      this.#apply(response.events);
    }
  }

  /**
   * A revision may go on in the next fragment, so the last one waits until something follows it.
   */
  #join(part: WatchResponse): void {
    const events = this.#fragments;
    for (const event of part.events) events.push(event);
    this.#fragments = [];
    if (part.fragment) {
      const last = events.at(-1)?.kv.mod_revision;
      const complete = events.findIndex((event) => event.kv.mod_revision === last);
      this.#fragments = events.splice(complete);
    }
    if (events.length > 0) this.#apply(events);
  }

  #canceled(response: WatchResponse): void {
    const oldest = response.compact_revision;
    if (oldest > 0) {
      this.#tail.forget(oldest);
      if (this.#tail.isEmpty) {
        const where = `watch position ${String(this.#after)}, or what would prove it,`;
        this.#fail(expired(`${where} was compacted (${String(oldest)})`));
      } else {
        this.end('the first of the events that it began with was compacted');
      }
    } else {
      this.end(`etcd canceled the watch: ${response.cancel_reason}`);
    }
  }

  /**
   * Progress of the member's own accord carries the watch's id, an answer to a request the
   * stream's.
   */
  #progressed(response: WatchResponse): void {
    if (response.watch_id === streamWatchId) {
      clearTimeout(this.#askAgain);
      this.#progress = this.#progress === 'askedAndWanted' ? 'wanted' : 'none';
      this.#askProgress();
      if (!this.#connection.canRequestProgress) return;
    }
    const { revision } = response.header;
    if (this.#fragments.length > 0 || revision < this.#position) return;
    if (!this.#isProven(revision)) return;
    this.#position = revision;
    this.#announce();
  }

  /**
   * Events of one or more whole revisions. The position moves by their revisions, never by the
   * header.
   */
  #apply(events: readonly EtcdEvent[]): void {
    const floor = this.#position;
    let last = floor;
    for (const event of events) {
      const revision = event.kv.mod_revision;
      if (revision <= this.#after) {
        if (!this.#repeat(event)) return;
        continue;
      }
      if (!this.#isProven(revision)) return;
      if (revision <= floor || revision < last) {
        // Either delivered before, or skipped by a wrong progress notification. Only a list tells.
        const order = `revision ${String(revision)} came after ${String(last)}`;
        this.#fail(expired(`the watch stream went back: ${order}`));
        return;
      }
      last = revision;
      this.#tail.note(event);
      this.#queue.push(toEvent(event));
      this.#queuedBytes += event.kv.value.length + event.kv.key.length;
    }
    if (last === floor) return;
    this.#position = last;
    if (this.#queuedBytes > etcdWatchQueuedBytesMax) this.#call.pause();
    this.#announce();
  }

  /** An event that was delivered, or listed. False: the session has ended. */
  #repeat(event: EtcdEvent): boolean {
    // etcd#20221: events from before the start.
    if (event.kv.mod_revision < this.#start) return true;
    if (!this.#isRepeating) this.#tail.note(event);
    else if (!this.#tail.repeats(event)) return this.#differs(event.kv.mod_revision);
    return true;
  }

  /**
   * At `revision`, which may be news: everything up to the position has come. False: the session
   * has ended.
   */
  #isProven(revision: Revision): boolean {
    if (!this.#isRepeating) return true;
    if (!this.#tail.isRepeated) return this.#differs(revision);
    this.#isRepeating = false;
    return true;
  }

  #differs(revision: Revision): false {
    this.#connection.fence.historyDiffers(revision);
    return false;
  }

  #announce(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  /** A quiet store would show only with its next event that its history is still the same. */
  #askProof(): void {
    if (!this.#isRepeating || this.#progress !== 'none' || this.#endReason !== undefined) return;
    if (this.#connection.canRequestProgress) {
      this.requestProgress();
      return;
    }
    // The version of the member is read again after each connection.
    this.#askAgain = setTimeout(() => {
      this.#askProof();
    }, etcdAskAgainMs);
    this.#askAgain.unref();
  }

  /** One request is on its way at a time; the next one is sent with the answer. */
  #askProgress(): void {
    if (!this.#isCreated || this.#progress !== 'wanted' || this.#endReason !== undefined) return;
    this.#progress = 'asked';
    this.#sendProgressRequest();
  }

  /** etcd drops the request while the watch catches up, so it is sent until it is answered. */
  #sendProgressRequest(): void {
    this.#call.send({ progress_request: {} });
    clearTimeout(this.#askAgain);
    this.#askAgain = setTimeout(() => {
      this.#sendProgressRequest();
    }, etcdAskAgainMs);
    this.#askAgain.unref();
  }

  /** A member that is paused keeps its connection: only its silence shows it. */
  #checkLiveness(): void {
    if (this.#call.isPaused) return;
    if (this.#isSilent && (this.#progress !== 'none' || !this.#isCreated)) {
      this.#connection.leave(this.#endpoint);
      this.end('no answer to a progress request');
      return;
    }
    this.#isSilent = true;
    if (this.#connection.canRequestProgress) this.requestProgress();
  }
}

function toEvent(event: EtcdEvent): StorageEvent {
  const previous = event.prev_kv === null ? undefined : toItem(event.prev_kv);
  if (event.type === eventTypeDelete) {
    return { type: 'delete', key: event.kv.key, revision: event.kv.mod_revision, previous };
  }
  return { type: 'put', item: toItem(event.kv), previous };
}
