// The object of a body for each try of its write, which changes what it is given. There is seldom
// more than one: the first takes what was read.
import { cloneAlike } from '../api/json-value.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { ApiObject } from '../codec/codec.ts';

/** `again`: makes the object once more; undefined: it is copied before the first try. */
export function bodyCopies(
  object: ApiObject,
  again: (() => MaybePromise<ApiObject>) | undefined,
): () => MaybePromise<ApiObject> {
  const spare = again === undefined ? cloneAlike(object) : object;
  let unused: ApiObject | undefined = object;
  return () => {
    const copy = unused;
    unused = undefined;
    return copy ?? again?.() ?? cloneAlike(spare);
  };
}
