// Codes by which gRPC calls end (grpc/statuscodes), and their names by code.

const names = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

type Name = (typeof names)[number];

/** The library has them, too: who does not call through it need not load it. */
export const grpcStatus = Object.fromEntries(names.map((name, code) => [name, code])) as Readonly<
  Record<Name, number>
>;

/** undefined: of no code. */
export const grpcStatusName = (code: number): string | undefined => names[code];
