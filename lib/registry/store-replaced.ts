// A write that was begun on a store which another one has taken the place of: nothing was written.
import { StatusError } from '../base/status.ts';

/**
 * Whoever can find the store again begins the write anew, from what the client sent; for all others
 * it is an error that asks them to come back.
 */
export class StoreReplaced extends StatusError {
  /** Resolves once the map of resources shows what has taken the place; it may be nothing. */
  readonly renewed: (signal: AbortSignal) => Promise<void>;

  constructor(resource: string, renewed: (signal: AbortSignal) => Promise<void>) {
    const message = `the definition of ${resource} changed during the write: try again`;
    super(503, 'ServiceUnavailable', message, { retryAfterSeconds: 1 });
    this.renewed = renewed;
  }
}
