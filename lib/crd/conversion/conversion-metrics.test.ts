import { expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { testMetrics } from '../../telemetry/testing/test-metrics.ts';
import { ConversionMetrics } from './conversion-metrics.ts';
import { answering, ConversionServer, converted } from './testing/conversion-server.ts';
import { convertingBy, failureOf, wallObject } from './testing/walls.ts';

const linesOf = async (of: ReturnType<typeof testMetrics>, wanted: RegExp): Promise<string[]> =>
  (await of.text()).body
    .split('\n')
    .filter((line) => wanted.test(line))
    .toSorted();

test('conversions by webhooks are counted and timed by how they ended', async () => {
  await using server = await ConversionServer.start();
  const webhook = server.webhook();
  const metrics = testMetrics();
  const convertAll = convertingBy(webhook, 'counted.example.com', metrics);
  const convert = (): Promise<unknown> => convertAll([wallObject('a')], 'example.com/v2');
  await convert();
  await convertAll([], 'example.com/v2', 0);
  server.answer = () => 'nonsense';
  await failureOf(convert());
  server.answer = answering(() => null);
  await failureOf(convert());
  server.answer = answering((response) => ({ ...response, convertedObjects: [] }));
  await failureOf(convert());
  server.answer = answering((response) => ({ ...response, convertedObjects: [5] }));
  await failureOf(convert());
  server.answer = converted;
  await convertAll([wallObject('a')], 'example.com/v3');
  webhook.close();
  const labels = (failure: string): string =>
    `{result="failure",failure_type="conversion_webhook_${failure}_failure"} 1`;
  expect(await linesOf(metrics, /^apiserver_conversion_webhook_request_total/)).toEqual(
    [
      ...['call', 'malformed_response', 'partial_response', 'invalid_converted_object'].map(labels),
      '{result="success",failure_type=""} 2',
    ]
      .map((line) => `apiserver_conversion_webhook_request_total${line}`)
      .toSorted(),
  );
  const counts = /^apiserver_conversion_webhook_duration_seconds_count/;
  expect(await linesOf(metrics, counts)).toHaveLength(5);
  const name = 'apiserver_crd_conversion_webhook_duration_seconds_count';
  const of = 'crd_name="counted.example.com",from_version="v1"';
  expect(await linesOf(metrics, new RegExp(`^${name}`))).toEqual([
    `${name}{${of},succeeded="false",to_version="v2"} 4`,
    `${name}{${of},succeeded="true",to_version="v2"} 1`,
    `${name}{${of},succeeded="true",to_version="v3"} 1`,
  ]);
});

test('definitions beyond a bound are counted as one', async () => {
  const own = testMetrics();
  const conversions = new ConversionMetrics(own.series);
  const end = { fromVersion: 'v1', toVersion: 'v2', seconds: 1, failure: undefined };
  for (let count = 0; count < limits.conversionMetricNamesMax + 5; count++) {
    conversions.ended({ ...end, name: `d${String(count)}.example.com` });
  }
  const other = /_duration_seconds_count\{crd_name="other"/;
  expect(await linesOf(own, other)).toEqual([
    'apiserver_crd_conversion_webhook_duration_seconds_count' +
      '{crd_name="other",from_version="v1",succeeded="true",to_version="v2"} 5',
  ]);
});
