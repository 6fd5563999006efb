// The contract of audit backends, and how they are put together: what each mode promises about an
// event that cannot be written, several backends at once, events that are too large.
import { limits } from '../base/limits.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { AuditEvent } from './event.ts';
import type { Level } from './policy.ts';

export interface AuditBackend {
  /** Never rejects. False: the event is lost, and the request that it tells of must not go on. */
  process(event: AuditEvent): MaybePromise<boolean>;
  /** Writes what is kept, as far as that can be done within `limits.auditFlushMs`. */
  close(): Promise<void>;
}

/** Where events end up. */
export interface EventWriter {
  readonly plugin: 'log' | 'webhook';
  /** Resolves when all are written. @throws Error whose message says why they are not. */
  write(events: readonly AuditEvent[]): Promise<void>;
  /** Resolves when nothing is under way any more; what takes longer than `patienceMs` fails. */
  close(patienceMs: number): Promise<void>;
}

/** Who loses events, as the metric of errors names it. */
export type Plugin = EventWriter['plugin'] | 'buffered' | 'truncate';

/** What is counted. */
export interface AuditObserver {
  /** A request was held against the policy. */
  evaluated(level: Level): void;
  /** An event was made. */
  recorded(): void;
  /** A request was refused, since it could not be recorded. */
  rejected(): void;
  /** Events that nobody gets to see; `reason` holds nothing of them. */
  lost(plugin: Plugin, count: number, reason: string): void;
}

/** The event is written before its request goes on; strictly: or the request fails. */
export function blockingBackend(
  writer: EventWriter,
  { isStrict, observer }: { readonly isStrict: boolean; readonly observer: AuditObserver },
): AuditBackend {
  return {
    async process(event) {
      try {
        await writer.write([event]);
        return true;
      } catch (error) {
        observer.lost(writer.plugin, 1, (error as Error).message);
        return !isStrict;
      }
    },
    close: () => writer.close(limits.auditFlushMs),
  };
}

/** Every one of them gets every event. */
export function unionBackend(backends: readonly AuditBackend[]): AuditBackend {
  const [only, ...others] = backends;
  if (only !== undefined && others.length === 0) return only;
  return {
    process(event) {
      const answers = backends.map((backend) => backend.process(event));
      if (answers.every((answer) => typeof answer === 'boolean')) return !answers.includes(false);
      const settled = Promise.all(answers.map((answer) => Promise.resolve(answer)));
      return settled.then((all) => !all.includes(false));
    },
    async close() {
      await Promise.all(backends.map((backend) => backend.close()));
    },
  };
}

/** Events that are too large go on without their objects; those that still are, not at all. */
export function truncatingBackend(
  backend: AuditBackend,
  options: {
    readonly eventBytesMax: number;
    /** Key of the annotation of what was truncated. */
    readonly annotation: string;
    readonly observer: AuditObserver;
  },
): AuditBackend {
  const { eventBytesMax, annotation, observer } = options;
  return {
    process(event) {
      if (event.byteCount <= eventBytesMax) return backend.process(event);
      const { requestObject, responseObject } = event.fields;
      const hasObjects = requestObject !== undefined || responseObject !== undefined;
      const smaller = hasObjects ? event.truncated(annotation) : event;
      if (smaller.byteCount <= eventBytesMax) return backend.process(smaller);
      observer.lost('truncate', 1, 'the event is too large even without its objects');
      return true;
    },
    close: () => backend.close(),
  };
}
