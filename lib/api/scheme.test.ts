import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { switches } from '../config/flag-kinds.ts';
import { noKindRules } from './testing/no-kind-rules.ts';
import { createScheme } from './scheme.ts';
import { apiVersionOf } from './type-info.ts';
import type { ResourceInfo } from './type-info.ts';
import { namingProfile } from './vendor.ts';

const profile = namingProfile('kubernetes');
const scheme = createScheme({ rules: noKindRules, profile });
const everything = createScheme({
  rules: noKindRules,
  profile,
  runtimeConfig: switches.parse('api/all=true'),
});
const factsFolder = join(import.meta.dirname, '../../../shared/api-facts');
const facts = existsSync(factsFolder) ? describe : describe.skip;

/** A skipped describe still collects its tests: without the tables, of `none`. */
function factsOf(name: string, none: object): unknown {
  const file = join(factsFolder, name);
  return existsSync(file) ? JSON.parse(profile.resolve(readFileSync(file, 'utf8'))) : none;
}

interface FactResource {
  group: string;
  version: string;
  plural: string;
  kind: string;
  singular: string;
  namespaced: boolean;
  type: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
  verbs: string[];
  virtual?: boolean;
  storageVersion?: string;
  storageVersionHash?: string;
  storagePrefix?: string;
  fieldSelectors?: string[];
  subresources?: { name: string; kind: string; groupVersion?: string; verbs: string[] }[];
}
interface FactGroup {
  group: string;
  versions: string[];
  preferred: string;
  enabledByDefault: string[];
}

facts('resources equal the tables of facts', () => {
  const table = factsOf('resources.json', { groups: [], resources: [] }) as {
    groups: FactGroup[];
    resources: FactResource[];
  };

  test('groups and versions in order, all switched on', () => {
    const order = everything.groups.map(({ group, versions }) => [
      group,
      versions.map((v) => v.version),
    ]);
    expect(order).toEqual(table.groups.map(({ group, versions }) => [group, versions]));
  });
  test('groups and versions that are on by default', () => {
    const order = scheme.groups.map((one) => [
      one.group,
      one.versions.map((v) => v.version),
      one.preferredVersion,
    ]);
    const wanted = table.groups.filter((one) => one.enabledByDefault.length > 0);
    expect(order).toEqual(wanted.map((one) => [one.group, one.enabledByDefault, one.preferred]));
  });
  test('every record', () => {
    expect(everything.resources.length).toBe(table.resources.length);
    for (const fact of table.resources) {
      const one = everything.resource({ ...fact, resource: fact.plural });
      if (one === undefined) throw new Error(JSON.stringify(fact));
      expect(plain(one)).toEqual({
        group: fact.group,
        version: fact.version,
        plural: fact.plural,
        singular: fact.singular,
        kind: fact.kind,
        namespaced: fact.namespaced,
        type: fact.type,
        listKind: fact.listKind ?? '',
        verbs: fact.verbs,
        shortNames: fact.shortNames ?? [],
        categories: fact.categories ?? [],
        virtual: fact.virtual ?? false,
        storageVersion: fact.storageVersion ?? '',
        storageVersionHash: fact.storageVersionHash ?? '',
        storagePrefix: fact.storagePrefix ?? '',
        fieldSelectors: fact.fieldSelectors ?? [],
        subresources: (fact.subresources ?? []).map(({ name, kind, groupVersion, verbs }) => ({
          name,
          kind,
          groupVersion: groupVersion ?? apiVersionOf(fact),
          verbs,
        })),
      });
    }
  });
});

interface FactStrategy {
  kind: string;
  createOnUpdate: boolean;
  unconditionalUpdate: boolean;
  resetMain?: string[];
  resetStatus?: string[];
}

facts('write rules equal the tables of facts', () => {
  const { strategies, registry } = factsOf('defaults.json', { strategies: [], registry: [] }) as {
    strategies: FactStrategy[];
    registry: { kind: string; kinds?: string[] }[];
  };
  const counted = registry.find(({ kind }) => kind === 'kinds with generation')?.kinds ?? [];
  // The tables say `metadata (all but managedFields)` where the record says `metadata`.
  const plainPaths = (paths: readonly string[] = []): string[] =>
    paths.map((path) => path.replace(/ \(.*\)$/, ''));

  test('every stored kind has a row, and every row is kept', () => {
    const kinds = new Set(everything.storedResources.map(({ kind }) => kind.kind));
    const rows = strategies.map(({ kind }) => kind).filter((kind) => kind !== 'custom resources');
    expect([...kinds].sort()).toEqual(rows.sort());
  });
  test('of every version', () => {
    for (const one of everything.resources.filter(({ storagePrefix }) => storagePrefix !== '')) {
      const row = strategies.find(({ kind }) => kind === one.kind.kind);
      expect({
        kind: one.kind,
        createOnUpdate: one.createOnUpdate,
        unconditionalUpdate: one.unconditionalUpdate,
        resetMain: one.resetMain,
        resetStatus: one.resetBySubresource['status'] ?? [],
        hasGeneration: one.hasGeneration,
      }).toEqual({
        kind: one.kind,
        createOnUpdate: row?.createOnUpdate,
        unconditionalUpdate: row?.unconditionalUpdate,
        resetMain: plainPaths(row?.resetMain),
        resetStatus: plainPaths(row?.resetStatus).filter(
          // Status writes of definitions take metadata, too: labels, annotations, finalizers.
          (path) => one.kind.kind !== 'CustomResourceDefinition' || path !== 'metadata',
        ),
        hasGeneration: counted.includes(one.kind.kind),
      });
    }
  });
});

const plain = (one: ResourceInfo): Record<string, unknown> => ({
  group: one.group,
  version: one.version,
  plural: one.resource,
  singular: one.singular,
  kind: one.kind.kind,
  namespaced: one.namespaced,
  type: one.type.id,
  listKind: one.listKind,
  verbs: one.verbs,
  shortNames: one.shortNames,
  categories: one.categories,
  virtual: one.virtual,
  storageVersion: one.storageVersion,
  storageVersionHash: one.storageVersionHash,
  storagePrefix: one.storagePrefix,
  fieldSelectors: one.fieldSelectors,
  subresources: one.subresources.map(({ name, kind, verbs }) => ({
    name,
    kind: kind.kind,
    groupVersion: apiVersionOf(kind),
    verbs,
  })),
});

const v1 = (
  resource: string,
  group = '',
): { group: string; version: string; resource: string } => ({
  group,
  version: 'v1',
  resource,
});

describe('lookups', () => {
  test('a kind by its name, lists too', () => {
    expect(scheme.kind({ group: 'apps', version: 'v1', kind: 'DeploymentList' })?.id).toBe(
      'apps/v1.DeploymentList',
    );
    expect(scheme.kind({ group: 'apps', version: 'v1', kind: 'Missing' })).toBeUndefined();
  });
  test('options are a kind of every served version, and of no other', () => {
    expect(scheme.kind({ group: 'apps', version: 'v1', kind: 'DeleteOptions' })?.id).toBe(
      'meta/v1.DeleteOptions',
    );
    expect(scheme.kind({ group: 'apps', version: 'v7', kind: 'DeleteOptions' })).toBeUndefined();
  });
  test('every stored resource has a list type with items', () => {
    for (const resource of everything.storedResources) {
      expect(everything.listType(resource)?.fieldByJsonName.get('items')?.message).toBe(
        resource.type,
      );
    }
  });
  test('every subresource kind is known, except options of connections', () => {
    for (const resource of everything.resources) {
      for (const { kind } of resource.subresources) expect(everything.kind(kind)).toBeDefined();
    }
  });
  test('events of both groups are stored once, as the core kind', () => {
    const event = scheme.resource(v1('events', 'events.k8s.io'));
    if (event === undefined) throw new Error('no events');
    expect(apiVersionOf(scheme.storageResource(event))).toBe('v1');
    expect(scheme.servedAs(event).map(apiVersionOf)).toEqual(['v1', 'events.k8s.io/v1']);
  });
  test('autoscalers are stored as v2; definitions, whose old form is not served, as v1', () => {
    const autoscaler = scheme.resource({
      group: 'autoscaling',
      version: 'v1',
      resource: 'horizontalpodautoscalers',
    });
    const definition = scheme.resource(v1('customresourcedefinitions', 'apiextensions.k8s.io'));
    if (autoscaler === undefined || definition === undefined) throw new Error('missing');
    expect(scheme.storageResource(autoscaler).version).toBe('v2');
    expect(scheme.storageResource(definition)).toBe(definition);
  });
  test('deprecation comes with the record', () => {
    expect(scheme.resource(v1('endpoints'))?.life).toEqual({
      deprecated: '1.33',
      replacement: 'discovery.k8s.io/v1/EndpointSlice',
    });
  });
  test('reset fields of a subresource with two of them', () => {
    const requests = scheme.resource(v1('certificatesigningrequests', 'certificates.k8s.io'));
    expect(requests?.resetBySubresource).toEqual({
      status: ['spec', 'status.conditions'],
      approval: ['spec', 'status.certificate'],
    });
  });
  test('the fields that a subresource is for', () => {
    const { resetBySubresource, writableBySubresource } = scheme.resource(v1('pods')) ?? {};
    expect(Object.keys(resetBySubresource ?? {})).toEqual(['status']);
    expect(writableBySubresource?.['ephemeralcontainers']).toEqual(['spec.ephemeralContainers']);
    expect(writableBySubresource?.['resize']).toContain('spec.containers[*].resources');
  });
});

describe('runtime configuration', () => {
  const served = (config: string): string[] => {
    const { groups } = createScheme({
      rules: noKindRules,
      profile,
      runtimeConfig: switches.parse(config),
    });
    return groups.flatMap(({ group, versions }) =>
      versions.map(({ version }) => apiVersionOf({ group, version })),
    );
  };
  test('a stage switches its versions', () => {
    const beta = served('api/beta=true');
    expect(beta).toContain('resource.k8s.io/v1beta2');
    expect(beta).not.toContain('resource.k8s.io/v1alpha3');
    expect(served('api/ga=false')).toEqual([]);
  });
  test('a version wins over a stage, whatever the order', () => {
    expect(served('apps/v1=true,api/all=false')).toEqual(['apps/v1']);
  });
  test('one resource of a version that is off', () => {
    const config = switches.parse('resource.k8s.io/v1beta2/deviceclasses');
    const one = createScheme({ rules: noKindRules, profile, runtimeConfig: config });
    expect(
      one.group('resource.k8s.io')?.versions.map((v) => v.resources.map((r) => r.resource))[1],
    ).toEqual(['deviceclasses']);
  });
  test('a resource can be switched off', () => {
    const config = switches.parse('apps/v1/daemonsets=false');
    expect(
      createScheme({ rules: noKindRules, profile, runtimeConfig: config }).resource(
        v1('daemonsets', 'apps'),
      ),
    ).toBeUndefined();
  });
  test('unknown keys and values are refused by name', () => {
    expect(() => served('apps/v9=true,api/gamma=true')).toThrow(/unknown "apps\/v9", "api\/gamma"/);
    expect(() => switches.parse('apps/v1=maybe')).toThrow(/apps\/v1 must be true or false/);
  });
});
