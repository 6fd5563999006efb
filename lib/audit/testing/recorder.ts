// What tests of auditing share: events with everything filled in that a test does not care about,
// an observer that counts, a writer that fails or waits when it is told to.
import type { AuditObserver, EventWriter } from '../backend.ts';
import { AuditEvent } from '../event.ts';
import type { EventFields } from '../event.ts';

export const eventOf = (fields: Partial<EventFields> = {}): AuditEvent =>
  new AuditEvent({
    level: 'Metadata',
    auditID: 'a-1',
    stage: 'ResponseComplete',
    requestURI: '/api/v1/pods',
    verb: 'list',
    user: { username: 'jane', groups: ['g'] },
    impersonatedUser: undefined,
    impersonationConstraint: '',
    sourceIPs: ['10.0.0.9'],
    userAgent: 'test/1',
    objectRef: undefined,
    responseStatus: { code: 200 },
    requestObject: undefined,
    responseObject: undefined,
    receivedAtMs: 0,
    reachedAtMs: 1,
    annotations: new Map(),
    ...fields,
  });

/** Lines such as `lost log 1: reason` in the order in which they came. */
export class CountingObserver implements AuditObserver {
  readonly lines: string[] = [];
  readonly levels: string[] = [];
  recordedCount = 0;

  evaluated(level: string): void {
    this.levels.push(level);
  }
  recorded(): void {
    this.recordedCount++;
  }
  rejected(): void {
    this.lines.push('rejected');
  }
  lost(plugin: string, count: number, reason: string): void {
    this.lines.push(`lost ${plugin} ${String(count)}: ${reason}`);
  }
}

/** Keeps what it is given; each write ends as `answer` does. */
export class TestWriter implements EventWriter {
  readonly plugin = 'webhook';
  /** Audit ids of each write. */
  readonly batches: string[][] = [];
  answer: () => Promise<void> = () => Promise.resolve();
  isClosed = false;

  write(events: readonly AuditEvent[]): Promise<void> {
    this.batches.push(events.map(({ fields }) => fields.auditID));
    return this.answer();
  }
  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

/** Everything that is done and not waited for any more. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
