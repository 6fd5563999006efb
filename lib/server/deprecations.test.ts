import { describe, expect, test } from '@jest/globals';
import { switches } from '../config/flag-kinds.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { namingProfile } from '../api/vendor.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { testMetrics } from '../telemetry/testing/test-metrics.ts';
import { deprecationNotes } from './deprecations.ts';
import { resourceRequests } from './handlers/resources.ts';
import type { VerbHandlers } from './handlers/resources.ts';
import { sendNow } from './respond.ts';
import { request1, startTestServer } from './testing/test-server.ts';
import type { TestAnswer } from './testing/test-server.ts';

const naming = namingProfile('svc');
const runtimeConfig = switches.parse('api/all=true');
const scheme = builtInScheme({ profile: naming, runtimeConfig });

interface Seen {
  readonly answer: TestAnswer;
  readonly annotations: object;
  readonly metricLines: readonly string[];
}

/** One request, through the filter that finds the verb. */
async function seen(path: string, minor = '36'): Promise<Seen> {
  const metrics = testMetrics();
  let annotations: object = {};
  const answer: VerbHandlers['get'] = async (_store, request, response) => {
    annotations = Object.fromEntries(request.context.auditAnnotations ?? []);
    sendNow(request, response, { status: 200, contentType: 'text/plain' }, Buffer.from('ok'));
    return Promise.resolve();
  };
  // Only the verbs of this test.
  const handlers = { get: answer, list: answer } as unknown as VerbHandlers;
  const stores = new Map<string, Pick<ResourceStore, 'resource'>>(
    scheme.resources.map((resource) => [
      `${resource.group}/${resource.version}/${resource.resource}`,
      { resource },
    ]),
  );
  await using server = await startTestServer({
    filters: [
      resourceRequests(
        handlers,
        deprecationNotes({ version: { major: '1', minor }, naming, metrics }),
        () => true,
      ),
    ],
    findEntry: (info) =>
      stores.get(`${info.group}/${info.version}/${info.resource}`) as ResourceStore | undefined,
  });
  const got = await request1(server, path);
  const { body } = await metrics.text();
  const metricLines = body
    .split('\n')
    .filter((line) => line.startsWith('apiserver_requested_deprecated_apis{'));
  return { answer: got, annotations, metricLines };
}

describe('a request', () => {
  test('of a deprecated kind gets a warning, an audit annotation and a metric', async () => {
    const { answer, annotations, metricLines } = await seen('/api/v1/namespaces/n/endpoints');
    expect(answer.status).toBe(200);
    expect(answer.headers['warning']).toBe(
      '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.svc.io/v1 EndpointSlice"',
    );
    expect(annotations).toEqual({ 'svc.io/deprecated': 'true' });
    expect(metricLines).toEqual([
      'apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",' +
        'subresource="",version="v1"} 1',
    ]);
  });
  test('of a version that is to be removed names the release', async () => {
    const [deprecated] = scheme.resources.filter(({ life }) => life?.removed !== undefined);
    if (deprecated?.life?.removed === undefined) throw new Error('some version has an end');
    const { group, version, resource, life } = deprecated;
    const { answer, annotations, metricLines } = await seen(
      `/apis/${group}/${version}/${resource}`,
      '99',
    );
    expect(answer.headers['warning']).toContain(`unavailable in v${life.removed ?? ''}+`);
    expect(annotations).toEqual({
      'svc.io/deprecated': 'true',
      'svc.io/removed-release': life.removed,
    });
    expect(metricLines[0]).toContain(`removed_release="${life.removed ?? ''}"`);
  });
  test('of anything else is not', async () => {
    const { answer, annotations, metricLines } = await seen('/api/v1/namespaces/n/pods');
    expect(answer.headers['warning']).toBeUndefined();
    expect([annotations, metricLines]).toEqual([{}, []]);
  });
});
