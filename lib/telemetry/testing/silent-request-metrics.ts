// For tests that look at other things: reports nothing.
import type { RequestMetrics } from '../request-metrics.ts';

export const silentRequestMetrics: RequestMetrics = {
  started: () => undefined,
  finished: () => undefined,
  watchEvents: () => ({ add: () => undefined }),
  watchListed: () => undefined,
  aborted: () => undefined,
  tlsHandshakeFailed: () => undefined,
};
