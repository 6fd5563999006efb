// What a mutation comes to: an object, the given one where nothing is to change, or why there is
// none.
import type { ApiObject } from '../../codec/codec.ts';

export class MutationFailure {
  /** For the author of the policy. */
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** The object shares parts with the given one: neither may be changed in place. */
export type Mutated = Readonly<ApiObject> | MutationFailure;
