import { beforeAll, describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { switches } from '../config/flag-kinds.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { namingProfile } from '../api/vendor.ts';
import type { NamingProfileName } from '../api/vendor.ts';
import type { DiscoveryGroup } from './discovery.ts';
import { openApiBytes } from './testing/open-api-bytes.ts';
import type { OpenApiBytes } from './testing/open-api-bytes.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Record<string, Schema>;
  readonly required?: string[];
  readonly items?: Schema;
  readonly [key: string]: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly [key: string]: unknown;
}
type PathItem = Record<string, Operation>;
interface Whole {
  readonly paths: Record<string, PathItem>;
  readonly definitions: Record<string, Schema>;
}
interface Part {
  readonly paths: Record<string, PathItem>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

const schemeOf = (name: NamingProfileName, config = '') =>
  builtInScheme({ profile: namingProfile(name), runtimeConfig: switches.parse(config) });
const media = {
  objects: ['application/json', 'application/yaml'],
  streams: ['application/json;stream=watch'],
  patches: ['application/json-patch+json', 'application/apply-patch+yaml'],
};
const make = (
  scheme: ReturnType<typeof schemeOf>,
  listsValues = true,
  groups: () => readonly DiscoveryGroup[] = () => scheme.groups,
): OpenApiBytes =>
  openApiBytes({
    scheme,
    groups,
    media,
    listsValues,
    serverVersion: 'v1.36.0',
    answersDeletedObject: ({ resource }) => resource === 'pods',
  });
const scheme = schemeOf('kubernetes');
const openApi = make(scheme);
const parse = <T>(bytes: Uint8Array): T => JSON.parse(Buffer.from(bytes).toString('utf8')) as T;
const wholeOf = async (of: OpenApiBytes): Promise<Whole> => parse((await of.whole('json')).bytes);
async function partOf(of: OpenApiBytes, path: string): Promise<Part> {
  const document = await of.part(path, 'json');
  if (document === undefined) throw new Error(`there is no document ${path}`);
  return parse(document.bytes);
}
async function indexOf(of: OpenApiBytes): Promise<Record<string, { serverRelativeURL: string }>> {
  const { paths } = parse<{ paths: Record<string, { serverRelativeURL: string }> }>(
    (await of.index()).bytes,
  );
  return paths;
}

let whole: Whole;
let core: Part;
beforeAll(async () => {
  whole = await wholeOf(openApi);
  core = await partOf(openApi, 'api/v1');
});

/**
 * The definition of definitions has a property called `$ref`, which the validator takes for a
 * reference: under another name it is as valid as any.
 */
const renamed = (text: string): Record<string, unknown> =>
  JSON.parse(text, (key, value: Record<string, unknown>) => {
    if (key !== 'properties' || typeof value['$ref'] !== 'object') return value;
    const { $ref, ...others } = value;
    return { ...others, ref: $ref };
  }) as Record<string, unknown>;

/** The validator keeps what it compiled for a version. */
const validator = new Validator();

test('the validator finds what is wrong', async () => {
  const { info, paths } = parse<{ info: object; paths: object }>(
    (await openApi.whole('json')).bytes,
  );
  expect((await validator.validate({ openapi: '3.0.0', info, paths: {} })).valid).toBe(true);
  expect((await validator.validate({ openapi: '3.0.0', info, paths })).valid).toBe(false);
});

describe.each<[NamingProfileName, string, (path: string) => boolean]>([
  ['kubernetes', 'api/all=true', () => true],
  ['svc', '', (path) => path === 'api/v1'],
])('documents in the spelling of %s, with %j', (name, config, isValidated) => {
  const all = make(schemeOf(name, config));

  test('are valid', async () => {
    const documents = [await all.whole('json')];
    for (const path of Object.keys(await indexOf(all))) {
      const part = await all.part(path, 'json');
      if (part !== undefined && isValidated(path)) documents.push(part);
    }
    expect(documents.length).toBeGreaterThan(1);
    for (const { bytes } of documents) {
      const text = Buffer.from(bytes).toString('utf8');
      const result = await validator.validate(renamed(text));
      expect(result.errors ?? []).toEqual([]);
      expect(result.valid).toBe(true);
      expect(danglingReferences(text)).toEqual([]);
    }
  });

  test('have operations with ids of their own and spell nothing else', async () => {
    const { bytes } = await all.whole('json');
    const document = parse<Whole>(bytes);
    const ids = operationsOf(document.paths).map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const other = name === 'svc' ? /k8s|kubernetes/i : /svc\.io|x-svc/;
    const text = Buffer.from(bytes).toString('utf8');
    expect(text.match(other)?.[0]).toBeUndefined();
  });
});

function operationsOf(paths: Whole['paths']): Operation[] {
  return Object.values(paths).flatMap((item) =>
    Object.entries(item).flatMap(([key, one]) => (key === 'parameters' ? [] : [one])),
  );
}

function danglingReferences(text: string): string[] {
  const document = JSON.parse(text) as object;
  const references = new Set(
    [...text.matchAll(/"\$ref":"(#[^"]+)"/g)].map(([, target]) => target ?? ''),
  );
  return [...references].filter((target) => {
    const found = target
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
    return found === undefined;
  });
}

test('the same bytes come from every replica, under the same hash', async () => {
  const other = make(schemeOf('kubernetes'));
  for (const form of ['json', 'protobuf'] as const) {
    const [one, two] = [await openApi.whole(form), await other.whole(form)];
    expect(Buffer.compare(one.bytes, two.bytes)).toBe(0);
    expect(one.hash).toBe(two.hash);
  }
  const { hash } = await openApi.whole('json');
  expect(hash).toMatch(/^[0-9A-F]{128}$/);
  expect((await openApi.whole('protobuf')).hash).toBe(hash);
});

test('others get their turn while a document is made', async () => {
  const busy = make(schemeOf('kubernetes', 'api/all=true'));
  let turns = 0;
  let isMade = false;
  const count = (): void => {
    turns++;
    if (!isMade) setImmediate(count);
  };
  setImmediate(count);
  await busy.whole('json');
  await busy.whole('protobuf');
  isMade = true;
  expect(turns).toBeGreaterThan(3);
});

describe('the index', () => {
  test('names the document of each group version by its hash', async () => {
    const paths = await indexOf(openApi);
    expect(Object.keys(paths)).toEqual(Object.keys(paths).sort());
    for (const path of ['api', 'api/v1', 'apis', 'apis/apps', 'apis/apps/v1', 'version']) {
      const part = await openApi.part(path, 'json');
      expect(paths[path]?.serverRelativeURL).toBe(`/openapi/v3/${path}?hash=${part?.hash ?? ''}`);
    }
    expect(paths['apis/resource.k8s.io/v1beta1']).toBeUndefined();
    expect(await openApi.part('apis/none', 'json')).toBeUndefined();
  });

  test('lists beta versions once they are on', async () => {
    const paths = await indexOf(make(schemeOf('kubernetes', 'api/beta=true')));
    expect(paths['apis/resource.k8s.io/v1beta1']).toBeDefined();
  });
});

describe('schemas', () => {
  const v3 = (name: string): Schema => core.components.schemas[name] ?? {};
  const v2 = (name: string): Schema => whole.definitions[name] ?? {};
  const pod = 'io.k8s.api.core.v1.PodSpec';

  test('say how lists are merged', () => {
    const { description, ...volumes } = v2(pod).properties?.['volumes'] ?? {};
    expect(description).toMatch(/mount/);
    expect(volumes).toEqual({
      type: 'array',
      items: { $ref: '#/definitions/io.k8s.api.core.v1.Volume' },
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge,retainKeys',
    });
    const ports = v2('io.k8s.api.core.v1.Container').properties?.['ports'];
    expect(ports?.['x-kubernetes-list-map-keys']).toEqual(['containerPort', 'protocol']);
    expect(v2('io.k8s.api.core.v1.ObjectReference')['x-kubernetes-map-type']).toBe('atomic');
  });

  test('have defaults in 3.0 and none in 2.0', () => {
    const protocol = v3('io.k8s.api.core.v1.ContainerPort').properties?.['protocol'];
    expect(protocol).toMatchObject({ default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] });
    expect(v3('io.k8s.api.core.v1.Pod').properties?.['spec']).toMatchObject({
      default: {},
      allOf: [{ $ref: `#/components/schemas/${pod}` }],
    });
    expect(v3('io.k8s.api.core.v1.EnvVar').properties?.['name']?.['default']).toBe('');
    const inWhole = v2('io.k8s.api.core.v1.ContainerPort').properties?.['protocol'];
    expect(inWhole).toMatchObject({ enum: ['SCTP', 'TCP', 'UDP'] });
    expect(inWhole).not.toHaveProperty('default');
  });

  test('say only the defaults that clients may send', () => {
    const spec = v3(pod).properties;
    expect(spec?.['restartPolicy']).not.toHaveProperty('default');
    expect(spec?.['terminationGracePeriodSeconds']).not.toHaveProperty('default');
    expect(v3('io.k8s.api.core.v1.ReplicationControllerSpec').properties?.['replicas']).toEqual(
      expect.objectContaining({ default: 1 }),
    );
  });

  test('name the members of a union, and the one that tells them apart', () => {
    expect(v3('io.k8s.api.core.v1.SeccompProfile')['x-kubernetes-unions']).toEqual([
      {
        discriminator: 'type',
        'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' },
      },
    ]);
    expect(v3('io.k8s.api.core.v1.PodSchedulingGroup')['x-kubernetes-unions']).toEqual([
      { 'fields-to-discriminateBy': { podGroupName: 'PodGroupName' } },
    ]);
  });

  test('list no values when the gate is off', async () => {
    const { paths, definitions } = await wholeOf(make(scheme, false));
    expect(Object.keys(paths)).toEqual(Object.keys(whole.paths));
    const port = definitions['io.k8s.api.core.v1.ContainerPort'];
    expect(port?.properties?.['protocol']).not.toHaveProperty('enum');
  });

  test('name the kinds that are written with kind and apiVersion', () => {
    const gvk = 'x-kubernetes-group-version-kind';
    expect(v2('io.k8s.api.core.v1.ConfigMap')[gvk]).toEqual([
      { group: '', kind: 'ConfigMap', version: 'v1' },
    ]);
    const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
    expect(v2(`${meta}.Status`)[gvk]).toEqual([{ group: '', kind: 'Status', version: 'v1' }]);
    expect(v2(`${meta}.DeleteOptions`)[gvk]).toContainEqual({
      group: 'apps',
      kind: 'DeleteOptions',
      version: 'v1',
    });
    expect(v2(`${meta}.ObjectMeta`)[gvk]).toBeUndefined();
  });

  test.each([
    ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', { type: 'string', format: 'date-time' }],
    ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', { type: 'object' }],
    ['io.k8s.apimachinery.pkg.api.resource.Quantity', { type: 'string' }],
    [
      'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
      { type: 'string', format: 'int-or-string' },
    ],
    ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', {}],
  ])('%s is %j in 2.0', (name, expected) => {
    const { description, ...rest } = v2(name);
    expect(description).not.toBe('');
    expect(rest).toEqual(expected);
  });

  test('values of two types are one of both in 3.0', () => {
    expect(v3('io.k8s.apimachinery.pkg.util.intstr.IntOrString')).toMatchObject({
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    });
    expect(v3('io.k8s.apimachinery.pkg.api.resource.Quantity')).toMatchObject({
      oneOf: [{ type: 'string' }, { type: 'number' }],
    });
  });
});

describe('operations', () => {
  test.each([
    ['/api/v1/namespaces/{namespace}/configmaps', 'post', 'createCoreV1NamespacedConfigMap'],
    ['/api/v1/configmaps', 'get', 'listCoreV1ConfigMapForAllNamespaces'],
    ['/api/v1/nodes', 'delete', 'deleteCoreV1CollectionNode'],
    ['/api/v1/namespaces/{name}/finalize', 'put', 'replaceCoreV1NamespaceFinalize'],
    [
      '/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale',
      'patch',
      'patchAppsV1NamespacedDeploymentScale',
    ],
    [
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}',
      'get',
      'readRbacAuthorizationV1ClusterRole',
    ],
    [
      '/api/v1/namespaces/{namespace}/pods/{name}/exec',
      'post',
      'connectCoreV1PostNamespacedPodExec',
    ],
    [
      '/api/v1/namespaces/{namespace}/pods/{name}/proxy/{path}',
      'head',
      'connectCoreV1HeadNamespacedPodProxyWithPath',
    ],
    ['/api/v1/namespaces/{namespace}/pods/{name}/log', 'get', 'readCoreV1NamespacedPodLog'],
    ['/api/v1/watch/nodes/{name}', 'get', 'watchCoreV1Node'],
    ['/apis/authentication.k8s.io/v1/tokenreviews', 'post', 'createAuthenticationV1TokenReview'],
    ['/apis/apps/v1/', 'get', 'getAppsV1APIResources'],
    ['/version/', 'get', 'getCodeVersion'],
  ])('%s %s is %s', (path, method, id) => {
    expect(whole.paths[path]?.[method]?.operationId).toBe(id);
  });

  test('follow the verbs of the resource', () => {
    const item = core.paths['/api/v1/namespaces/{namespace}/configmaps/{name}'];
    expect(Object.keys(item ?? {}).sort()).toEqual(['delete', 'get', 'parameters', 'patch', 'put']);
    expect(core.paths['/api/v1/componentstatuses/{name}']).not.toHaveProperty('delete');
    expect(core.paths).not.toHaveProperty('/api/v1/watch/componentstatuses');
  });

  test('answer and take what the server does', () => {
    const path = '/api/v1/namespaces/{namespace}/pods/{name}';
    const remove = JSON.stringify(whole.paths[path]?.['delete']?.['responses']);
    expect(remove).toMatch(/core\.v1\.Pod"/);
    const patch = whole.paths[path]?.['patch'];
    expect(patch).toMatchObject({
      consumes: media.patches,
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: '', kind: 'Pod', version: 'v1' },
    });
    expect(JSON.stringify(patch?.['parameters'])).toContain('#/parameters/fieldManager');
    expect(patch?.['parameters']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'dryRun', in: 'query', type: 'string' }),
        expect.objectContaining({ name: 'fieldValidation', in: 'query', type: 'string' }),
      ]),
    );
    const other = '/api/v1/namespaces/{namespace}/secrets/{name}';
    expect(JSON.stringify(whole.paths[other]?.['delete']?.['responses'])).toMatch(/v1\.Status"/);
  });
});

test('when a group comes or changes, the documents of the others stay', async () => {
  const pods = scheme.groups[0]?.versions[0]?.resources.find(({ resource }) => resource === 'pods');
  if (pods === undefined) throw new Error('there are pods');
  const zoo = (resource: string) => ({
    group: 'zoo.example.com',
    versions: [
      {
        version: 'v1',
        resources: [{ ...pods, group: 'zoo.example.com', version: 'v1', resource }],
      },
    ],
  });
  let groups: readonly DiscoveryGroup[] = scheme.groups;
  const changing = make(scheme, true, () => groups);
  const [podsBefore, wholeBefore] = [
    await changing.part('api/v1', 'json'),
    await wholeOf(changing),
  ];
  const path = 'apis/zoo.example.com/v1';
  expect(await changing.part(path, 'json')).toBeUndefined();
  groups = [...scheme.groups, zoo('lions')];
  const lions = await changing.part(path, 'json');
  expect(Buffer.from(lions?.bytes ?? []).toString()).toContain(
    `/${path}/namespaces/{namespace}/lions`,
  );
  expect(await changing.part('api/v1', 'json')).toEqual(podsBefore);
  expect(await indexOf(changing)).toHaveProperty([path]);
  expect(Object.keys((await wholeOf(changing)).paths)).toContain(`/${path}/lions`);
  groups = [...scheme.groups, zoo('tigers')];
  expect((await changing.part(path, 'json'))?.hash).not.toBe(lions?.hash);
  expect(await changing.part('api/v1', 'json')).toEqual(podsBefore);
  groups = [...scheme.groups];
  expect(await changing.part(path, 'json')).toBeUndefined();
  expect(await indexOf(changing)).not.toHaveProperty([path]);
  expect(await wholeOf(changing)).toEqual(wholeBefore);
});
