// An auditor for tests: a policy from data, and the events that are made, as a backend gets them.
import type { Scheme } from '../../api/scheme.ts';
import { Auditor } from '../../audit/auditor.ts';
import type { AuditBackend } from '../../audit/backend.ts';
import type { AuditEvent } from '../../audit/event.ts';
import { readPolicy } from '../../audit/policy-file.ts';
import { CountingObserver } from '../../audit/testing/recorder.ts';
import { systemClock } from '../../base/clock.ts';

/** An event as its JSON is read. */
export interface ReadEvent {
  readonly level: string;
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: object;
  readonly impersonatedUser?: object;
  readonly authenticationMetadata?: object;
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
  readonly objectRef?: Readonly<Record<string, string>>;
  readonly responseStatus?: Readonly<Record<string, unknown>>;
  readonly requestObject?: Readonly<Record<string, unknown>>;
  readonly responseObject?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

export class Auditing {
  readonly auditor: Auditor;
  readonly observer = new CountingObserver();
  /** Asked of each event; by default it is taken at once. */
  process: AuditBackend['process'] = () => true;
  readonly #events: AuditEvent[] = [];

  constructor(scheme: Scheme, policy: object) {
    const { auditGroup, decisionAuditAnnotation, reasonAuditAnnotation, latencyAuditAnnotation } =
      scheme.profile;
    const document = { apiVersion: `${auditGroup}/v1`, kind: 'Policy', ...policy };
    this.auditor = new Auditor({
      policy: readPolicy(JSON.stringify(document), scheme),
      backend: {
        process: (event) => {
          this.#events.push(event);
          return this.process(event);
        },
        close: () => Promise.resolve(),
      },
      clock: systemClock,
      observer: this.observer,
      keys: {
        decision: decisionAuditAnnotation,
        reason: reasonAuditAnnotation,
        latency: latencyAuditAnnotation,
      },
    });
  }

  /** Of one request, or of all. */
  events(auditId?: string): readonly ReadEvent[] {
    return this.#events
      .filter(({ fields }) => auditId === undefined || fields.auditID === auditId)
      .map(({ members }) => JSON.parse(`{${Buffer.concat(members).toString()}`) as ReadEvent);
  }

  stages(auditId?: string): readonly string[] {
    return this.events(auditId).map(({ stage }) => stage);
  }

  clear(): void {
    this.#events.length = 0;
  }
}
