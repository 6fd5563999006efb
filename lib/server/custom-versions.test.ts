// Versions of custom resources as requests see them: their order, what deprecated ones say, and
// paths that are not there.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { customPath, startCustomApi } from './testing/custom-api.ts';
import type { CustomApi } from './testing/custom-api.ts';

let served: CustomApi;
const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
const subresources = { status: {}, scale };

beforeAll(async () => {
  served = await startCustomApi();
  const { custom } = served;
  const deprecated = { deprecated: true };
  await custom.define({
    plural: 'widgets',
    versions: [
      { name: 'foo' },
      { name: 'v1beta1', subresources, more: deprecated },
      { name: 'v1alpha1', more: { ...deprecated, deprecationWarning: 'old widget, use v1' } },
      { name: 'v1', subresources },
      { name: 'v10', served: false },
      { name: 'v2', more: deprecated },
      { name: 'v3beta1' },
      { name: 'v11alpha2' },
      { name: 'v11alpha10' },
      { name: 'bar' },
    ],
  });
  const cluster = { scope: 'Cluster', versions: [{ name: 'v1', subresources }] } as const;
  await custom.define({ plural: 'roots', ...cluster });
  const body = { kind: 'Root', apiVersion: 'example.com/v1', metadata: { name: 'r' } };
  await served.answered('POST /apis/example.com/v1/roots', { body });
  await served.answered(`POST ${customPath('widgets')}`, { body: widget('a') });
});
afterAll(() => served.stop());

const widget = (name: string, version = 'v1'): object => ({
  kind: 'Widget',
  apiVersion: `example.com/${version}`,
  metadata: { name },
});

test('GA before beta before alpha, then numbers falling, then names: preferred first', async () => {
  const { json } = await served.send('GET /apis/example.com');
  const { versions, preferredVersion } = json as {
    versions: { version: string }[];
    preferredVersion: { version: string };
  };
  expect(versions.map(({ version }) => version)).toEqual([
    ...['v2', 'v1', 'v3beta1', 'v1beta1', 'v11alpha10', 'v11alpha2', 'v1alpha1', 'bar', 'foo'],
  ]);
  expect(preferredVersion.version).toBe('v2');
});

describe('a request of a deprecated version', () => {
  const warningOf = async (line: string, body?: object): Promise<unknown> =>
    (await served.send(line, body === undefined ? {} : { body })).headers['warning'];
  const usual = '299 - "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget"';

  test.each<[string, string, string | undefined]>([
    ['names the best version above it', 'v1beta1', usual],
    ['says what its definition says', 'v1alpha1', '299 - "old widget, use v1"'],
    ['names none where none is above it', 'v2', '299 - "example.com/v2 Widget is deprecated"'],
    ['of another one is told nothing', 'v1', undefined],
  ])('%s', async (_, version, expected) => {
    expect(await warningOf(`GET ${customPath('widgets', 'a', version)}`)).toBe(expected);
    expect(await warningOf(`GET ${customPath('widgets', '', version)}`)).toBe(expected);
    expect(await warningOf(`GET ${customPath('widgets', 'none', version)}`)).toBe(expected);
  });

  test('warns for every verb, and for its subresources', async () => {
    const path = customPath('widgets', '', 'v1beta1');
    expect(await warningOf(`POST ${path}`, widget('b', 'v1beta1'))).toBe(usual);
    expect(await warningOf(`PATCH ${path}/b`, { spec: { n: 1 } })).toBe(usual);
    expect(await warningOf(`GET ${path}/b/status`)).toBe(usual);
    expect(await warningOf(`GET ${path}/b/scale`)).toBe(usual);
    expect(await warningOf(`DELETE ${path}/b`)).toBe(usual);
  });

  test('is counted', async () => {
    await served.send(`GET ${customPath('widgets', 'a', 'v1beta1')}`);
    const { body } = await served.send('GET /metrics');
    expect(body.toString()).toContain(
      'apiserver_requested_deprecated_apis{group="example.com",removed_release="",' +
        'resource="widgets",subresource="",version="v1beta1"} 1',
    );
  });

  test('follows its definition', async () => {
    const { custom } = served;
    await custom.define({ plural: 'gadgets', versions: [{ name: 'v1' }, { name: 'v1beta1' }] });
    const line = `GET ${customPath('gadgets', '', 'v1beta1')}`;
    expect(await warningOf(line)).toBeUndefined();
    await custom.redefine('gadgets.example.com', (spec) => {
      const [, beta] = spec['versions'] as JsonObject[];
      Object.assign(beta ?? {}, { deprecated: true });
    });
    expect(await warningOf(line)).toBe(
      '299 - "example.com/v1beta1 Gadget is deprecated; use example.com/v1 Gadget"',
    );
  });
});

describe('404 is', () => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  const statusOf = async (line: string): Promise<number> => {
    const sent = /^(GET|DELETE)/.test(line) ? {} : { body: widget('a') };
    return (await served.send(line, sent)).status;
  };

  test.each(methods)('%s of a namespaced kind without a namespace', async (method) => {
    const item = '/apis/example.com/v1/widgets/a';
    for (const path of [item, `${item}/status`, `${item}/scale`]) {
      expect(await statusOf(`${method} ${path}`)).toBe(404);
    }
    const collection = await statusOf(`${method} /apis/example.com/v1/widgets`);
    expect(collection).toBe(method === 'GET' ? 200 : 404);
  });

  test.each(methods)('%s of a cluster kind in a namespace', async (method) => {
    const path = customPath('roots');
    for (const line of [path, `${path}/r`, `${path}/r/status`, `${path}/r/scale`]) {
      expect(await statusOf(`${method} ${line}`)).toBe(404);
    }
  });

  test('a version that is not served, for every verb', async () => {
    for (const method of methods) {
      expect(await statusOf(`${method} ${customPath('widgets', 'a', 'v10')}`)).toBe(404);
      expect(await statusOf(`${method} ${customPath('widgets', '', 'v10')}`)).toBe(404);
    }
  });

  test('not a watch or list across namespaces', async () => {
    expect(await statusOf('GET /apis/example.com/v1/widgets')).toBe(200);
    const watch = '/apis/example.com/v1/widgets?watch=1&timeoutSeconds=1';
    expect(await statusOf(`GET ${watch}`)).toBe(200);
    expect(await statusOf('GET /apis/example.com/v1/roots/r')).toBe(200);
  });
});
