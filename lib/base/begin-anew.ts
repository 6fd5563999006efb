// A request that found out, before anything was written, that what it had decided by has changed.
import { StatusError } from './status.ts';

/**
 * Whoever can begins the request anew, from what the client sent, once `renewed` has resolved; for
 * all others it is a 503 that asks them to come back.
 */
export class BeginAnew extends StatusError {
  readonly renewed: (signal: AbortSignal) => Promise<void>;

  constructor(message: string, renewed: (signal: AbortSignal) => Promise<void>) {
    super(503, 'ServiceUnavailable', message, { retryAfterSeconds: 1 });
    this.renewed = renewed;
  }
}
