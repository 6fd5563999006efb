// Mode `batch`: no request waits. Events are kept and written many at a time; when as many are kept
// as may be, further ones are lost and counted.
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { AuditBackend, AuditObserver, EventWriter } from './backend.ts';
import { deadlineOf } from './deadline.ts';
import type { AuditEvent } from './event.ts';

export interface BatchOptions {
  /** Events that may wait. */
  readonly bufferCountMax: number;
  /** Events of one batch. */
  readonly batchCountMax: number;
  /** Bytes of one batch, unless one event is larger. */
  readonly batchBytesMax: number;
  /** How long the first event of a batch waits for others. */
  readonly batchWaitMs: number;
  /** Batches a second, and at once; undefined: there is no bound. */
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined;
}

export interface BatchParts {
  readonly clock: Clock;
  readonly observer: AuditObserver;
}

const { auditBufferBytesMax, auditBatchesInFlightMax, auditFlushMs } = limits;

export class BatchBackend implements AuditBackend {
  readonly #writer: EventWriter;
  readonly #options: BatchOptions;
  readonly #parts: BatchParts;
  readonly #throttle: Throttle | undefined;
  #waiting: AuditEvent[] = [];
  /** Of what waits, and of what is being written. */
  #keptBytes = 0;
  #waitingBytes = 0;
  #inFlightCount = 0;
  /** What waits has waited long enough. */
  #isDue = false;
  #cancelWait: (() => void) | undefined;
  #cancelThrottle: (() => void) | undefined;
  #isClosing = false;
  #onIdle: () => void = () => undefined;

  constructor(writer: EventWriter, options: BatchOptions, parts: BatchParts) {
    this.#writer = writer;
    this.#options = options;
    this.#parts = parts;
    const { throttle } = options;
    this.#throttle = throttle && new Throttle(throttle, parts.clock);
  }

  process(event: AuditEvent): boolean {
    const { byteCount } = event;
    const isFull =
      this.#waiting.length >= this.#options.bufferCountMax ||
      this.#keptBytes + byteCount > auditBufferBytesMax;
    if (isFull || this.#isClosing) {
      const reason = isFull ? 'the buffer is full' : 'the server has stopped';
      this.#parts.observer.lost('buffered', 1, reason);
      return true;
    }
    this.#waiting.push(event);
    this.#waitingBytes += byteCount;
    this.#keptBytes += byteCount;
    const { batchWaitMs } = this.#options;
    if (batchWaitMs === 0) this.#isDue = true;
    else this.#cancelWait ??= this.#parts.clock.after(batchWaitMs, () => this.#onDue());
    this.#send();
    return true;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancelWait?.();
    this.#cancelThrottle?.();
    const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
    const { clock } = this.#parts;
    const giveUpAtMs = clock.monotonicMs() + auditFlushMs;
    this.#send();
    this.#tellIdle();
    await deadlineOf(idle, auditFlushMs);
    await this.#writer.close(Math.max(0, giveUpAtMs - clock.monotonicMs()));
    const { length } = this.#waiting;
    if (length > 0) this.#parts.observer.lost('buffered', length, 'the server has stopped');
    this.#waiting = [];
  }

  #onDue(): void {
    this.#cancelWait = undefined;
    this.#isDue = true;
    this.#send();
  }

  #send(): void {
    while (this.#hasBatch() && this.#inFlightCount < auditBatchesInFlightMax) {
      const waitMs = this.#isClosing ? 0 : (this.#throttle?.take() ?? 0);
      if (waitMs > 0) {
        this.#cancelThrottle ??= this.#parts.clock.after(waitMs, () => {
          this.#cancelThrottle = undefined;
          this.#send();
        });
        return;
      }
      void this.#write(this.#takeBatch());
    }
  }

  #hasBatch(): boolean {
    const { length } = this.#waiting;
    if (length === 0) return false;
    const { batchCountMax, batchBytesMax } = this.#options;
    if (this.#isDue || this.#isClosing || length >= batchCountMax) return true;
    return this.#waitingBytes >= batchBytesMax;
  }

  #takeBatch(): readonly AuditEvent[] {
    const { batchCountMax, batchBytesMax } = this.#options;
    let count = 0;
    let bytes = 0;
    for (const { byteCount } of this.#waiting) {
      if (count > 0 && (count === batchCountMax || bytes + byteCount > batchBytesMax)) break;
      count++;
      bytes += byteCount;
    }
    const batch = this.#waiting.splice(0, count);
    this.#waitingBytes -= bytes;
    if (this.#waiting.length === 0) {
      this.#isDue = false;
      this.#cancelWait?.();
      this.#cancelWait = undefined;
    }
    return batch;
  }

  async #write(batch: readonly AuditEvent[]): Promise<void> {
    this.#inFlightCount++;
    try {
      await this.#writer.write(batch);
    } catch (error) {
      this.#parts.observer.lost(this.#writer.plugin, batch.length, (error as Error).message);
    }
    this.#inFlightCount--;
    for (const { byteCount } of batch) this.#keptBytes -= byteCount;
    this.#send();
    this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.#inFlightCount === 0 && this.#waiting.length === 0) this.#onIdle();
  }
}

/** Tokens come at an even rate, and as many as `burst` are kept. */
class Throttle {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #atMs: number;

  constructor(
    { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
    clock: Clock,
  ) {
    this.#perMs = perSecond / 1_000;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#atMs = clock.monotonicMs();
  }

  /** 0: a token was taken; else how long until there is one. */
  take(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
    // Sums of fractions may stay a hair below one.
    if (this.#tokens < 1 - 1e-6) return Math.max(1, (1 - this.#tokens) / this.#perMs);
    this.#tokens -= 1;
    return 0;
  }
}
