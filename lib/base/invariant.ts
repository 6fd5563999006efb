// Assertions about our own code. A failure here is a bug, never bad input: it is answered as a 500
// and logged with its stack.

/** Throws when `condition` is false. `message` says what should have held. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant violated: ${message}`);
}

/** Ends an exhaustive switch over a union: fails to type-check when a member is not handled. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
