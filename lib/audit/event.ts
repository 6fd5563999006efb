// One audit event: what is recorded of a request at one stage. It never changes, and is encoded at
// most once; recorded objects are bytes of JSON that are copied as they are.
import type { StatusDetails } from '../base/status.ts';
import type { Level, Stage } from './policy.ts';

export interface EventUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What the request was for; what is empty is left out. */
export interface EventObjectRef {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly subresource: string;
}

/** How it ended. */
export interface EventStatus {
  readonly status?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly details?: StatusDetails | undefined;
  readonly code?: number | undefined;
}

/** Pieces of one JSON text, without newlines. */
export type JsonPieces = readonly Uint8Array[];

export interface EventFields {
  readonly level: Level;
  readonly auditID: string;
  readonly stage: Stage;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: EventUser;
  readonly impersonatedUser: EventUser | undefined;
  /** The permission that lets the user act as that one within limits; '': none does. */
  readonly impersonationConstraint: string;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly objectRef: EventObjectRef | undefined;
  readonly responseStatus: EventStatus | undefined;
  readonly requestObject: JsonPieces | undefined;
  readonly responseObject: JsonPieces | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAtMs: number;
  readonly reachedAtMs: number;
  readonly annotations: ReadonlyMap<string, string>;
}

export class AuditEvent {
  readonly fields: EventFields;
  #members: JsonPieces | undefined;
  #byteCount = 0;

  constructor(fields: EventFields) {
    this.fields = fields;
  }

  /** Its JSON behind the opening brace: members without kind and apiVersion, and the end. */
  get members(): JsonPieces {
    if (this.#members === undefined) {
      this.#members = encode(this.fields);
      for (const { length } of this.#members) this.#byteCount += length;
    }
    return this.#members;
  }

  /** Of `members` together. */
  get byteCount(): number {
    return this.members.length === 0 ? 0 : this.#byteCount;
  }

  /** Without the objects of request and response, which the annotation `key` tells. */
  truncated(key: string): AuditEvent {
    const annotations = new Map(this.fields.annotations).set(key, 'true');
    const objects = { requestObject: undefined, responseObject: undefined };
    return new AuditEvent({ ...this.fields, ...objects, annotations });
  }
}

function encode(fields: EventFields): JsonPieces {
  const { requestObject, responseObject, objectRef, responseStatus } = fields;
  const head = JSON.stringify({
    level: fields.level,
    auditID: fields.auditID,
    stage: fields.stage,
    requestURI: fields.requestURI,
    verb: fields.verb,
    user: fields.user,
    impersonatedUser: fields.impersonatedUser,
    authenticationMetadata: authenticationMetadata(fields),
    sourceIPs: fields.sourceIPs.length === 0 ? undefined : fields.sourceIPs,
    userAgent: textOrNothing(fields.userAgent),
    objectRef: objectRef && shownRef(objectRef),
    responseStatus: responseStatus && { metadata: {}, ...responseStatus },
  }).slice(1, -1);
  const tail = JSON.stringify({
    requestReceivedTimestamp: microTime(fields.receivedAtMs),
    stageTimestamp: microTime(fields.reachedAtMs),
    annotations: fields.annotations.size === 0 ? undefined : sorted(fields.annotations),
  }).slice(1);
  if (requestObject === undefined && responseObject === undefined) {
    return [Buffer.from(`${head},${tail}`)];
  }
  return [
    Buffer.from(head),
    ...(requestObject === undefined ? [] : [requestName, ...requestObject]),
    ...(responseObject === undefined ? [] : [responseName, ...responseObject]),
    Buffer.from(`,${tail}`),
  ];
}

const requestName = Buffer.from(',"requestObject":');
const responseName = Buffer.from(',"responseObject":');

const authenticationMetadata = ({
  impersonationConstraint,
}: Pick<EventFields, 'impersonationConstraint'>): object | undefined =>
  impersonationConstraint === '' ? undefined : { impersonationConstraint };

const textOrNothing = (text: string): string | undefined => (text === '' ? undefined : text);

const shownRef = (of: EventObjectRef): object => ({
  resource: textOrNothing(of.resource),
  namespace: textOrNothing(of.namespace),
  name: textOrNothing(of.name),
  uid: textOrNothing(of.uid),
  apiGroup: textOrNothing(of.apiGroup),
  apiVersion: textOrNothing(of.apiVersion),
  resourceVersion: textOrNothing(of.resourceVersion),
  subresource: textOrNothing(of.subresource),
});

const sorted = (map: ReadonlyMap<string, string>): object =>
  Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));

/** RFC 3339 with six digits of the second, of which the clock gives three. */
const microTime = (epochMs: number): string =>
  `${new Date(epochMs).toISOString().slice(0, -1)}000Z`;
