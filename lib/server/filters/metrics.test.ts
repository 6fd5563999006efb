import { expect, test } from '@jest/globals';
import type { RequestLabels } from '../../telemetry/request-metrics.ts';
import { silentRequestMetrics } from '../../telemetry/testing/silent-request-metrics.ts';
import type { HttpRequest, HttpResponse } from '../request-context.ts';
import { metricsFilter } from './metrics.ts';

test.each([
  ['GET', 'readOnly'],
  ['LIST', 'readOnly'],
  ['OPTIONS', 'readOnly'],
  ['POST', 'mutating'],
  ['DELETECOLLECTION', 'mutating'],
  ['OTHER', 'mutating'],
  ['WATCH', 'longRunning'],
  ['CONNECT', 'longRunning'],
])('%s is counted as %s from its begin to its end', (verb, kind) => {
  const noted: string[] = [];
  const filter = metricsFilter({
    clock: { monotonicMs: () => 3_000 } as Parameters<typeof metricsFilter>[0]['clock'],
    metrics: {
      ...silentRequestMetrics,
      started: (one) => void noted.push(`${one} started`),
      aborted: () => void noted.push('aborted'),
      finished: (one, _labels, { code, seconds }) =>
        void noted.push(`${one} ${String(code)} after ${String(seconds)} s`),
    },
  });
  const labels = { verb } as RequestLabels;
  const request = { context: { labels, receivedAtMs: 1_000 } } as HttpRequest;
  void filter(request, {} as HttpResponse, () => noted.push('inside') as never);
  const begun = [`${kind} started`, 'inside'];
  expect(noted).toEqual(begun);
  filter.closed?.(request, { statusCode: 200, writableEnded: true } as HttpResponse);
  expect(noted).toEqual([...begun, `${kind} 200 after 2 s`]);
  filter.closed?.(request, { statusCode: 101 } as HttpResponse);
  expect(noted.at(-1)).toBe(`${kind} 101 after 2 s`);
  filter.closed?.(request, { statusCode: 200 } as HttpResponse);
  expect(noted.slice(-2)).toEqual(['aborted', `${kind} 0 after 2 s`]);
});
