import { describe, expect, test } from '@jest/globals';
import { switches } from '../config/flag-kinds.ts';
import { servedBy } from './runtime-config.ts';
import type { ServedVersion } from './runtime-config.ts';
import { noKindRules } from './testing/no-kind-rules.ts';
import { createScheme } from './scheme.ts';
import type { Scheme } from './scheme.ts';
import { apiVersionOf } from './type-info.ts';
import { namingProfile } from './vendor.ts';

const versions: readonly ServedVersion[] = [
  { group: '', version: 'v1', enabledByDefault: true, resources: ['pods', 'nodes'] },
  { group: 'g', version: 'v1', enabledByDefault: true, resources: ['a', 'b'] },
  { group: 'g', version: 'v1beta1', enabledByDefault: false, resources: ['a'] },
  { group: 'g', version: 'v1alpha1', enabledByDefault: false, resources: ['a', 'c'] },
];

/** What is served: `group/version/resource`. */
function served(text: string): string[] {
  const isServed = servedBy(versions, switches.parse(text));
  return versions.flatMap(({ group, version, resources }) =>
    resources
      .filter((resource) => isServed(group, version, resource))
      .map((resource) => `${group === '' ? '' : `${group}/`}${version}/${resource}`),
  );
}
const core = ['v1/pods', 'v1/nodes'];
const stable = ['g/v1/a', 'g/v1/b'];

describe('keys', () => {
  test.each<[text: string, expected: string[]]>([
    ['', [...core, ...stable]],
    ['api/beta', [...core, ...stable, 'g/v1beta1/a']],
    ['api/alpha=true', [...core, ...stable, 'g/v1alpha1/a', 'g/v1alpha1/c']],
    ['api/all', [...core, ...stable, 'g/v1beta1/a', 'g/v1alpha1/a', 'g/v1alpha1/c']],
    ['api/all=false', []],
    ['api/all=false,v1', core],
    ['api/all=false,api/v1=true', core],
    ['api/all=false,api/ga=true', [...core, ...stable]],
    ['api/ga=false', []],
    ['g/v1=false', core],
    ['g/v1/a=false', [...core, 'g/v1/b']],
    ['g/v1=false,g/v1/a=true', [...core, 'g/v1/a']],
    ['g/v1/a=true,g/v1=false', [...core, 'g/v1/a']],
    ['v1/nodes=false', ['v1/pods', ...stable]],
    ['g/v1alpha1/c', [...core, ...stable, 'g/v1alpha1/c']],
    ['api/beta=true,g/v1beta1=false', [...core, ...stable]],
    [' g/v1beta1 = 1 , ', [...core, ...stable, 'g/v1beta1/a']],
  ])('%j', (text, expected) => {
    expect(served(text)).toEqual(expected);
  });

  test.each([
    ['g/v2', '"g/v2"'],
    ['api/gamma=true', '"api/gamma"'],
    ['g/v1/missing=true,nowhere/v1', '"g/v1/missing", "nowhere/v1"'],
    ['constructor=true', '"constructor"'],
    ['__proto__', '"__proto__"'],
  ])('%s is unknown and refused', (text, named) => {
    expect(() => served(text)).toThrow(`unknown ${named}`);
  });
});

describe('versions of a kind', () => {
  const schemeOf = (text: string): Scheme =>
    createScheme({
      rules: noKindRules,
      profile: namingProfile('kubernetes'),
      runtimeConfig: switches.parse(text),
    });
  const shown = (scheme: Scheme, name: string): [versions: string[], preferred: string] => {
    const group = scheme.group(name);
    return [group?.versions.map(({ version }) => version) ?? [], group?.preferredVersion ?? ''];
  };
  const all = schemeOf('api/all=true');

  test.each([
    ['', 'autoscaling', ['v2', 'v1'], 'v2'],
    ['autoscaling/v2=false', 'autoscaling', ['v1'], 'v1'],
    ['', 'resource.k8s.io', ['v1'], 'v1'],
    ['api/beta', 'resource.k8s.io', ['v1', 'v1beta2', 'v1beta1'], 'v1'],
    ['api/alpha', 'admissionregistration.k8s.io', ['v1', 'v1alpha1'], 'v1'],
    ['api/ga=false', 'apps', [], ''],
  ])('with %j the group %s has %j, %s first', (text, name, expected, preferred) => {
    expect(shown(schemeOf(text), name)).toEqual([expected, preferred]);
  });
  test('the preferred version is the one of the highest priority', () => {
    for (const group of all.groups) {
      const priorities = group.versions.map(({ priority }) => priority);
      expect([group.group, ...priorities]).toEqual([
        group.group,
        ...[...priorities].sort((one, other) => other - one),
      ]);
      expect(group.preferredVersion).toBe(group.versions[0]?.version);
    }
  });
  test('what is stored does not depend on what is served', () => {
    const stored = new Map(
      all.storedResources.map((one) => [one.storagePrefix, apiVersionOf(one.kind)]),
    );
    for (const text of [
      '',
      'autoscaling/v2=false',
      'api/beta',
      'resource.k8s.io/v1=false,api/beta',
    ]) {
      for (const resource of schemeOf(text).storedResources) {
        expect([resource.storagePrefix, apiVersionOf(resource.kind)]).toEqual([
          resource.storagePrefix,
          stored.get(resource.storagePrefix),
        ]);
      }
    }
  });
  test('every version that shows the same objects names one storage version', () => {
    for (const resource of all.storedResources) {
      const sharing = all.servedAs(resource);
      expect(new Set(sharing.map(({ storageVersionHash }) => storageVersionHash)).size).toBe(1);
      for (const one of sharing) expect(all.storageResource(one)).toBe(resource);
    }
  });
});
