// Who records requests: the policy says which and how much of them, the backend takes the events.
import type { Clock } from '../base/clock.ts';
import type { User } from '../base/user.ts';
import type { AuditBackend, AuditObserver } from './backend.ts';
import type { EventUser } from './event.ts';
import type { AuditPolicy, AuditedRequest, Outcome } from './policy.ts';
import { RequestAudit } from './request-audit.ts';
import type { AnnotationKeys, RequestFacts } from './request-audit.ts';

export interface AuditorParts {
  readonly policy: AuditPolicy;
  readonly backend: AuditBackend;
  readonly clock: Clock;
  readonly observer: AuditObserver;
  readonly keys: AnnotationKeys;
}

export class Auditor {
  readonly #parts: AuditorParts;

  constructor(parts: AuditorParts) {
    this.#parts = parts;
  }

  /** @param user undefined: credentials were refused */
  outcomeOf(request: AuditedRequest, user: User | undefined): Outcome {
    const outcome = this.#parts.policy.outcomeOf(request, user);
    this.#parts.observer.evaluated(outcome.level);
    return outcome;
  }

  /** For requests of which something is recorded. */
  open(
    outcome: Outcome,
    request: AuditedRequest,
    user: User | undefined,
    facts: RequestFacts,
  ): RequestAudit {
    return new RequestAudit(this.#parts, { outcome, request, user: eventUser(user), facts });
  }

  /** A request was refused, since it could not be recorded. */
  rejected(): void {
    this.#parts.observer.rejected();
  }
}

export function eventUser(user: User | undefined): EventUser {
  if (user === undefined) return {};
  const { name, uid, groups, extra } = user;
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
