// Spans of requests through the whole API over a real etcd: names, whose trace goes on, what is
// shown, and that there is nothing of all this where requests are not traced.
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { forbiddenRequest } from '../../base/status.ts';
import { Tracing } from '../../telemetry/tracing.ts';
import { ApiOnEtcd, sendTo } from '../testing/api-on-etcd.ts';
import { startApiServer } from '../testing/api-server.ts';
import { eventually } from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';

const exporter = new InMemorySpanExporter();
const tracingBy = (root: AlwaysOnSampler | AlwaysOffSampler): Tracing => {
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root }),
    spanProcessors,
  });
  return new Tracing(provider.getTracer('test'));
};

let api: ApiOnEtcd;
let traced: TestServer;
let unsampled: TestServer;
let groups: readonly string[] = [];
let forwarded: string[] = [];

beforeAll(async () => {
  api = await ApiOnEtcd.start();
  const options = {
    authenticator: {
      name: 'test',
      authenticate: () => ({
        outcome: 'accepted' as const,
        user: { name: 'tester', uid: '', groups, extra: {} },
      }),
    },
    authorizer: {
      name: 'test',
      authorize: ({ path, verb }: { readonly path: string; readonly verb: string }) => {
        if (path === '/fault') throw new TypeError('CANARY');
        if (path === '/refused') throw forbiddenRequest('CANARY');
        forwarded.push(verb);
        return { effect: 'allow' as const, reason: '' };
      },
    },
  };
  traced = await startApiServer(api.replica, {
    ...options,
    tracing: tracingBy(new AlwaysOnSampler()),
  });
  const off = tracingBy(new AlwaysOffSampler());
  unsampled = await startApiServer(api.replica, { ...options, tracing: off });
});
afterAll(async () => {
  await traced[Symbol.asyncDispose]();
  await unsampled[Symbol.asyncDispose]();
  await api.stop();
});
beforeEach(() => {
  exporter.reset();
  groups = [];
  forwarded = [];
});

const server = 1; // SpanKind.SERVER
const ofRequests = (): ReadableSpan[] =>
  exporter.getFinishedSpans().filter(({ kind }) => kind === server);

async function spanOf(line: string, headers = {}, at: TestServer = traced): Promise<ReadableSpan> {
  await sendTo(at, line, { headers });
  await eventually(() => ofRequests().length === 1);
  const [span] = ofRequests();
  if (span === undefined) throw new Error('no span');
  return span;
}

test.each([
  ['GET /version', 'GET'],
  ['GET /api/v1', 'GET'],
  ['GET /api/v1/pods', 'GET /api/v1/pods'],
  ['GET /api/v1/namespaces/a/pods/x', 'GET /api/v1/namespaces/{:namespace}/pods/{:name}'],
  [
    'PUT /apis/apps/v1/namespaces/a/deployments/x/scale',
    'PUT /apis/apps/v1/namespaces/{:namespace}/deployments/{:name}/scale',
  ],
])('%s is the span %s', async (line, name) => {
  expect((await spanOf(line)).name).toBe(name);
});

test.each([
  ['/version?token=SECRET', '/version?token=REDACTED'],
  ['/version?limit=5&a&limit=%2F', '/version?limit=5&a=REDACTED&limit=%2F'],
  ['/api/v1/pods?labelSelector=a%3Db', '/api/v1/pods?labelSelector=a%3Db'],
  ['/version', '/version'],
])('the target %s is shown as %s', async (path, shown) => {
  expect((await spanOf(`GET ${path}`)).attributes['http.target']).toBe(shown);
});

describe('the trace of who asks', () => {
  const traceId = 'ab'.repeat(16);
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };

  test.each([['system:masters'], ['system:monitoring']])('goes on for %s', async (group) => {
    groups = [group];
    const span = await spanOf('GET /version', headers, unsampled);
    expect(span.spanContext().traceId).toBe(traceId);
    expect(span.parentSpanContext?.spanId).toBe('00f067aa0ba902b7');
    expect(span.links).toEqual([]);
  });

  test('is but a link for everybody else', async () => {
    const span = await spanOf('GET /version', headers);
    expect(span.spanContext().traceId).not.toBe(traceId);
    expect(span.parentSpanContext).toBeUndefined();
    expect(span.links.map(({ context }) => context.traceId)).toEqual([traceId]);
  });

  test.each([
    ['that is not sampled', { traceparent: headers.traceparent.replace(/01$/, '00') }],
    ['that cannot be read', { traceparent: 'CANARY' }],
    ['that there is none of', {}],
  ])('%s records nothing where nothing is sampled', async (_what, sent) => {
    groups = ['system:masters'];
    expect((await sendTo(unsampled, 'GET /version', { headers: sent })).status).toBe(200);
    expect((await spanOf('GET /version', headers, unsampled)).name).toBe('GET');
    expect(ofRequests()).toHaveLength(1);
  });
});

test.each([
  ['/fault', 500, 2, 'TypeError'],
  ['/refused', 403, 0, 'Forbidden'],
])('%s ends with %d; the step that failed says how, not why', async (path, code, status, type) => {
  const span = await spanOf(`GET ${path}`);
  expect([span.attributes['http.response.status_code'], span.status.code]).toEqual([code, status]);
  const step = exporter.getFinishedSpans().find(({ name }) => name === 'authorization');
  expect([step?.status.code, step?.attributes['error.type']]).toEqual([2, type]);
  const told = exporter.getFinishedSpans().map(({ attributes, status: of }) => [attributes, of]);
  expect(JSON.stringify(told)).not.toContain('CANARY');
});

test('a step ends before the next one begins', async () => {
  await spanOf('GET /version');
  const steps = exporter.getFinishedSpans().filter(({ kind }) => kind !== server);
  expect(steps.map(({ name }) => name)).toEqual([
    'authentication',
    'impersonation',
    'authorization',
  ]);
});

test('where requests are not traced, nothing is asked for a span, and none is begun', async () => {
  const run = jest.spyOn(AsyncLocalStorage.prototype, 'run');
  const getStore = jest.spyOn(AsyncLocalStorage.prototype, 'getStore');
  const traceparent = `00-${'ab'.repeat(16)}-00f067aa0ba902b7-01`;
  const headers = { traceparent };
  const maps = '/api/v1/namespaces/default/configmaps';
  const round = async (at: Pick<TestServer, 'port' | 'ca'>, name: string): Promise<number> => {
    run.mockClear();
    getStore.mockClear();
    const body = { metadata: { name } };
    expect((await sendTo(at, `POST ${maps}`, { body, headers })).status).toBe(201);
    expect((await sendTo(at, `GET ${maps}/${name}`, { headers })).status).toBe(200);
    expect((await sendTo(at, `GET ${maps}`, { headers })).status).toBe(200);
    expect((await sendTo(at, `DELETE ${maps}/${name}`, { headers })).status).toBe(200);
    return run.mock.calls.length + getStore.mock.calls.length;
  };
  try {
    expect(await round(api.server, 'off')).toBe(0);
    expect(exporter.getFinishedSpans()).toEqual([]);
    expect(await round(traced, 'on')).toBeGreaterThan(0); // it would be seen
  } finally {
    run.mockRestore();
    getStore.mockRestore();
  }
});
