// A value or a promise of one: an answer from memory allocates no promise, and its caller goes on
// in the same turn of the event loop.

export type MaybePromise<T> = T | Promise<T>;

/** What `next` makes of the value: at once where it is there. */
export const whenThere = <Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> => (value instanceof Promise ? value.then(next) : next(value));
