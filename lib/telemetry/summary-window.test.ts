import { describe, expect, test } from '@jest/globals';
import { SummarySeries } from './series.ts';
import { SummaryWindow } from './summary-window.ts';
import { Registry } from 'prom-client';

const hourMs = 3_600_000;

describe('x.summary: quantiles of the last five hours', () => {
  const windowAt = (time: { ms: number }): SummaryWindow => new SummaryWindow(() => time.ms);

  test.each([
    [0.5, 0.5],
    [0.9, 0.9],
    [0.99, 0.99],
  ])('the quantile %d of a thousand values up to a second', (share, seconds) => {
    const window = windowAt({ ms: 0 });
    for (let value = 1; value <= 1_000; value++) window.observe(value / 1_000);
    expect(window.quantile(share) / seconds).toBeGreaterThan(0.99);
    expect(window.quantile(share) / seconds).toBeLessThan(1.01);
  });

  test.each([
    ['0', 0, 0],
    ['less than a microsecond', 1e-9, 0],
    ['more than all ranges', 1e9, 1_000],
  ])('%s', (_what, value, quantile) => {
    const window = windowAt({ ms: 0 });
    window.observe(value);
    expect(window.quantile(0.5) - quantile).toBeLessThanOrEqual(quantile * 0.02);
    expect([window.sum, window.count]).toEqual([value, 1]);
  });

  test.each([
    ['an hour that is too old is forgotten', 5 * hourMs, NaN],
    ['one that is not is known', 5 * hourMs - 1, 1],
    ['after a long time nothing is known', 1_000 * hourMs, NaN],
  ])('%s, and what was counted is counted', (_what, ms, quantile) => {
    const time = { ms: 0 };
    const window = windowAt(time);
    window.observe(1);
    time.ms = ms;
    expect(Math.round(window.quantile(0.5))).toBe(quantile);
    expect([window.sum, window.count]).toEqual([1, 1]);
  });

  test('is rendered by quantile, with sum and count', async () => {
    const registry = new Registry();
    const shape = { name: 'took', help: 'help', labels: ['type'] };
    const series = new SummarySeries(shape, registry, () => 0);
    series.child('admit').observe(0);
    expect((await registry.metrics()).trim().split('\n')).toEqual([
      '# HELP took help',
      '# TYPE took summary',
      'took{type="admit",quantile="0.5"} 0',
      'took{type="admit",quantile="0.9"} 0',
      'took{type="admit",quantile="0.99"} 0',
      'took_sum{type="admit"} 0',
      'took_count{type="admit"} 1',
    ]);
  });
});
