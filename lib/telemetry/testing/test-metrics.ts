// The metrics of a server of this release, with names as if its vendor were called test.
import { createMetrics } from '../metrics.ts';
import type { Metrics, MetricsOptions } from '../metrics.ts';

export const testMetrics = (options: Partial<MetricsOptions> = {}): Metrics =>
  createMetrics({
    release: '1.36',
    showHiddenFor: undefined,
    disabled: [],
    resolve: (name) => name.replace(/\{\w+\}/, 'test'),
    ...options,
  });
