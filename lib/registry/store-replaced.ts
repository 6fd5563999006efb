// A write that was begun on a store which another one has taken the place of: nothing was written.
import { BeginAnew } from '../base/begin-anew.ts';

/** `renewed`: the map of resources shows what has taken the place; it may be nothing. */
export class StoreReplaced extends BeginAnew {
  constructor(resource: string, renewed: BeginAnew['renewed']) {
    super(`the definition of ${resource} changed during the write: try again`, renewed);
  }
}
