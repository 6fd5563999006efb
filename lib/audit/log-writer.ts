// The log backend's writer: a line an event, in JSON or the older format. What comes while a write
// is under way is written together by the next one.
import { deadlineOf } from './deadline.ts';
import type { EventWriter } from './backend.ts';
import type { ByteSink } from './byte-sink.ts';
import type { AuditEvent } from './event.ts';
import { legacyLine } from './legacy-line.ts';

export type LogFormat = 'json' | 'legacy';

export class LogWriter implements EventWriter {
  readonly plugin = 'log';
  readonly #sink: ByteSink;
  readonly #format: LogFormat;
  readonly #opening: Uint8Array;
  #pending: Uint8Array[] = [];
  /** The next write: of all that is pending when it begins. */
  #next: Promise<void> | undefined;
  #current: Promise<void> = Promise.resolve();

  /** @param apiVersion of events */
  constructor(
    sink: ByteSink,
    { format, apiVersion }: { readonly format: LogFormat; readonly apiVersion: string },
  ) {
    this.#sink = sink;
    this.#format = format;
    this.#opening = Buffer.from(`{"kind":"Event","apiVersion":${JSON.stringify(apiVersion)},`);
  }

  write(events: readonly AuditEvent[]): Promise<void> {
    for (const event of events) {
      if (this.#format === 'legacy') this.#pending.push(Buffer.from(legacyLine(event.fields)));
      else this.#pending.push(this.#opening, ...event.members);
      this.#pending.push(newline);
    }
    this.#next ??= this.#startNext();
    return this.#next;
  }

  async close(patienceMs: number): Promise<void> {
    await deadlineOf(this.#next ?? this.#current, patienceMs);
    await this.#sink.close();
  }

  async #startNext(): Promise<void> {
    await this.#current;
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#next = undefined;
    const writing = this.#sink.write(bytes);
    this.#current = writing.catch(() => undefined); // whoever wrote is told
    await writing;
  }
}

const newline = Buffer.from('\n');
