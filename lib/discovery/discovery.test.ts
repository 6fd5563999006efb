import { describe, expect, test } from '@jest/globals';
import { switches } from '../config/flag-kinds.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import type { JsonObject, TypeInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { createDiscovery } from './discovery.ts';
import type {
  AggregatedDocument,
  AggregatedVersion,
  Discovery,
  DiscoveryGroup,
} from './discovery.ts';

const scheme = builtInScheme({ profile: namingProfile('kubernetes') });
const make = (
  groups: readonly DiscoveryGroup[] = scheme.groups,
  serverAddress = '127.0.0.1:6443',
): Discovery => createDiscovery({ scheme, groups, serverAddress });
const discovery = make();
const aggregated = async (
  of: Discovery,
  path: string,
  version: AggregatedVersion = 'v2',
): Promise<AggregatedDocument | undefined> => of.aggregated(path, version);
const object = (path: string): JsonObject => {
  const document = discovery.document(path);
  if (document === undefined) throw new Error(path);
  return document.object;
};
const allVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** Members of the document that its type does not know, at any depth. */
function unknownMembers(value: unknown, type: TypeInfo, path = ''): string[] {
  if (type.special !== undefined || type.isNamedList || value === null) return [];
  return Object.entries(value as object).flatMap(([key, inner]: [string, unknown]) => {
    if (path === '' && (key === 'kind' || key === 'apiVersion')) return [];
    const field = type.fieldByJsonName.get(key);
    if (field === undefined) return [`${path}.${key}`];
    const { message } = field;
    if (message === undefined) return [];
    const items =
      Array.isArray(inner) && field.cardinality === 'list' ? (inner as unknown[]) : [inner];
    return items.flatMap((item) => unknownMembers(item, message, `${path}.${key}`));
  });
}

describe('legacy documents', () => {
  test('/api names the versions of the core group and the address', () => {
    expect(object('/api')).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
    });
    expect(discovery.document('/api/')).toBe(discovery.document('/api'));
  });
  test('/apis lists every group but the core one, in order of priority', () => {
    const { groups: listed, ...head } = object('/apis');
    expect(head).toEqual({ kind: 'APIGroupList', apiVersion: 'v1' });
    const groups = listed as JsonObject[];
    expect(groups.slice(0, 3).map((group) => group['name'])).toEqual([
      'apiregistration.k8s.io',
      'apps',
      'events.k8s.io',
    ]);
    expect(groups.find((group) => group['name'] === 'autoscaling')).toEqual({
      name: 'autoscaling',
      versions: [
        { groupVersion: 'autoscaling/v2', version: 'v2' },
        { groupVersion: 'autoscaling/v1', version: 'v1' },
      ],
      preferredVersion: { groupVersion: 'autoscaling/v2', version: 'v2' },
    });
    expect(groups.length).toBe(20);
  });
  test('a group', () => {
    const version = { groupVersion: 'apps/v1', version: 'v1' };
    expect(object('/apis/apps')).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'apps',
      versions: [version],
      preferredVersion: version,
    });
  });
  test('a version: resources with their subresources', () => {
    const { resources, ...head } = object('/apis/apps/v1');
    expect(head).toEqual({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'apps/v1' });
    const named = (resources as JsonObject[]).filter(({ name }) =>
      (name as string).startsWith('deployments'),
    );
    expect(named).toEqual([
      {
        name: 'deployments',
        singularName: 'deployment',
        namespaced: true,
        kind: 'Deployment',
        verbs: allVerbs,
        shortNames: ['deploy'],
        categories: ['all'],
        storageVersionHash: '8aSe+NMegvE=',
      },
      {
        name: 'deployments/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      },
      {
        name: 'deployments/status',
        singularName: '',
        namespaced: true,
        kind: 'Deployment',
        verbs: ['get', 'patch', 'update'],
      },
    ]);
  });
  test('the core version: namespaces cannot be deleted together', () => {
    const { resources: listed, ...head } = object('/api/v1');
    expect(head).toEqual({ kind: 'APIResourceList', groupVersion: 'v1' });
    const resources = listed as JsonObject[];
    const namespaces = resources.find(({ name }) => name === 'namespaces');
    expect(namespaces?.['verbs']).toEqual(allVerbs.filter((verb) => verb !== 'deletecollection'));
  });
  test('the paths of all of them', () => {
    expect(discovery.paths).toEqual(
      expect.arrayContaining(['/api', '/api/v1', '/apis', '/apis/', '/apis/apps', '/apis/apps/v1']),
    );
    for (const path of discovery.paths) expect(discovery.document(path)).toBeDefined();
  });
  test.each([
    '/',
    '/api/v2',
    '/apis/none',
    '/apis/apps/v9',
    '/apis/apps/v1/x',
    '/apis//v1',
    '/apis/__proto__',
    '/x',
  ])('nothing is at %s', (path) => {
    expect(discovery.document(path)).toBeUndefined();
  });
});

describe('the aggregated document', () => {
  test('holds groups, versions and resources', async () => {
    const document = await aggregated(discovery, '/apis');
    expect(document?.object['kind']).toBe('APIGroupDiscoveryList');
    expect(document?.object['apiVersion']).toBe('apidiscovery.k8s.io/v2');
    const items = document?.object['items'] as { metadata: JsonObject; versions: JsonObject[] }[];
    const leases = items.find(({ metadata }) => metadata['name'] === 'coordination.k8s.io');
    expect(leases).toEqual({
      metadata: { name: 'coordination.k8s.io' },
      versions: [
        {
          version: 'v1',
          resources: [
            {
              resource: 'leases',
              responseKind: { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' },
              scope: 'Namespaced',
              singularResource: 'lease',
              verbs: allVerbs,
            },
          ],
          freshness: 'Current',
        },
      ],
    });
  });
  test('of /api is the core group alone', async () => {
    const items = (await aggregated(discovery, '/api'))?.object['items'] as {
      metadata: JsonObject;
    }[];
    expect(items.map(({ metadata }) => metadata)).toEqual([{}]);
    expect(await aggregated(discovery, '/apis/apps')).toBeUndefined();
  });
  test('exists in the older version too', async () => {
    const document = await aggregated(discovery, '/apis', 'v2beta1');
    expect(document?.object['apiVersion']).toBe('apidiscovery.k8s.io/v2beta1');
    expect(document?.type.id).toBe('apidiscovery/v2beta1.APIGroupDiscoveryList');
  });
  test('has one ETag on all replicas, and another one when something else is served', async () => {
    const etag = async (one: Discovery): Promise<string | undefined> =>
      (await aggregated(one, '/apis'))?.etag;
    const again = builtInScheme({ profile: namingProfile('kubernetes') });
    expect(await etag(make(again.groups, '10.0.0.1:443'))).toBe(await etag(discovery));
    const more = builtInScheme({
      profile: namingProfile('kubernetes'),
      runtimeConfig: switches.parse('api/beta=true'),
    });
    expect(await etag(make(more.groups))).not.toBe(await etag(discovery));
    expect(await etag(discovery)).toMatch(/^"[0-9A-F]{64}"$/);
  });
});

test('every document holds only what its type knows', async () => {
  const paths = [
    '/api',
    '/api/v1',
    '/apis',
    ...scheme.groups
      .filter(({ group }) => group !== '')
      .flatMap(({ group, versions }) => [
        `/apis/${group}`,
        ...versions.map(({ version }) => `/apis/${group}/${version}`),
      ]),
  ];
  for (const path of paths) {
    const document = discovery.document(path);
    if (document === undefined) throw new Error(path);
    expect(unknownMembers(document.object, document.type)).toEqual([]);
  }
  for (const version of ['v2', 'v2beta1'] as const) {
    const document = await aggregated(discovery, '/apis', version);
    if (document === undefined) throw new Error(version);
    expect(unknownMembers(document.object, document.type)).toEqual([]);
  }
});

describe('replicas', () => {
  const textOf = async (of: Discovery, path: string): Promise<string> =>
    JSON.stringify([of.document(path)?.object, (await aggregated(of, path))?.object]);
  const replica = (runtimeConfig: string, address: string): Discovery => {
    const own = builtInScheme({
      profile: namingProfile('kubernetes'),
      runtimeConfig: switches.parse(runtimeConfig),
    });
    return createDiscovery({ scheme: own, groups: own.groups, serverAddress: address });
  };
  const [one, other] = [replica('', '10.0.0.1:6443'), replica('', '10.0.0.2:6443')];
  const paths = [
    '/apis',
    ...scheme.groups.flatMap(({ group, versions }) =>
      group === ''
        ? versions.map(({ version }) => `/api/${version}`)
        : [`/apis/${group}`, ...versions.map(({ version }) => `/apis/${group}/${version}`)],
    ),
  ];

  test.each(paths)('give the same bytes for %s', async (path) => {
    expect(await textOf(one, path)).toBe(await textOf(other, path));
  });
  test.each(['/api', '/apis'])('give %s the same tag, whatever their address', async (path) => {
    const tag = (await aggregated(one, path))?.etag;
    expect(tag).toMatch(/^"[0-9A-F]{64}"$/);
    expect((await aggregated(other, path))?.etag).toBe(tag);
  });
  test('give another tag when they serve something else', async () => {
    const wider = replica('api/beta=true', '10.0.0.1:6443');
    expect((await aggregated(wider, '/apis'))?.etag).not.toBe(
      (await aggregated(one, '/apis'))?.etag,
    );
    expect((await aggregated(wider, '/api'))?.etag).toBe((await aggregated(one, '/api'))?.etag);
  });
});

describe('every resource is listed with what its record says', () => {
  test.each(
    scheme.resources.map((resource) => [resource.version, resource.resource, resource] as const),
  )('%s %s', (_version, _name, resource) => {
    const { group, version, shortNames, categories, storageVersionHash } = resource;
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const listed = (object(path)['resources'] as JsonObject[]).find(
      ({ name }) => name === resource.resource,
    );
    expect([listed?.['singularName'], listed?.['kind']]).toEqual([
      resource.singular,
      resource.kind.kind,
    ]);
    expect(listed?.['shortNames'] ?? []).toEqual(shortNames);
    expect(listed?.['categories'] ?? []).toEqual(categories);
    expect(listed?.['storageVersionHash'] ?? '').toBe(storageVersionHash);
  });
});
