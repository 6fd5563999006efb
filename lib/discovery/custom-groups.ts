// Adds groups of custom resources to the built-in ones: built-in groups keep their places, others
// follow by name; versions by the usual order of version names (v2 before v1 before v1beta1).
import type { ResourceInfo } from '../api/type-info.ts';
import type { DiscoveryGroup } from './discovery.ts';

/** Positive: `one` comes after `other`. */
export function compareVersions(one: string, other: string): number {
  const left = partsOf(one);
  const right = partsOf(other);
  for (const [index, part] of left.entries()) {
    const difference = (right[index] ?? 0) - part;
    if (difference !== 0) return difference;
  }
  return one < other ? -1 : one === other ? 0 : 1;
}

// [stage, major, minor], greater is better; a name of another form is worse than all of the known
// form.
function partsOf(version: string): readonly number[] {
  const match = /^v([1-9][0-9]{0,8})(?:(alpha|beta)([1-9][0-9]{0,8}))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const stage = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1;
  return [stage, Number(match[1]), Number(match[3] ?? 0)];
}

export function withCustomGroups(
  builtIn: readonly DiscoveryGroup[],
  resources: Iterable<ResourceInfo>,
): readonly DiscoveryGroup[] {
  const byGroup = new Map<string, Map<string, ResourceInfo[]>>();
  for (const resource of resources) {
    const versions = byGroup.get(resource.group) ?? new Map<string, ResourceInfo[]>();
    byGroup.set(resource.group, versions);
    const list = versions.get(resource.version) ?? [];
    versions.set(resource.version, list);
    list.push(resource);
  }
  const custom = [...byGroup].map(([group, versions]): DiscoveryGroup => ({
    group,
    versions: [...versions]
      .sort(([one], [other]) => compareVersions(one, other))
      .map(([version, list]) => ({
        version,
        resources: list.sort((one, other) => (one.resource < other.resource ? -1 : 1)),
      })),
  }));
  const added = new Map(custom.map((one) => [one.group, one]));
  const merged = builtIn.map((one) => mergeGroup(one, added.get(one.group)));
  const known = new Set(builtIn.map(({ group }) => group));
  const others = custom.filter(({ group }) => !known.has(group));
  return [...merged, ...others.sort((one, other) => (one.group < other.group ? -1 : 1))];
}

/** A definition may extend a group that is built in: its versions follow, its resources join. */
function mergeGroup(builtIn: DiscoveryGroup, added: DiscoveryGroup | undefined): DiscoveryGroup {
  if (added === undefined) return builtIn;
  const versions = builtIn.versions.map((version) => {
    const more = added.versions.find((one) => one.version === version.version);
    return more === undefined
      ? version
      : { ...version, resources: [...version.resources, ...more.resources] };
  });
  const names = new Set(versions.map(({ version }) => version));
  return {
    ...builtIn,
    versions: [...versions, ...added.versions.filter(({ version }) => !names.has(version))],
  };
}
