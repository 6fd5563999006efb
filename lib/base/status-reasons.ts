// THE tables of reasons that failures give to clients, with their HTTP codes; docs/errors.md comes
// from them. The constructors in status.ts make the errors.

interface ReasonRow {
  /** HTTP status codes that it comes with. */
  readonly codes: readonly number[];
  readonly when: string;
}

export const statusReasons = {
  BadRequest: {
    codes: [400],
    when: 'Body, parameter or name cannot be read, or fields are unknown in strict validation.',
  },
  Unauthorized: {
    codes: [401],
    when: 'The credentials are not valid, or there are none and anonymous requests are off.',
  },
  Forbidden: {
    codes: [403],
    when: 'The user may not do this, admission refused it, or the namespace is ending.',
  },
  NotFound: {
    codes: [404],
    when: 'No such object, resource or path. details.name tells an object from a path.',
  },
  MethodNotAllowed: {
    codes: [405],
    when: 'The resource does not have this verb.',
  },
  NotAcceptable: {
    codes: [406],
    when: 'None of the media types in Accept can be made; the message lists those that can.',
  },
  AlreadyExists: {
    codes: [409],
    when: 'An object of this name exists; also after all tries of generateName.',
  },
  Conflict: {
    codes: [409],
    when: 'The object is another one, or has changed: read it again and repeat the change.',
  },
  Expired: {
    codes: [410],
    when: 'The version is no longer kept, or the continue token is too old: list again.',
  },
  RequestEntityTooLarge: {
    codes: [413],
    when: 'The body, the object or the change is larger than a limit, which the message names.',
  },
  UnsupportedMediaType: {
    codes: [415],
    when: 'The Content-Type of the body is none that this verb reads.',
  },
  Invalid: {
    codes: [422],
    when: 'Fields break rules: details.causes has one entry for each, with its path.',
  },
  TooManyRequests: {
    codes: [429],
    when: 'Too many at once, or too many races for one object: wait for Retry-After, then repeat.',
  },
  InternalError: {
    codes: [500],
    when: 'A fault of this server; its log has the request by its audit id.',
  },
  StorageReadError: {
    codes: [500],
    when: 'Objects in etcd that the answer needs cannot be read: details.causes has their keys.',
  },
  NotImplemented: {
    codes: [501],
    when: 'This server does not do it, whatever is sent: the message says what.',
  },
  ServiceUnavailable: {
    codes: [503],
    when: 'etcd is away or full, or the server begins or ends: repeat after Retry-After.',
  },
  Timeout: {
    codes: [504],
    when: 'Not done in time. A write may have happened: read before it is repeated.',
  },
  '': {
    codes: [417, 426, 500],
    when: 'No reason is given, as in Kubernetes: Expect, Upgrade; a conversion webhook that fails.',
  },
} as const satisfies Readonly<Record<string, ReasonRow>>;

export type StatusReason = keyof typeof statusReasons;

interface FieldReasonRow {
  /** How its message begins. */
  readonly label: string;
  readonly when: string;
}

export const fieldReasons = {
  FieldValueRequired: { label: 'Required value', when: 'The field must be set.' },
  FieldValueInvalid: { label: 'Invalid value', when: 'The value breaks a rule.' },
  FieldValueNotSupported: {
    label: 'Unsupported value',
    when: 'The value is none of those that are possible.',
  },
  FieldValueForbidden: { label: 'Forbidden', when: 'The field may not be set, or not changed.' },
  FieldValueDuplicate: { label: 'Duplicate value', when: 'The value stands twice in its list.' },
  FieldValueTooLong: { label: 'Too long', when: 'The value is longer than its limit.' },
  FieldValueTooMany: { label: 'Too many', when: 'There are more items than the limit.' },
  FieldValueNotFound: { label: 'Not found', when: 'What the value names is not there.' },
  FieldValueTypeInvalid: { label: 'Invalid value', when: 'The value has another type.' },
  InternalError: { label: 'Internal error', when: 'The value could not be checked.' },
} as const satisfies Readonly<Record<string, FieldReasonRow>>;

export type FieldErrorReason = keyof typeof fieldReasons;
