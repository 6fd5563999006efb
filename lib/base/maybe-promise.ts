// What may be there at once: whoever answers from memory makes no promise, and whoever asks goes on
// in the same turn.

export type MaybePromise<T> = T | Promise<T>;
