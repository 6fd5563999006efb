// The scheme: every built-in type, kind, group and resource by name, and what is served of it.
// createScheme({ profile, rules, runtimeConfig? }) is called once at start (0.15 s); immutable.
// Custom resources and aggregated APIs are not in it: they enter through the resource map.
import { systemClock } from '../base/clock.ts';
import { invariant } from '../base/invariant.ts';
import { featureGates } from '../config/gates.ts';
import type { Conversion } from './convert-fields.ts';
import { createDefaults } from './defaults.ts';
import type { Defaults } from './defaults.ts';
import type { KindRules } from './kind-rules.ts';
import { loadProto } from './load-proto.ts';
import type { EnumSet, LoadedTypes, PackageInfo } from './load-proto.ts';
import { parseApiVersion, resourceRecords } from './resource-records.ts';
import { servedBy } from './runtime-config.ts';
import type { RuntimeConfig } from './runtime-config.ts';
import { apiVersionOf } from './type-info.ts';
import type {
  GroupVersionKind,
  GroupVersionResource,
  ResourceInfo,
  TypeInfo,
} from './type-info.ts';
import type { NamingProfile } from './vendor.ts';

export interface VersionInfo {
  readonly version: string;
  /** Order within the group, highest first; APIService's versionPriority. */
  readonly priority: number;
  /** Served resources, by plural. */
  readonly resources: readonly ResourceInfo[];
}

export interface GroupInfo {
  readonly group: string;
  /** Order among groups, highest first; APIService's groupPriorityMinimum. */
  readonly priority: number;
  readonly preferredVersion: string;
  /** Served versions, preferred first. */
  readonly versions: readonly VersionInfo[];
}

export interface Scheme {
  readonly profile: NamingProfile;
  readonly defaults: Defaults;
  /** By `from type > to type`. */
  readonly conversions: ReadonlyMap<string, Conversion>;
  /** By id: `core/v1.Pod`. Built-in ids only: an unknown id is a bug. */
  type(id: string): TypeInfo;
  /**
   * Kinds with kind and apiVersion of their own; options and Status are found in every served
   * group version.
   */
  kind(of: GroupVersionKind): TypeInfo | undefined;
  /** The kind that a top-level type is written as. */
  kindOf(type: TypeInfo): GroupVersionKind | undefined;
  /** The list type of a resource's kind. */
  listType(resource: ResourceInfo): TypeInfo | undefined;
  /** A served resource. */
  resource(of: GroupVersionResource): ResourceInfo | undefined;
  /** Served or not. */
  knownResource(of: GroupVersionResource): ResourceInfo | undefined;
  /** A served resource by its kind. */
  resourceOfKind(of: GroupVersionKind): ResourceInfo | undefined;
  /** Every served resource, groups and versions in discovery order. */
  readonly resources: readonly ResourceInfo[];
  /**
   * One record per storage prefix in the version that is stored, served through at least one
   * version.
   */
  readonly storedResources: readonly ResourceInfo[];
  /** That record by group and plural. */
  storedResource(group: string, plural: string): ResourceInfo | undefined;
  /** Served groups in discovery order: the core group (named '') first. */
  readonly groups: readonly GroupInfo[];
  group(name: string): GroupInfo | undefined;
  /**
   * The record in whose version objects of this resource are stored; the same for all versions
   * that share a prefix.
   */
  storageResource(resource: ResourceInfo): ResourceInfo;
  /** Served records that show the same stored objects, discovery order. */
  servedAs(resource: ResourceInfo): readonly ResourceInfo[];
  enumSet(id: string): EnumSet | undefined;
  readonly packages: ReadonlyMap<string, PackageInfo>;
}

const metaPackage = 'meta/v1';
const gatesByDefault = featureGates(new Map());
/**
 * Sorts after the core group and before every other one: the server answers for this group
 * itself.
 */
const unlistedPriority = 17_999;

export function createScheme(options: {
  readonly profile: NamingProfile;
  /** What kinds add to the .proto files. */
  readonly rules: KindRules;
  readonly runtimeConfig?: RuntimeConfig;
  /** Feature gates, by name; their defaults unless given. */
  readonly isOn?: (gate: string) => boolean;
  /** For defaults that are a time. */
  readonly nowMs?: () => number;
}): Scheme {
  const loaded = loadProto(options.profile);
  const context = {
    profile: options.profile,
    isOn: options.isOn ?? ((gate) => gatesByDefault.isEnabled(gate)),
    nowMs: options.nowMs ?? (() => systemClock.nowMs()),
  };
  const defaults = createDefaults(context, options.rules.defaults);
  const known = resourceRecords(loaded, defaults, options.rules.fieldReaders);
  const groups = servedGroups(loaded, known, options.runtimeConfig ?? new Map());
  const resources = groups.flatMap((group) =>
    group.versions.flatMap((version) => version.resources),
  );
  const kinds = kindsOf(loaded);
  const servedByKey = new Map(resources.map((resource) => [keyOf(resource), resource]));
  const knownByKey = new Map(known.map((resource) => [keyOf(resource), resource]));
  const byKind = new Map(resources.map((resource) => [kindKey(resource.kind), resource]));
  const byPrefix = storedForms(groups, known);
  const storedResources = [...byPrefix.values()]
    .filter((form) => form.served.length > 0)
    .map((form) => form.stored);
  const groupByName = new Map(groups.map((group) => [group.group, group]));
  const kindByType = new Map([...kinds].map(([, entry]) => [entry.type, entry.kind]));
  const kind = (of: GroupVersionKind): TypeInfo | undefined =>
    kinds.get(kindKey(of))?.type ??
    (isServedVersion(groupByName, of) ? sharedKind(loaded, of.kind) : undefined);
  return {
    profile: options.profile,
    defaults,
    conversions: new Map(Object.entries(options.rules.conversions)),
    type(id) {
      const type = loaded.types.get(id);
      invariant(type !== undefined, `type ${id} is known`);
      return type;
    },
    kind,
    kindOf: (type) => kindByType.get(type),
    listType: (resource) => kind({ ...resource.kind, kind: resource.listKind }),
    resource: (of) => servedByKey.get(keyOf(of)),
    knownResource: (of) => knownByKey.get(keyOf(of)),
    resourceOfKind: (of) => byKind.get(kindKey(of)),
    resources,
    storedResources,
    storedResource: (group, plural) =>
      storedResources.find((one) => one.group === group && one.resource === plural),
    groups,
    group: (name) => groupByName.get(name),
    storageResource: (resource) => byPrefix.get(prefixKey(resource))?.stored ?? resource,
    servedAs: (resource) => byPrefix.get(prefixKey(resource))?.served ?? [],
    enumSet: (id) => loaded.enums.get(id),
    packages: loaded.packages,
  };
}

const keyOf = (of: GroupVersionResource): string => `${of.group}/${of.version}/${of.resource}`;
const kindKey = (of: GroupVersionKind): string => `${of.group}/${of.version}/${of.kind}`;

// Objects share a prefix when they are the same objects: the name alone is not enough, since two
// groups could use one.
const prefixKey = (resource: ResourceInfo): string => resource.storagePrefix;

function kindsOf({
  packages,
}: LoadedTypes): Map<string, { kind: GroupVersionKind; type: TypeInfo }> {
  const kinds = new Map<string, { kind: GroupVersionKind; type: TypeInfo }>();
  for (const { group, version, types } of packages.values()) {
    if (group === undefined || version === undefined) continue;
    for (const type of types) {
      if (!type.hasTypeMeta) continue;
      const kind = { group, version, kind: type.name };
      kinds.set(kindKey(kind), { kind, type });
    }
  }
  return kinds;
}

/** Options, Status and discovery kinds belong to every group version. */
function sharedKind({ types }: LoadedTypes, kind: string): TypeInfo | undefined {
  const type = types.get(`${metaPackage}.${kind}`);
  return type?.hasTypeMeta === true ? type : undefined;
}

function isServedVersion(groups: ReadonlyMap<string, GroupInfo>, of: GroupVersionKind): boolean {
  return groups.get(of.group)?.versions.some(({ version }) => version === of.version) === true;
}

function servedGroups(
  { packages }: LoadedTypes,
  known: readonly ResourceInfo[],
  config: RuntimeConfig,
): readonly GroupInfo[] {
  const owners = [...packages.values()].filter((owner) => owner.served);
  const inVersion = (owner: PackageInfo): readonly ResourceInfo[] =>
    known.filter(({ group, version }) => group === owner.group && version === owner.version);
  const isServed = servedBy(
    owners.map((owner) => ({
      group: owner.group ?? '',
      version: owner.version ?? '',
      enabledByDefault: owner.enabledByDefault,
      resources: inVersion(owner).map(({ resource }) => resource),
    })),
    config,
  );
  const groups = new Map<string, { priority: number; versions: VersionInfo[] }>();
  for (const owner of owners) {
    const {
      group = '',
      version = '',
      groupPriority = unlistedPriority,
      versionPriority = 1,
    } = owner;
    const resources = inVersion(owner)
      .filter(({ resource }) => isServed(group, version, resource))
      .sort((one, other) => (one.resource < other.resource ? -1 : 1));
    if (resources.length === 0) continue;
    const entry = groups.get(group) ?? { priority: groupPriority, versions: [] };
    entry.versions.push({ version, priority: versionPriority, resources });
    groups.set(group, entry);
  }
  return [...groups]
    .map(([group, { priority, versions }]) => {
      versions.sort((one, other) => other.priority - one.priority);
      return { group, priority, versions, preferredVersion: versions[0]?.version ?? '' };
    })
    .sort((one, other) => other.priority - one.priority || (one.group < other.group ? -1 : 1));
}

interface StoredForm {
  readonly stored: ResourceInfo;
  readonly served: readonly ResourceInfo[];
}

/**
 * By storage prefix. A storage version without a record (an older one, kept for its hash) gives
 * way to the best known.
 */
function storedForms(
  groups: readonly GroupInfo[],
  known: readonly ResourceInfo[],
): Map<string, StoredForm> {
  const served = groups.flatMap((group) => group.versions.flatMap((version) => version.resources));
  const forms = new Map<string, StoredForm>();
  for (const resource of [...served, ...known]) {
    const prefix = resource.storagePrefix;
    if (prefix === '' || forms.has(prefix)) continue;
    const wanted = parseApiVersion(resource.storageVersion);
    const sharing = known.filter((one) => one.storagePrefix === prefix);
    const stored = sharing.find((one) => apiVersionOf(one) === apiVersionOf(wanted)) ?? resource;
    invariant(
      sharing.every((one) => one.namespaced === stored.namespaced),
      `resources below ${prefix} agree on their scope`,
    );
    forms.set(prefix, { stored, served: served.filter((one) => one.storagePrefix === prefix) });
  }
  return forms;
}
