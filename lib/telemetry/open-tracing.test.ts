// Traces on their way to a real collector over gRPC: what is sampled, how much may wait, and that a
// collector which does not answer costs a line of the log.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { limits } from '../base/limits.ts';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { openTracing } from './open-tracing.ts';
import type { OpenedTracing } from './open-tracing.ts';
import type { Tracing } from './tracing.ts';
import { Collector } from './testing/collector.ts';

let collector: Collector;
let log: string[] = [];
beforeEach(async () => {
  log = [];
  collector = await Collector.start();
});
afterEach(() => collector.stop());

/** The timers of `close` fire when the test says so. */
let fire: () => void = () => undefined;
const clock = {
  ...systemClock,
  after(_delayMs: number, run: () => void) {
    fire = run;
    return () => undefined;
  },
};
const open = (port: number, samplingRatePerMillion: number): OpenedTracing =>
  openTracing(
    { target: `dns://127.0.0.1:${String(port)}`, samplingRatePerMillion },
    { clock, log: createLogger('info', (line) => void log.push(line)), instanceId: 'i', host: 'h' },
  );
const ask = (tracing: Tracing, count: number, headers = {}): void => {
  for (let index = 0; index < count; index++) {
    const startMs = Date.now();
    const span = tracing.openRequest({ name: 'GET', startMs, headers, isTrusted: true });
    span.end({ hasFailed: false });
  }
};
const parent = (flags: string): object => ({
  traceparent: `00-${'ab'.repeat(16)}-00f067aa0ba902b7-${flags}`,
});

test.each([
  ['none without a parent, where the rate is 0', 0, {}, 0],
  ['all without a parent, where the rate is a million', 1_000_000, {}, 1_000],
  ['those with a sampled parent, whatever the rate', 0, parent('01'), 1_000],
  ['none with a parent that is not sampled, whatever the rate', 1_000_000, parent('00'), 0],
])('a collector has of 1,000 requests %s', async (_what, rate, headers, count) => {
  const { tracing, close } = open(collector.port, rate);
  ask(tracing, 1_000, headers);
  await close();
  expect(collector.spans).toHaveLength(count);
  expect(log).toEqual([]);
});

test('a part of them, where the rate is a part', async () => {
  const { tracing, close } = open(collector.port, 500_000);
  ask(tracing, 1_000);
  await close();
  expect(Math.abs(collector.spans.length - 500)).toBeLessThan(150); // nine standard deviations
});

test('who the process is, once for all its spans', async () => {
  const { tracing, close } = open(collector.port, 1_000_000);
  ask(tracing, 1);
  await close();
  const resource = { 'service.name': 'apiserver', 'service.instance.id': 'i', 'host.name': 'h' };
  expect(collector.resource).toEqual(resource);
});

test('no attribute is longer than the limit', async () => {
  const { tracing, close } = open(collector.port, 1_000_000);
  const request = { name: 'GET', startMs: Date.now(), headers: {}, isTrusted: false };
  const span = tracing.openRequest(request);
  span.note({ long: 'x'.repeat(100_000) });
  span.end({ hasFailed: false });
  await close();
  const lengths = collector.spans.map(({ attributes }) => String(attributes['long']).length);
  expect(lengths).toEqual([limits.tracingAttributeCharactersMax]);
});

test('a collector that is not there costs a line of the log, however much is lost', async () => {
  const gone = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => gone.once('listening', resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  const { tracing, close } = open(port, 1_000_000);
  ask(tracing, 3 * limits.tracingQueueSpansMax);
  await close();
  expect(log.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 'warn', message: 'traces are not delivered' },
  ]);
});

test('one that hangs keeps so many spans at most, and the end no longer than it may', async () => {
  let answer = (): void => undefined;
  collector.until = new Promise((resolve) => (answer = resolve));
  const { tracing, close } = open(collector.port, 1_000_000);
  ask(tracing, 3 * limits.tracingQueueSpansMax);
  const closed = close();
  fire();
  await closed;
  expect(log.join('')).toContain('the collector does not take them in time');
  const whole = close();
  answer();
  await whole;
  const { tracingQueueSpansMax: waiting, tracingBatchSpansMax: sending } = limits;
  expect(collector.spans.length).toBeLessThanOrEqual(waiting + sending);
});
