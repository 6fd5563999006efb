// What clients see of custom kinds over HTTP: discovery in both forms and all encodings, OpenAPI,
// and how all of it comes, changes and goes with the definition.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { fresh } from '../registry/testing/verb-driver.ts';
import type { ApiAnswer, SentRequest } from './testing/api-on-etcd.ts';
import { startCustomApi } from './testing/custom-api.ts';
import type { CustomApi } from './testing/custom-api.ts';

type Value = Record<string, unknown>;

let api: CustomApi;
let group = '';
let name = '';

beforeAll(async () => {
  api = await startCustomApi();
});
afterAll(async () => {
  await api.stop();
});

const text = { type: 'string' };
const schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { a: text } } },
};
const paths = { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' };
const aggregatedType =
  'application/json;g=apidiscovery.svc.io;v=v2;as=APIGroupDiscoveryList,application/json';

const send = (line: string, sent?: SentRequest): Promise<ApiAnswer> => api.api.send(line, sent);
const get = (path: string, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
  send(`GET ${path}`, { headers });
const json = async (path: string): Promise<Value> => (await get(path)).json as Value;
const aggregated = (headers: Record<string, string> = {}): Promise<ApiAnswer> =>
  get('/apis', { accept: aggregatedType, ...headers });
const itemsOf = ({ json: list }: ApiAnswer): Value[] => (list as { items: Value[] }).items;
const own = (items: readonly Value[]): Value | undefined =>
  items.find(({ metadata }) => (metadata as Value)['name'] === group);
const definitions = '/apis/apiextensions.svc.io/v1/customresourcedefinitions';
const change = (patch: object): Promise<ApiAnswer> =>
  send(`PATCH ${definitions}/${name}`, { body: patch });

beforeEach(async () => {
  group = `${fresh()}.example.com`;
  name = `tigers.${group}`;
  await api.custom.define({
    group,
    plural: 'tigers',
    versions: [
      { name: 'v1beta1', schema, storage: false },
      { name: 'v1', schema, storage: true, subresources: { status: {}, scale: paths } },
      { name: 'v2alpha1', schema, storage: false },
      { name: 'v3', schema, served: false, storage: false },
    ],
  });
});

const allVerbs = 'delete deletecollection get list patch create update watch'.split(' ');
const someVerbs = ['get', 'patch', 'update'];

describe('legacy discovery', () => {
  test('lists the served versions, the most stable first, which is preferred', async () => {
    const entry = (version: string): object => ({ groupVersion: `${group}/${version}`, version });
    const versions = ['v1', 'v1beta1', 'v2alpha1'].map(entry);
    const found = { name: group, versions, preferredVersion: versions[0] };
    expect(await json(`/apis/${group}`)).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...found });
    const { groups } = (await json('/apis')) as { groups: Value[] };
    expect(groups.find((one) => one['name'] === group)).toEqual(found);
    expect((await get(`/apis/${group}/v3`)).status).toBe(404);
  });

  test('lists the plural, its status and its scale with the kind of that', async () => {
    const { resources, ...head } = await json(`/apis/${group}/v1`);
    expect(head).toMatchObject({ kind: 'APIResourceList', groupVersion: `${group}/v1` });
    const kind = { namespaced: true, kind: 'Tiger' };
    const below = { singularName: '', namespaced: true, verbs: someVerbs };
    expect(resources).toEqual([
      {
        name: 'tigers',
        singularName: 'tiger',
        ...kind,
        verbs: allVerbs,
        storageVersionHash: expect.stringMatching(/^[A-Za-z0-9+/]{11}=$/),
      },
      { name: 'tigers/status', ...below, kind: 'Tiger' },
      { name: 'tigers/scale', ...below, group: 'autoscaling', version: 'v1', kind: 'Scale' },
    ]);
  });

  test('hashes the storage version in all versions', async () => {
    const hashes = await Promise.all(
      ['v1', 'v1beta1'].map(async (version) => {
        const { resources } = (await json(`/apis/${group}/${version}`)) as { resources: Value[] };
        return resources[0]?.['storageVersionHash'];
      }),
    );
    expect(hashes[0]).toBe(hashes[1]);
  });

  test.each(['application/yaml', 'application/vnd.svc.protobuf', 'application/json'])(
    'comes in %s',
    async (accept) => {
      for (const path of [`/apis/${group}`, `/apis/${group}/v1`]) {
        const { status, headers } = await get(path, { accept });
        expect([status, headers['content-type']]).toEqual([200, accept]);
      }
    },
  );
});

describe('the aggregated list', () => {
  test('has the group behind the built-in ones, with versions and all resources', async () => {
    const items = itemsOf(await aggregated());
    const entry = own(items);
    const builtIn = items.findIndex(({ metadata }) => (metadata as Value)['name'] === 'apps');
    expect(items.indexOf(entry ?? {})).toBeGreaterThan(builtIn);
    const kind = { group, version: 'v1', kind: 'Tiger' };
    const versions = entry?.['versions'] as Value[];
    expect(versions.map(({ version, freshness }) => [version, freshness])).toEqual(
      ['v1', 'v1beta1', 'v2alpha1'].map((version) => [version, 'Current']),
    );
    expect(versions[0]?.['resources']).toEqual([
      {
        resource: 'tigers',
        responseKind: kind,
        scope: 'Namespaced',
        singularResource: 'tiger',
        verbs: allVerbs,
        subresources: [
          { subresource: 'status', responseKind: kind, verbs: someVerbs },
          {
            subresource: 'scale',
            responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
            verbs: someVerbs,
          },
        ],
      },
    ]);
  });

  test('has another tag only when it says something else', async () => {
    const { etag = '' } = (await aggregated()).headers;
    const again = await aggregated({ 'if-none-match': etag });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    await change({ metadata: { labels: { a: 'b' } } });
    await api.custom.redefine(name, (spec) => {
      const [version] = spec['versions'] as JsonObject[];
      Object.assign(version ?? {}, {
        schema: { openAPIV3Schema: { ...schema, description: 'other' } },
        additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }],
      });
    });
    expect((await aggregated()).headers.etag).toBe(etag);
    await api.custom.redefine(name, (spec) => {
      const [version] = spec['versions'] as JsonObject[];
      Object.assign(version ?? {}, { served: false });
    });
    const { headers, status } = await aggregated({ 'if-none-match': etag });
    expect(status).toBe(200);
    expect(headers.etag).not.toBe(etag);
  });

  test.each(['application/yaml', 'application/vnd.svc.protobuf'])(
    'comes in %s',
    async (mediaType) => {
      const accept = aggregatedType.replace('application/json;', `${mediaType};`);
      const { status, headers, body } = await aggregated({ accept });
      expect([status, headers['content-type']?.split(';')[0]]).toEqual([200, mediaType]);
      expect(body.toString('latin1')).toContain(group);
    },
  );
});

describe('OpenAPI', () => {
  const part = (): string => `/openapi/v3/apis/${group}/v1`;
  const urlOf = async (): Promise<string | undefined> => {
    const { paths: listed } = (await json('/openapi/v3')) as {
      paths: Record<string, { serverRelativeURL: string } | undefined>;
    };
    return listed[`apis/${group}/v1`]?.serverRelativeURL;
  };

  test('3.0 has a document for each group version, found by its hash', async () => {
    const url = (await urlOf()) ?? '';
    const { status, headers } = await get(url);
    expect([status, headers['cache-control']]).toEqual([200, 'public, immutable']);
    const document = await json(part());
    expect(document).toMatchObject({ openapi: '3.0.0' });
    expect(JSON.stringify(document)).toContain('"a":{"type":"string"}');
  });

  test('the address changes with the schema, and with nothing else', async () => {
    const before = await urlOf();
    await change({ metadata: { annotations: { a: 'b' } } });
    expect(await urlOf()).toBe(before);
    await api.custom.redefine(name, (spec) => {
      for (const version of spec['versions'] as JsonObject[]) {
        const described = { ...schema, description: 'Big cats.' };
        version['schema'] = { openAPIV3Schema: described };
      }
    });
    expect(await urlOf()).not.toBe(before);
    expect((await get(before ?? '')).status).toBe(301);
    expect(JSON.stringify(await json(part()))).toContain('Big cats.');
  });

  test('2.0 has it too, and no longer once it is gone', async () => {
    const model = `${group.split('.').reverse().join('.')}.v1.Tiger`;
    const before = await get('/openapi/v2');
    expect((before.json as { definitions: Value }).definitions).toHaveProperty([model]);
    const { etag = '' } = before.headers;
    expect((await get('/openapi/v2', { 'if-none-match': etag })).status).toBe(304);
    api.custom.replica.stores.set(`definition ${name}`, []);
    const after = (await get('/openapi/v2')).json as { definitions: Value };
    expect(after.definitions).not.toHaveProperty([model]);
    expect((await get(part())).status).toBe(404);
    expect(await urlOf()).toBeUndefined();
    expect((await get(`/apis/${group}`)).status).toBe(404);
    expect(own(itemsOf(await aggregated()))).toBeUndefined();
  });
});

test('a kind that is terminating lists what is left to do with it', async () => {
  await send(`POST /apis/${group}/v1/namespaces/n/tigers`, {
    body: { metadata: { name: 'x', finalizers: ['example.com/f'] } },
  });
  expect((await send(`DELETE ${definitions}/${name}`)).status).toBe(200);
  const { resources } = (await json(`/apis/${group}/v1`)) as { resources: Value[] };
  const last = ['delete', 'deletecollection', 'get', 'list', 'watch'];
  expect(resources.map((one) => [one['name'], one['verbs']])).toEqual([
    ['tigers', last],
    ['tigers/status', someVerbs],
    ['tigers/scale', someVerbs],
  ]);
  // Its operations are those of the kind.
  const document = await json(`/openapi/v3/apis/${group}/v1`);
  expect(JSON.stringify(document)).toMatch(/"create\w+NamespacedTiger"/);
});

test('a kind that is served but not Established is in no document', async () => {
  const { status } = await send(`PATCH ${definitions}/${name}/status`, {
    contentType: 'application/json-patch+json',
    body: [
      { op: 'test', path: '/status/conditions/1/type', value: 'Established' },
      { op: 'replace', path: '/status/conditions/1/status', value: 'False' },
    ],
  });
  expect(status).toBe(200);
  expect((await get(`/apis/${group}/v1/tigers`)).status).toBe(200);
  expect((await get(`/apis/${group}`)).status).toBe(404);
  expect((await get(`/openapi/v3/apis/${group}/v1`)).status).toBe(404);
  expect(own(itemsOf(await aggregated()))).toBeUndefined();
});

test('changes of OpenAPI are counted by definition, version and reason', async () => {
  await api.custom.redefine(name, (spec) => {
    const described = { openAPIV3Schema: { ...schema, description: 'other' } };
    Object.assign((spec['versions'] as JsonObject[])[0] ?? {}, { schema: described });
  });
  await change({ metadata: { labels: { a: 'b' } } });
  api.custom.replica.stores.set(`definition ${name}`, []);
  const lines = (await get('/metrics')).body.toString().split('\n');
  const counted = lines.filter((line) => line.startsWith('apiextensions_openapi_'));
  const v3 = (reason: string, version: string): string =>
    `apiextensions_openapi_v3_regeneration_count` +
    `{crd="${name}",group="${group}",reason="${reason}",version="${version}"} 1`;
  const v2 = (reason: string): string =>
    `apiextensions_openapi_v2_regeneration_count{crd="${name}",reason="${reason}"} 1`;
  const versions = ['v1', 'v1beta1', 'v2alpha1'];
  expect(counted.filter((line) => line.includes(name)).sort()).toEqual(
    [
      ...['add', 'update', 'remove'].map(v2),
      ...versions.map((version) => v3('add', version)),
      ...versions.map((version) => v3('remove', version)),
      v3('update', 'v1beta1'),
    ].sort(),
  );
});
