// Failed calls to etcd, sorted by what is known of their effect, and turned into StatusErrors.
// Rule: a write is repeated only when etcd provably never started it, or where it cannot happen
// twice (ADR 0066).
import { grpcStatus, grpcStatusName } from './grpc-status.ts';
import { internalError, requestEntityTooLarge, requestTimeout } from '../base/status.ts';
import { serviceUnavailable, StatusError, tooManyRequests } from '../base/status.ts';

/** What etcd or the transport answered. Its message may name addresses: for logs. */
export class EtcdError extends Error {
  readonly code: number;
  constructor(code: number, details: string, options?: ErrorOptions) {
    super(details, options);
    this.name = 'EtcdError';
    this.code = code;
  }

  /** For clients: etcd's own words; of the transport's, which name addresses, the code alone. */
  get publicReason(): string {
    if (this.message.startsWith('etcdserver: ')) return this.message;
    return grpcStatusName(this.code) ?? 'UNKNOWN';
  }
}

/**
 * - `notStarted`: the member refused before it proposed anything; repeating is safe for writes too.
 * - `unknown`: the request may have been, or may still be, applied.
 * - `final`: etcd evaluated the request and refused it; nothing was written, unless its database is
 *   full: it carries out the write by which that comes to be, and refuses it afterwards.
 */
export type Effect = 'notStarted' | 'unknown' | 'final';

/** Of a call that no member has begun: there was no connection, or the stream was refused. */
export const neverSent = 'the member took no call';

const finalCodes: ReadonlySet<number> = new Set([
  grpcStatus.INVALID_ARGUMENT,
  grpcStatus.NOT_FOUND,
  grpcStatus.ALREADY_EXISTS,
  grpcStatus.PERMISSION_DENIED,
  grpcStatus.FAILED_PRECONDITION,
  grpcStatus.OUT_OF_RANGE,
  grpcStatus.UNIMPLEMENTED,
  grpcStatus.UNAUTHENTICATED,
]);

const notStarted: ReadonlyMap<string, number> = new Map([
  [neverSent, grpcStatus.UNAVAILABLE],
  // Sent by the interceptor for `hasleader` before the request reaches the server's logic.
  ['etcdserver: no leader', grpcStatus.UNAVAILABLE],
  // By a leader that hands over its lead: nothing is added to its log meanwhile.
  ['raft proposal dropped', grpcStatus.UNKNOWN],
]);

export function effectOf(error: EtcdError): Effect {
  if (finalCodes.has(error.code)) return 'final';
  // With this code the transport also reports a reset stream, whose request may have been applied.
  if (error.code === grpcStatus.RESOURCE_EXHAUSTED) {
    return /^(etcdserver: |grpc: |Received message)/.test(error.message) ? 'final' : 'unknown';
  }
  return notStarted.get(error.message) === error.code ? 'notStarted' : 'unknown';
}

/** A member that is well has passed the write on to the leader, and did not see it come back. */
const gaveUp: ReadonlySet<string> = new Set([
  'etcdserver: request timed out',
  'etcdserver: request timed out, possibly due to previous leader failure',
]);

/** Of unknown effect: most such writes were dropped by a leader that was handing its lead over. */
export const wasPerhapsDropped = (error: unknown): boolean =>
  error instanceof StatusError
    ? wasPerhapsDropped(error.cause)
    : error instanceof EtcdError && gaveUp.has(error.message);

export const isCompacted = (error: unknown): boolean =>
  error instanceof EtcdError && error.message.includes('revision has been compacted');

export const isFutureRevision = (error: unknown): boolean =>
  error instanceof EtcdError && error.message.includes('revision is a future revision');

export const isLeaseNotFound = (error: unknown): boolean =>
  error instanceof EtcdError && error.message.includes('requested lease not found');

/** The answer did not fit into one message of ours; a smaller page will. */
export const isAnswerTooLarge = (error: unknown): boolean =>
  error instanceof EtcdError &&
  error.code === grpcStatus.RESOURCE_EXHAUSTED &&
  /received message larger than max/i.test(error.message) &&
  !error.message.includes('grpc: ');

/** etcd's own limits: `--max-request-bytes`, or its gRPC server's above that. */
export const isRequestTooLarge = (error: EtcdError): boolean =>
  error.message.includes('request is too large') ||
  error.message.startsWith('grpc: received message larger than max');

/** The alarm NOSPACE: until somebody ends it, etcd refuses all that makes its database grow. */
const isDatabaseFull = (error: EtcdError): boolean =>
  error.message.includes('database space exceeded');

/** Without a time to repeat it after: nothing changes before a person acts. */
const databaseFull = (): StatusError =>
  serviceUnavailable(
    "etcd's database is full (alarm NOSPACE): nothing will be written until etcd is compacted " +
      'and defragmented and the alarm is disarmed; reads, watches and deletions go on. ' +
      'The write that filled it may have happened: read before you repeat it',
  );

export function tooLarge(sizeBytes: number, limit: string): StatusError {
  return requestEntityTooLarge(
    `the object takes ${String(sizeBytes)} bytes in etcd, limit is ${limit}`,
  );
}

/** The end of a write that was sent and never answered: only a later read tells what happened. */
export const unknownOutcome = (error: EtcdError): StatusError =>
  because(
    error,
    requestTimeout(
      `the outcome of the write is unknown, it may have happened (etcd: ${error.publicReason})`,
    ),
  );

/** `reason` is the server's own, without addresses, or what the last try came to. */
export const unreachable = (reason: string | EtcdError): StatusError =>
  typeof reason === 'string'
    ? serviceUnavailable(`etcd cannot be reached: ${reason}`, 1)
    : because(reason, unreachable(reason.publicReason));

/** What a client sees of a final refusal that the caller did not expect. */
export function toStatusError(error: EtcdError): StatusError {
  if (error.message.includes('too many requests')) {
    return tooManyRequests('etcd takes no more requests at the moment', 1);
  }
  if (isDatabaseFull(error)) return because(error, databaseFull());
  return because(error, internalError(`etcd refused: ${error.publicReason}`));
}

/** The cause is for the log: it does not reach the client. */
function because(cause: EtcdError, shown: StatusError): StatusError {
  shown.cause = cause;
  return shown;
}
