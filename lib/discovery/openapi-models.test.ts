// Kinds that come at run time in the documents: names, lists, operations, and what stands for a
// schema that cannot be shown.
import { describe, expect, test } from '@jest/globals';
import { widgetResource } from '../codec/testing/sample-types.ts';
import { typeOf } from '../api/testing/schema-types.ts';
import type { PublishedKind, ResourceInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { openApiBytes } from './testing/open-api-bytes.ts';

type Value = Record<string, unknown>;

const scheme = builtInScheme({ profile: namingProfile('kubernetes') });
const kind = { group: 'zoo.example.com', version: 'v1', kind: 'Tiger' };
const verbs = ['get', 'patch', 'update'];
const tigers: ResourceInfo = {
  ...widgetResource,
  group: kind.group,
  version: kind.version,
  resource: 'tigers',
  kind,
  listKind: 'TigerHerd',
  namespaced: true,
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: [
    { name: 'status', kind, verbs },
    { name: 'scale', kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs },
  ],
  fieldSelectors: ['metadata.name', 'metadata.namespace', 'spec.color'],
  get type(): never {
    throw new Error('documents take a type for one use');
  },
};
const schema = {
  properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } },
};
const published: PublishedKind = { isListed: true, typeOnce: () => typeOf(schema) };

const inside = (value: unknown, ...steps: string[]): unknown =>
  steps.reduce<unknown>((at, step) => (at as Value | undefined)?.[step], value);

async function documents(of: PublishedKind = published): Promise<{ v2: Value; v3: Value }> {
  const resource = Object.create(tigers, {
    published: { value: of, enumerable: true },
  }) as ResourceInfo;
  const groups = [{ group: kind.group, versions: [{ version: 'v1', resources: [resource] }] }];
  const openApi = openApiBytes({
    scheme,
    groups: () => groups,
    media: {
      objects: ['application/json', 'application/yaml', scheme.profile.protobufMediaType],
      streams: ['application/json;stream=watch'],
      patches: [
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/strategic-merge-patch+json',
        'application/apply-patch+yaml',
      ],
    },
    listsValues: true,
    serverVersion: 'v1.36.0',
    answersDeletedObject: () => false,
  });
  const parse = (bytes: Uint8Array | undefined): Value =>
    JSON.parse(Buffer.from(bytes ?? []).toString()) as Value;
  return {
    v2: parse((await openApi.whole('json')).bytes),
    v3: parse((await openApi.part('apis/zoo.example.com/v1', 'json'))?.bytes),
  };
}

const gvk = 'x-kubernetes-group-version-kind';
const selectable = { 'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.color' }] };
const made = await documents();
const models = [
  ['2.0', '#/definitions/', inside(made.v2, 'definitions')],
  ['3.0', '#/components/schemas/', inside(made.v3, 'components', 'schemas')],
] as const;

describe.each(models)('models of %s', (_version, folder, all) => {
  const meta = `${folder}io.k8s.apimachinery.pkg.apis.meta.v1`;

  test('a model is named by the reversed group, the version and the kind', () => {
    expect(inside(all, 'com.example.zoo.v1.Tiger')).toMatchObject({
      type: 'object',
      [gvk]: [kind],
      properties: { metadata: { $ref: `${meta}.ObjectMeta` }, ...schema.properties },
    });
  });

  test('a list is named by the kind of lists, and needs items', () => {
    expect(inside(all, 'com.example.zoo.v1.TigerHerd')).toMatchObject({
      required: ['items'],
      [gvk]: [{ ...kind, kind: 'TigerHerd' }],
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { $ref: `${meta}.ListMeta` },
        items: { type: 'array', items: { $ref: `${folder}com.example.zoo.v1.Tiger` } },
      },
    });
  });

  test('selectable fields are named on the kind and on its list', () => {
    for (const name of ['Tiger', 'TigerHerd']) {
      expect(inside(all, `com.example.zoo.v1.${name}`)).toMatchObject(selectable);
    }
  });
});

test('all that is referred to is there', () => {
  for (const document of [made.v2, made.v3]) {
    const text = JSON.stringify(document);
    const targets = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, at]) => at ?? ''));
    expect(targets.size).toBeGreaterThan(5);
    for (const target of targets) expect(inside(document, ...target.split('/'))).toBeDefined();
  }
});

const collection = '/apis/zoo.example.com/v1/namespaces/{namespace}/tigers';
const zoo = 'ZooExampleComV1';

describe('operations', () => {
  test.each([
    ['get', '/apis/zoo.example.com/v1/tigers', `list${zoo}TigerForAllNamespaces`],
    ['get', collection, `list${zoo}NamespacedTiger`],
    ['post', collection, `create${zoo}NamespacedTiger`],
    ['delete', collection, `delete${zoo}CollectionNamespacedTiger`],
    ['get', `${collection}/{name}`, `read${zoo}NamespacedTiger`],
    ['put', `${collection}/{name}`, `replace${zoo}NamespacedTiger`],
    ['delete', `${collection}/{name}`, `delete${zoo}NamespacedTiger`],
    ['patch', `${collection}/{name}`, `patch${zoo}NamespacedTiger`],
    ['get', `${collection}/{name}/status`, `read${zoo}NamespacedTigerStatus`],
    ['put', `${collection}/{name}/status`, `replace${zoo}NamespacedTigerStatus`],
    ['patch', `${collection}/{name}/status`, `patch${zoo}NamespacedTigerStatus`],
    ['get', `${collection}/{name}/scale`, `read${zoo}NamespacedTigerScale`],
    ['put', `${collection}/{name}/scale`, `replace${zoo}NamespacedTigerScale`],
    ['patch', `${collection}/{name}/scale`, `patch${zoo}NamespacedTigerScale`],
  ])('%s %s is %s', (method, path, id) => {
    for (const document of [made.v2, made.v3]) {
      const operation = inside(document, 'paths', path, method);
      expect(operation).toMatchObject({ operationId: id, tags: ['zooExampleCom_v1'], [gvk]: kind });
    }
  });

  test('there are no others', () => {
    const paths = Object.entries(made.v3['paths'] as Record<string, Value>);
    const count = paths.flatMap(([, item]) => Object.keys(item).filter((key) => key.length < 7));
    expect(count.length).toBe(14);
  });

  test('take JSON and YAML, and patches but strategic ones', () => {
    const consumed = (method: string): unknown =>
      inside(made.v2, 'paths', `${collection}/{name}`, method, 'consumes');
    expect(consumed('put')).toEqual(['application/json', 'application/yaml']);
    expect(consumed('patch')).toEqual([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/apply-patch+yaml',
    ]);
    const produced = inside(made.v2, 'paths', collection, 'get', 'produces');
    expect(produced).toEqual(['application/json', 'application/yaml']);
  });
});

test('a schema that cannot be shown is a bare object', async () => {
  const { v2, v3 } = await documents({ isListed: true, typeOnce: () => undefined });
  const bare = { type: 'object', [gvk]: [kind], ...selectable };
  expect(inside(v2, 'definitions', 'com.example.zoo.v1.Tiger')).toEqual(bare);
  expect(inside(v3, 'components', 'schemas', 'com.example.zoo.v1.Tiger')).toEqual(bare);
});
