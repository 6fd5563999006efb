// A request that was begun on a store which another one has taken the place of, or nothing: nothing
// was written, and what was read is not told.
import { BeginAnew } from '../base/begin-anew.ts';

/** `renewed`: the map of resources shows what has taken the place; it may be nothing. */
export class StoreReplaced extends BeginAnew {
  constructor(resource: string, renewed: BeginAnew['renewed']) {
    super(`the definition of ${resource} changed during the request: try again`, renewed);
  }
}
