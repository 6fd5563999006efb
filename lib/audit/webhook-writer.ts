// The webhook backend's writer: an EventList a call, sent again whatever fails, later each time.
import { pause } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Target } from '../client/target.ts';
import type { EventWriter } from './backend.ts';
import { deadlineOf } from './deadline.ts';
import type { AuditEvent } from './event.ts';

export interface WebhookWriterOptions {
  /** Of the lists. */
  readonly apiVersion: string;
  /** Wait before a list is sent for the second time; each further one is half as long again. */
  readonly firstRetryMs: number;
  readonly clock: Clock;
}

const { auditCallsMax, auditCallTriesMax, clientCallTimeoutMs } = limits;
const growth = 1.5;
/** Share of a wait that chance adds: what failed together is not repeated together. */
const jitter = 0.2;
/** The time that a call may take, which the hook is told. */
const query = `timeout=${String(clientCallTimeoutMs / 1_000)}s`;

export class WebhookWriter implements EventWriter {
  readonly plugin = 'webhook';
  readonly #target: Target;
  readonly #options: WebhookWriterOptions;
  readonly #opening: Uint8Array;
  readonly #giveUp = new AbortController();
  readonly #writing = new Set<Promise<void>>();
  /** Calls under way, and those that wait for one of them to end. */
  #callCount = 0;
  readonly #line: (() => void)[] = [];

  constructor(target: Target, options: WebhookWriterOptions) {
    this.#target = target;
    this.#options = options;
    const apiVersion = JSON.stringify(options.apiVersion);
    const text = `{"kind":"EventList","apiVersion":${apiVersion},"metadata":{},"items":[`;
    this.#opening = Buffer.from(text);
  }

  write(events: readonly AuditEvent[]): Promise<void> {
    const writing = this.#write(this.#bodyOf(events));
    this.#writing.add(writing);
    const forget = (): void => void this.#writing.delete(writing);
    writing.then(forget, forget);
    return writing;
  }

  async close(patienceMs: number): Promise<void> {
    await deadlineOf(Promise.allSettled(this.#writing), patienceMs);
    this.#giveUp.abort(new Error('the server has stopped'));
    await Promise.allSettled(this.#writing);
    this.#target.close();
  }

  #bodyOf(events: readonly AuditEvent[]): Uint8Array {
    const pieces: Uint8Array[] = [this.#opening];
    for (const event of events) {
      pieces.push(pieces.length === 1 ? itemOpening : nextItem, ...event.members);
    }
    return Buffer.concat([...pieces, closing]);
  }

  async #write(body: Uint8Array): Promise<void> {
    const { clock, firstRetryMs } = this.#options;
    const { signal } = this.#giveUp;
    let waitMs = firstRetryMs;
    for (let tries = 1; ; tries++) {
      try {
        await this.#call(body);
        return;
      } catch (error) {
        if (tries === auditCallTriesMax || signal.aborted) throw error;
        await pause(clock, waitMs * (1 + Math.random() * jitter), signal);
        if (signal.aborted) throw error;
        waitMs *= growth;
      }
    }
  }

  async #call(body: Uint8Array): Promise<void> {
    if (this.#callCount >= auditCallsMax) {
      await new Promise<void>((resolve) => this.#line.push(resolve));
    } else this.#callCount++;
    try {
      const { signal } = this.#giveUp;
      await this.#target.call({ body, query, decode: () => undefined, signal });
    } finally {
      const next = this.#line.shift();
      if (next === undefined) this.#callCount--;
      else next(); // takes this one's place
    }
  }
}

const itemOpening = Buffer.from('{');
const nextItem = Buffer.from(',{');
const closing = Buffer.from(']}');
