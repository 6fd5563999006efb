// Which span is the present one: through promises, behind failures, and after the end.
import { beforeEach, expect, test } from '@jest/globals';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { notFound } from '../base/status.ts';
import { Tracing } from './tracing.ts';
import type { RequestSpan, SpanAttributes } from './tracing.ts';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracing = new Tracing(provider.getTracer('test'));
let request: RequestSpan;
beforeEach(() => {
  exporter.reset();
  const of = { name: 'request', startMs: Date.now(), headers: {}, isTrusted: false };
  request = tracing.openRequest(of);
});

const none = (): SpanAttributes => ({});
const nameOfParent = (name: string): string | undefined => {
  const all = exporter.getFinishedSpans();
  const id = all.find((span) => span.name === name)?.parentSpanContext?.spanId;
  return all.find((span) => span.spanContext().spanId === id)?.name;
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what waits is still within, and what runs beside it is not', async () => {
  await request.run(() =>
    Promise.all([
      tracing.within('a', none, async () => {
        await turn();
        await tracing.within('in a', none, turn);
      }),
      tracing.within('b', none, async () => {
        await tracing.within('in b', none, turn);
      }),
    ]),
  );
  request.end({ hasFailed: false });
  expect(['a', 'b', 'in a', 'in b'].map(nameOfParent)).toEqual(['request', 'request', 'a', 'b']);
});

test('what answers at once makes no promise', () => {
  expect(request.run(() => tracing.within('a', none, () => 1))).toBe(1);
  expect(request.run(() => tracing.until('b', (goOn) => goOn(() => 2)))).toBe(2);
});

test('what goes on behind a step is not within it', () => {
  void request.run(() =>
    tracing.until('step', (goOn) => goOn(() => tracing.within('next', none, () => undefined))),
  );
  request.end({ hasFailed: false });
  expect(['step', 'next'].map(nameOfParent)).toEqual(['request', 'request']);
});

test.each([
  [
    'at once',
    () => {
      throw notFound({ group: '', resource: 'r' }, 'CANARY');
    },
  ],
  ['later', () => Promise.reject(notFound({ group: '', resource: 'r' }, 'CANARY'))],
])('a failure %s ends its span, and is passed on', async (_when, run: () => Promise<void>) => {
  const failed = request.run(async () => tracing.within('a', none, run));
  await expect(failed).rejects.toThrow('CANARY');
  const [span] = exporter.getFinishedSpans();
  expect([span?.status, span?.attributes]).toEqual([{ code: 2 }, { 'error.type': 'NotFound' }]);
});

test('what a request leaves behind has no spans, and tells nobody of its trace', async () => {
  let left: Promise<object> = Promise.resolve({});
  request.run(() => {
    left = turn().then(() => tracing.within('late', none, () => tracing.headers()));
  });
  request.end({ hasFailed: false });
  expect(await left).toEqual({});
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['request']);
});

test('others are told of the present span; of none outside of a request', () => {
  const { traceparent } = request.run(() => tracing.headers());
  expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(tracing.headers()).toEqual({});
  expect(tracing.within('a', none, () => 1)).toBe(1);
  expect(exporter.getFinishedSpans()).toEqual([]);
});
