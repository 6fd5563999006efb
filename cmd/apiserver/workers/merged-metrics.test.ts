import { describe, expect, test } from '@jest/globals';
import { metricTable } from '../../../lib/telemetry/metric-table.ts';
import { createMetrics } from '../../../lib/telemetry/metrics.ts';
import { MergedMetrics, acrossRules } from './merged-metrics.ts';

const rules = new Map([
  ['least', 'min'],
  ['most', 'max'],
  ['shared_total', 'max'],
] as const);

const text = (name: string, type: string, samples: readonly string[]): string =>
  [`# HELP ${name} Help of ${name}.`, `# TYPE ${name} ${type}`, ...samples, ''].join('\n');

function samplesOf(merged: MergedMetrics): string[] {
  return merged.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('samples of the same name and labels become one', () => {
  test.each([
    ['counters are added up', 'a_total', 'counter', ['a_total 1'], ['a_total 2'], ['a_total 3']],
    ['gauges are added up', 'open', 'gauge', ['open 1'], ['open 2'], ['open 3']],
    ['but for the least', 'least', 'gauge', ['least 1'], ['least 2'], ['least 1']],
    ['and the most', 'most', 'gauge', ['most 1'], ['most 2'], ['most 2']],
    [
      'other labels are other samples',
      'a',
      'gauge',
      ['a{b="1"} 1'],
      ['a{b="2"} 2'],
      ['a{b="1"} 1', 'a{b="2"} 2'],
    ],
    [
      'labels may hold spaces and braces',
      'a',
      'gauge',
      ['a{b="} # 7 "} 1'],
      ['a{b="} # 7 "} 2'],
      ['a{b="} # 7 "} 3'],
    ],
    [
      'buckets, sums and counts are',
      'h',
      'histogram',
      ['h_bucket{le="+Inf"} 1', 'h_sum 0.5', 'h_count 1'],
      ['h_bucket{le="+Inf"} 2', 'h_sum 1', 'h_count 2'],
      ['h_bucket{le="+Inf"} 3', 'h_sum 1.5', 'h_count 3'],
    ],
    [
      'of quantiles the slowest is shown',
      's',
      'summary',
      ['s{quantile="0.5"} 1', 's_sum 4'],
      ['s{quantile="0.5"} 3', 's_sum 5'],
      ['s{quantile="0.5"} 3', 's_sum 9'],
    ],
    [
      'a quantile of nothing gives way',
      's',
      'summary',
      ['s{quantile="0.5"} Nan'],
      ['s{quantile="0.5"} 3'],
      ['s{quantile="0.5"} 3'],
    ],
    [
      'no number at all stays none',
      's',
      'summary',
      ['s{quantile="0.5"} Nan'],
      ['s{quantile="0.5"} Nan'],
      ['s{quantile="0.5"} Nan'],
    ],
    ['infinity is a number', 'most', 'gauge', ['most +Inf'], ['most 1'], ['most +Inf']],
  ])('%s', (_claim, name, type, one, other, together) => {
    const merged = new MergedMetrics(rules);
    merged.add(text(name, type, one));
    merged.add(text(name, type, other));
    expect(samplesOf(merged)).toEqual(together);
  });
});

describe('what a worker had counted that has ended', () => {
  test.each([
    ['counters go on', 'a_total', 'counter', ['a_total 5'], ['a_total 6']],
    ['histograms go on', 'h', 'histogram', ['h_sum 5', 'h_count 1'], ['h_sum 6', 'h_count 1']],
    ['gauges do not', 'open', 'gauge', ['open 5'], ['open 1']],
    [
      'quantiles do not',
      's',
      'summary',
      ['s{quantile="0.5"} 9', 's_count 2'],
      ['s{quantile="0.5"} 1', 's_count 2'],
    ],
    [
      'what all count alike does not',
      'shared_total',
      'counter',
      ['shared_total 5'],
      ['shared_total 1'],
    ],
  ])('%s', (_claim, name, type, ended, together) => {
    const merged = new MergedMetrics(rules);
    const [first = ''] = ended;
    merged.add(text(name, type, [`${first.replace(/ \S+$/, '')} 1`]));
    merged.addEnded(text(name, type, ended));
    expect(samplesOf(merged)).toEqual(together);
  });

  test('ended ones join ended ones', () => {
    const ended = new MergedMetrics(rules);
    ended.addEnded(text('a_total', 'counter', ['a_total{b="1"} 5']));
    ended.addEnded(text('a_total', 'counter', ['a_total{b="1"} 6']));
    const merged = new MergedMetrics(rules);
    merged.add(text('a_total', 'counter', ['a_total{b="1"} 1']));
    merged.addEnded(ended.text);
    expect(samplesOf(merged)).toEqual(['a_total{b="1"} 12']);
  });
});

test('a sample beside the texts joins a family that they name, and no other', () => {
  const merged = new MergedMetrics(rules);
  merged.add(text('open', 'gauge', ['open{worker="0"} 1']));
  merged.addSample('open{worker="1"}', 2);
  merged.addSample('hidden{worker="1"}', 2);
  expect(samplesOf(merged)).toEqual(['open{worker="0"} 1', 'open{worker="1"} 2']);
});

test('the text of one server alone comes out as it went in', async () => {
  const resolve = (name: string): string => name.replace('{kubernetes}', 'svc');
  const options = { release: '1.36', showHiddenFor: undefined, disabled: [], resolve };
  const metrics = createMetrics(options);
  metrics.series.apiserver_worker_connections.child('a "b" \\ \n c').value = 0.1;
  metrics.series.apiserver_request_duration_seconds.child(...Array<string>(8).fill('x')).observe(3);
  metrics.series.apiserver_admission_step_admission_duration_seconds_summary.child('', '', '');
  const { body } = await metrics.text();
  const merged = new MergedMetrics(acrossRules(resolve));
  merged.add(body);
  const samples = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(samplesOf(merged)).toEqual(samples);
  const heads = (of: string): string[] => of.split('\n').filter((line) => line.startsWith('#'));
  expect(heads(merged.text)).toEqual(heads(body));
});

test('every rule is of a row of the table', () => {
  const found = acrossRules((name) => name);
  expect([...found.keys()]).toEqual(Object.keys(metricTable));
  expect(found.get('apiserver_ready')).toBe('min');
  expect(found.get('apiserver_request_total')).toBe('sum');
});
