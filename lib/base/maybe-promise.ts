// A value or a promise of one: an answer from memory allocates no promise, and its caller goes on
// in the same turn of the event loop.

export type MaybePromise<T> = T | Promise<T>;
