// Every failure that a client may see: the Status error and one constructor for each way to fail;
// status-reasons.ts has the reasons. Anything else thrown is a bug and becomes InternalError in one
// place (lib/server/filters/panic.ts).
import { aggregateText } from './aggregate-text.ts';
import { fieldReasons } from './status-reasons.ts';
import type { FieldErrorReason, StatusReason } from './status-reasons.ts';

/**
 * One failure of validation: `field` is a path such as `spec.ports[0].name`; `message` says what
 * would be right.
 */
export interface FieldError {
  readonly reason: FieldErrorReason;
  readonly field: string;
  /**
   * Offending value, shown in the message; `undefined` when there is none (required, forbidden).
   */
  readonly badValue?: unknown;
  readonly detail: string;
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The body of a failed request (`kind: Status`, `apiVersion: v1`). */
export interface StatusBody {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export class StatusError extends Error {
  readonly code: number;
  readonly reason: StatusReason;
  readonly details: StatusDetails | undefined;
  /** `metadata.continue` of the body: how to go on after an expired list. */
  readonly continueToken: string | undefined;

  constructor(
    code: number,
    reason: StatusReason,
    message: string,
    details?: StatusDetails,
    continueToken?: string,
  ) {
    super(message);
    this.name = 'StatusError';
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.continueToken = continueToken;
  }

  toBody(): StatusBody {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** Names a resource in an error: `{ group: 'apps', resource: 'deployments' }`. */
export interface ResourceRef {
  readonly group: string;
  readonly resource: string;
}
/** Names a kind in an error: `{ group: 'apps', kind: 'Deployment' }`. */
export interface KindRef {
  readonly group: string;
  readonly kind: string;
}

const qualified = (name: string, group: string): string =>
  group === '' ? name : `${name}.${group}`;
const detailsOf = (name: string, group: string, kind: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  ...(kind === '' ? {} : { kind }),
});

export const badRequest = (message: string): StatusError =>
  new StatusError(400, 'BadRequest', message);
export const unauthorized = (): StatusError => new StatusError(401, 'Unauthorized', 'Unauthorized');

export function forbidden(ref: ResourceRef, name: string, message: string): StatusError {
  const where = `${qualified(ref.resource, ref.group)}${name === '' ? '' : ` "${name}"`}`;
  return new StatusError(
    403,
    'Forbidden',
    `${where} is forbidden: ${message}`,
    detailsOf(name, ref.group, ref.resource),
  );
}

/** Of requests that are for no resource, or refused whatever they are for. */
export const forbiddenRequest = (message: string): StatusError =>
  new StatusError(403, 'Forbidden', message, {});

export function notFound(ref: ResourceRef, name: string): StatusError {
  const message = `${qualified(ref.resource, ref.group)} "${name}" not found`;
  return new StatusError(404, 'NotFound', message, detailsOf(name, ref.group, ref.resource));
}

/** A path that nothing is served at: Kubernetes' generic 404. */
export const pathNotFound = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = (): StatusError =>
  new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );

/** The same of a verb that the resource is known not to have. */
export function methodNotSupported(ref: ResourceRef, verb: string): StatusError {
  const kind = JSON.stringify(qualified(ref.resource, ref.group));
  const message = `${verb} is not supported on resources of kind ${kind}`;
  return new StatusError(405, 'MethodNotAllowed', message, detailsOf('', ref.group, ref.resource));
}

export function notAcceptable(supported: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${supported.join(', ')}`;
  return new StatusError(406, 'NotAcceptable', message);
}

export function unsupportedMediaType(supported: readonly string[]): StatusError {
  const message =
    `the body of the request was in an unknown format - accepted media types ` +
    `include: ${supported.join(', ')}`;
  return new StatusError(415, 'UnsupportedMediaType', message);
}

export function alreadyExists(ref: ResourceRef, name: string): StatusError {
  const message = `${qualified(ref.resource, ref.group)} "${name}" already exists`;
  return new StatusError(409, 'AlreadyExists', message, detailsOf(name, ref.group, ref.resource));
}

export function conflict(ref: ResourceRef, name: string, message: string): StatusError {
  const where =
    `Operation cannot be fulfilled on ${qualified(ref.resource, ref.group)} ` +
    `"${name}": ${message}`;
  return new StatusError(409, 'Conflict', where, detailsOf(name, ref.group, ref.resource));
}

/** The usual lost update. */
export const modifiedConflict = (ref: ResourceRef, name: string): StatusError =>
  conflict(
    ref,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

/** 410: the version is no longer (or not yet again) readable; the client must list again. */
export const expired = (message: string): StatusError => new StatusError(410, 'Expired', message);

/**
 * 410 of a continue token; `token` reads the rest at the then current version (inconsistent
 * continue).
 */
export function expiredContinue(token: string): StatusError {
  const message =
    'the continue token has expired: list again without it, or use the token in ' +
    'metadata.continue, ' +
    'which gives the rest as it is now; the whole list is then not from one version';
  return new StatusError(410, 'Expired', message, undefined, token);
}

export function tooOldResourceVersion(asked: string, oldest: number): StatusError {
  return expired(`too old resource version: ${asked} (${String(oldest)})`);
}

/**
 * 504 with Retry-After: the replica has not seen this version yet (specification 1, unrecognized
 * versions).
 */
export function tooLargeResourceVersion(asked: number, current: number): StatusError {
  const message =
    `Timeout: Too large resource version: ${String(asked)}, current: ` + String(current);
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return new StatusError(504, 'Timeout', message, { causes, retryAfterSeconds: 1 });
}

export const requestTimeout = (message: string): StatusError =>
  new StatusError(504, 'Timeout', `Timeout: ${message}`, {});

export const expectationFailed = (message: string): StatusError =>
  new StatusError(417, '', message);

export const notImplemented = (message: string): StatusError =>
  new StatusError(501, 'NotImplemented', message);

export const upgradeRequired = (message: string): StatusError => new StatusError(426, '', message);

export const requestEntityTooLarge = (message: string): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity is too large: ${message}`);

/** `retryAfterSeconds`: undefined where trying again soon would help nobody. */
export const tooManyRequests = (message: string, retryAfterSeconds?: number): StatusError =>
  new StatusError(429, 'TooManyRequests', message, retryAfter(retryAfterSeconds));

export const internalError = (message: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ message }],
  });

export const serviceUnavailable = (message: string, retryAfterSeconds?: number): StatusError =>
  new StatusError(503, 'ServiceUnavailable', message, retryAfter(retryAfterSeconds));

const retryAfter = (retryAfterSeconds: number | undefined): StatusDetails | undefined =>
  retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };

const withoutValue: ReadonlySet<FieldErrorReason> = new Set([
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
  'InternalError',
]);

/** The text of one field error without its path: `Invalid value: "x": must be …`. */
export function fieldErrorMessage(error: FieldError): string {
  const { label } = fieldReasons[error.reason];
  const hasValue = error.badValue !== undefined && !withoutValue.has(error.reason);
  const value = hasValue ? `: ${shownValue(error.badValue)}` : '';
  return `${label}${value}${error.detail === '' ? '' : `: ${error.detail}`}`;
}

/** The same with its path. */
export const fieldErrorText = (error: FieldError): string =>
  `${error.field}: ${fieldErrorMessage(error)}`;

const shownValue = (value: unknown): string =>
  typeof value === 'number' && !Number.isInteger(value) ? shownFloat(value) : shownJson(value);

/** The shortest text that gives the same double: with an exponent from 1e+06 up and below 1e-04. */
export function shownFloat(double: number): string {
  const size = Math.abs(double);
  if (size === 0 || (size < 1e6 && size >= 1e-4)) return String(double);
  return double.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

// The types of this TypeScript release do not know it yet.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

/** JSON of a value in a text. Integers beyond 2^53 are bigint, which JSON.stringify refuses. */
export const shownJson = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(member.toString()) : member,
  );

/** 422 with one cause per field error. `kind` and `group` name the kind that was validated. */
export function invalid(ref: KindRef, name: string, errors: readonly FieldError[]): StatusError {
  // A failure that is there twice is told once, and is two causes.
  const list = aggregateText(errors.map(fieldErrorText));
  const message = `${qualified(ref.kind, ref.group)} "${name}" is invalid: ${list}`;
  const causes = errors.map((error) => ({
    reason: error.reason,
    message: fieldErrorMessage(error),
    field: error.field,
  }));
  return new StatusError(422, 'Invalid', message, {
    ...detailsOf(name, ref.group, ref.kind),
    causes,
  });
}
