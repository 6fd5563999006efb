// What is known of one request so far, and the events that are made of it. Whoever answers tells it
// what the level asks for; it takes nothing else.
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { StatusBody } from '../base/status.ts';
import type { WebhookTrail } from '../base/webhook-trail.ts';
import { formatDuration } from '../codec/value-forms.ts';
import type { AuditBackend, AuditObserver } from './backend.ts';
import { AuditEvent } from './event.ts';
import type { EventObjectRef, EventStatus, EventUser, JsonPieces } from './event.ts';
import type { AuditedRequest, Outcome, Stage } from './policy.ts';
import { recordedJson } from './recorded-json.ts';

/** What is recorded of every request at every level. */
export interface RequestFacts {
  readonly auditId: string;
  readonly requestUri: string;
  readonly userAgent: string;
  readonly sourceIps: readonly string[];
  /** On the monotonic clock. */
  readonly receivedAtMs: number;
}

/** Keys of the annotations that tell what was decided about a request. */
export interface AnnotationKeys {
  readonly decision: string;
  readonly reason: string;
  /** Of those that tell what a slow request has waited for: what stands before `/`. */
  readonly latency: string;
}

interface RecordParts {
  readonly backend: AuditBackend;
  readonly clock: Clock;
  readonly observer: AuditObserver;
  readonly keys: AnnotationKeys;
}

interface Opened {
  readonly outcome: Outcome;
  readonly request: AuditedRequest;
  readonly user: EventUser;
  readonly facts: RequestFacts;
}

/** What a request's object says of itself; absent or empty: nothing. */
export type NamedObject = Partial<
  Readonly<Record<'name' | 'namespace' | 'uid' | 'resourceVersion', string>>
>;

export class RequestAudit {
  /** Of the event; made by whoever decides something about the request. */
  readonly annotations = new Map<string, string>();
  readonly takesRequest: boolean;
  readonly takesResponse: boolean;
  readonly #parts: RecordParts;
  readonly #opened: Opened;
  readonly #receivedAtMs: number;
  #objectRef: EventObjectRef | undefined;
  #impersonated: EventUser | undefined;
  #constraint = '';
  #status: EventStatus | undefined;
  #requestObject: JsonPieces | undefined;
  #responseObject: JsonPieces | undefined;

  constructor(parts: RecordParts, opened: Opened) {
    const { clock } = parts;
    const { outcome, request, facts } = opened;
    this.#parts = parts;
    this.#opened = opened;
    this.takesResponse = outcome.level === 'RequestResponse';
    this.takesRequest = this.takesResponse || outcome.level === 'Request';
    this.#receivedAtMs = Math.round(clock.nowMs() - (clock.monotonicMs() - facts.receivedAtMs));
    this.#objectRef = request.isResourceRequest ? refOf(request) : undefined;
  }

  /** Whom the user acts as, and by which permission where it limits what they may do so. */
  actsAs(user: EventUser, constraint: string): void {
    this.#impersonated = user;
    this.#constraint = constraint;
  }

  /** Whether it may be done, and why or why not. */
  decided(isAllowed: boolean, reason: string): void {
    const { keys } = this.#parts;
    this.annotations.set(keys.decision, isAllowed ? 'allow' : 'forbid');
    this.annotations.set(keys.reason, reason);
  }

  /** The request is over, and how long it waited for webhooks: told where it was slow. */
  took({ mutatingMs, validatingMs }: Pick<WebhookTrail, 'mutatingMs' | 'validatingMs'>): void {
    const { clock, keys } = this.#parts;
    const totalMs = clock.monotonicMs() - this.#opened.facts.receivedAtMs;
    if (totalMs <= limits.slowRequestMs) return;
    const note = (name: string, ms: number): void => {
      const nanos = BigInt(Math.round(ms * 1e6));
      if (ms > 0) this.annotations.set(`${keys.latency}/${name}`, formatDuration(nanos));
    };
    note('total', totalMs);
    note('mutating-webhook', mutatingMs);
    note('validating-webhook', validatingMs);
  }

  /** The object of the body names what the path does not. */
  named({ name = '', namespace = '', uid = '', resourceVersion = '' }: NamedObject): void {
    const ref = this.#objectRef;
    if (ref === undefined) return;
    this.#objectRef = {
      ...ref,
      namespace: ref.namespace === '' ? namespace : ref.namespace,
      name: ref.name === '' ? name : ref.name,
      uid,
      resourceVersion,
    };
  }

  /** JSON of the body; for those whom `takesRequest` asks. */
  requestObject(json: JsonPieces): void {
    this.#requestObject = recordedJson(json, this.#opened.outcome);
  }

  /** JSON of the answer; for those whom `takesResponse` asks. */
  responseObject(json: JsonPieces): void {
    this.#responseObject = recordedJson(json, this.#opened.outcome);
  }

  /** The answer is a Status. */
  answeredStatus(body: StatusBody): void {
    const { status, message, reason, details, code } = body;
    this.#status = { status, message, reason, details, code };
    if (this.takesResponse) this.responseObject([Buffer.from(JSON.stringify(body))]);
  }

  /** Nobody was there any more to take an answer. */
  closedEarly(): void {
    this.#status ??= { status: 'Success', message: 'Connection closed early', code: 200 };
  }

  /** The server has a fault, which the event does not quote: it may hold anything. */
  panicked(): void {
    this.#status = {
      status: 'Failure',
      message: 'the server failed to answer',
      reason: 'InternalError',
      code: 500,
    };
  }

  /**
   * Makes the event of the stage, unless it is omitted. False: the request must not go on.
   * @param code of the answer, where it has begun
   */
  reach(stage: Stage, code?: number): MaybePromise<boolean> {
    if (code !== undefined) this.#status = { ...this.#status, code };
    const { backend, clock, observer } = this.#parts;
    const { outcome, request, user, facts } = this.#opened;
    if (outcome.omittedStages.has(stage)) return true;
    observer.recorded();
    const isFirst = stage === 'RequestReceived';
    const event = new AuditEvent({
      level: outcome.level,
      auditID: facts.auditId,
      stage,
      requestURI: facts.requestUri,
      verb: request.verb,
      user,
      impersonatedUser: this.#impersonated,
      impersonationConstraint: this.#constraint,
      sourceIPs: facts.sourceIps,
      userAgent: shortened(facts.userAgent),
      objectRef: this.#objectRef,
      responseStatus: this.#status,
      requestObject: this.#requestObject,
      responseObject: this.#responseObject,
      receivedAtMs: this.#receivedAtMs,
      reachedAtMs: isFirst ? this.#receivedAtMs : clock.nowMs(),
      annotations: this.annotations.size === 0 ? noAnnotations : new Map(this.annotations),
    });
    return backend.process(event);
  }
}

const noAnnotations: ReadonlyMap<string, string> = new Map();

const refOf = (request: AuditedRequest): EventObjectRef => ({
  resource: request.resource,
  namespace: request.namespace,
  name: request.name,
  uid: '',
  apiGroup: request.group,
  apiVersion: request.version,
  resourceVersion: '',
  subresource: request.subresource,
});

const { auditUserAgentLengthMax } = limits;

const shortened = (userAgent: string): string =>
  userAgent.length > auditUserAgentLengthMax
    ? `${userAgent.slice(0, auditUserAgentLengthMax)}...TRUNCATED`
    : userAgent;
