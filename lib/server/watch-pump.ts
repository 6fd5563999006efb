// From a cursor to a sink: writes what is there in the turn in which it comes, and waits for the
// cursor or the client. An event costs each of thousands of watches no promise.
import type { Clock } from '../base/clock.ts';
import { nextTurn } from '../base/turn.ts';
import type { EventReceiver, WatchCursor, WatchEvent } from '../cacher/resource-view.ts';
import type { RequestMetrics, WatchEventCount } from '../telemetry/request-metrics.ts';
import { framedPart } from './framed-part.ts';
import type { RequestContext } from './request-context.ts';
import type { StreamSerializer } from './serializers.ts';
import type { WatchSink } from './watch-sink.ts';

export interface WatchPumpOptions {
  readonly cursor: WatchCursor;
  readonly sink: WatchSink;
  readonly serializer: StreamSerializer;
  readonly open: RequestContext;
  readonly metrics: RequestMetrics;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

export interface Ending {
  /** undefined: the cursor was closed. */
  readonly reason: unknown;
  /** Events that the cursor gave and that were not written. */
  readonly unwrittenCount: number;
}

/**
 *     #writeOn ── nothing there ──▶ the cursor has it ── give ──▶ #writeOn
 *       └──── the client is behind, or much was written ── a promise ──▶ #writeOn
 */
export class WatchPump implements EventReceiver {
  readonly signal: AbortSignal;
  readonly #options: WatchPumpOptions;
  readonly #count: WatchEventCount;
  readonly #ended = Promise.withResolvers<Ending>();
  #unwrittenCount = 0;

  constructor(options: WatchPumpOptions) {
    this.#options = options;
    this.signal = options.open.signal;
    this.#count = options.metrics.watchEvents(options.open.labels);
  }

  /** Writes until the stream must end; resolves then, and never rejects. */
  run(): Promise<Ending> {
    this.#run();
    return this.#ended.promise;
  }

  give(events: readonly WatchEvent[] | undefined): void {
    if (events === undefined) this.fail(undefined);
    else this.#writeOn(events);
  }

  /** `reason`: as of `Ending`. */
  readonly fail = (reason: unknown): void => {
    this.#ended.resolve({ reason, unwrittenCount: this.#unwrittenCount });
  };

  readonly #run = (): void => {
    this.#writeOn(undefined);
  };

  /** Writes these, then what the cursor has at once. Does not throw: others are told after it. */
  #writeOn(first: readonly WatchEvent[] | undefined): void {
    const { cursor } = this.#options;
    try {
      for (let events = first ?? cursor.take(this); events !== undefined;) {
        const rest = this.#write(events, 0);
        if (rest !== undefined) {
          rest.then(this.#run, this.fail);
          return;
        }
        events = cursor.take(this);
      }
    } catch (error) {
      this.fail(error);
    }
  }

  /** The events from the one at `from` on. undefined: all are written, and the client keeps up. */
  #write(events: readonly WatchEvent[], from: number): Promise<void> | undefined {
    const { serializer, sink } = this.#options;
    this.#unwrittenCount = events.length - from;
    const { frames, bytes, to, endsState, failure } = framedPart(events, from, serializer);
    sink.writeAll(frames);
    this.#unwrittenCount = events.length - to;
    if (failure !== undefined) throw failure.error;
    if (endsState) this.#listed();
    const keepsUp = sink.flush();
    this.#options.open.responseBytes += bytes;
    this.#count.add(to - from, bytes);
    if (to < events.length) return this.#writeLater(events, to, keepsUp);
    return keepsUp ? undefined : sink.drained(this.signal);
  }

  async #writeLater(events: readonly WatchEvent[], from: number, keepsUp: boolean): Promise<void> {
    if (keepsUp) await nextTurn();
    else await this.#options.sink.drained(this.signal);
    this.signal.throwIfAborted();
    await this.#write(events, from);
  }

  /** The watch has all of the state that it began with. */
  #listed(): void {
    const { metrics, open, clock } = this.#options;
    metrics.watchListed(open.labels, (clock.monotonicMs() - open.receivedAtMs) / 1000);
  }
}
