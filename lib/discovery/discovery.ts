// What is served, as documents: legacy ones (/api, /apis and below) and the aggregated list.
// Pure functions of the groups: the same groups give the same bytes on every replica. Documents are
// made once and shared: never written to. Made again when groups change; HTTP is the server's.
import { createHash } from 'node:crypto';
import type { Scheme } from '../api/scheme.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { inTurns } from '../base/steps.ts';
import type { Steps } from '../base/steps.ts';
import type {
  GroupVersionKind,
  JsonObject,
  ResourceInfo,
  ResourceVerb,
  SubresourceInfo,
  TypeInfo,
} from '../api/type-info.ts';

/** Versions with the preferred one first; a GroupInfo of the scheme is one. */
export interface DiscoveryGroup {
  readonly group: string;
  readonly versions: readonly DiscoveryVersion[];
}
export interface DiscoveryVersion {
  readonly version: string;
  readonly resources: readonly ResourceInfo[];
  /** Stale: an aggregated server did not answer the last time. */
  readonly freshness?: 'Current' | 'Stale';
}

export interface DiscoveryDocument {
  readonly object: Readonly<JsonObject>;
  readonly type: TypeInfo;
}
/** A list whose items are the very same objects while their groups are. */
export interface AggregatedDocument extends DiscoveryDocument {
  /** With its quotes, as the header has it. */
  readonly etag: string;
}
export type AggregatedVersion = 'v2' | 'v2beta1';

export interface Discovery {
  /**
   * The legacy document of a path; undefined: nothing is discovered there. A slash at the end
   * is allowed.
   */
  document(path: string): DiscoveryDocument | undefined;
  /** The aggregated document of `/api` or `/apis`; a promise where much of it is new. */
  aggregated(
    path: string,
    version: AggregatedVersion,
  ): MaybePromise<AggregatedDocument> | undefined;
  /** Where there is a legacy document. */
  readonly paths: readonly string[];
}

export interface DiscoveryOptions {
  readonly scheme: Scheme;
  /** In discovery order, the core group (named '') among them. */
  readonly groups: readonly DiscoveryGroup[];
  /**
   * `host:port` that clients reach this server by: the one thing in `/api` that replicas differ
   * in.
   */
  readonly serverAddress: string;
}

export function createDiscovery(options: DiscoveryOptions): Discovery {
  const documents = new Map<string, DiscoveryDocument | undefined>();
  const lists = new Map<string, MaybePromise<AggregatedDocument>>();
  return {
    document(path) {
      const asked = withoutSlash(path);
      // Only paths that exist are kept: the others are the client's choice, and without end.
      const known = documents.get(asked);
      if (known !== undefined) return known;
      const made = legacyDocument(options, asked);
      if (made !== undefined) documents.set(asked, made);
      return made;
    },
    aggregated(path, version) {
      const asked = withoutSlash(path);
      if (asked !== '/api' && asked !== '/apis') return undefined;
      const key = `${asked} ${version}`;
      const known = lists.get(key);
      if (known !== undefined) return known;
      const made = whenThere(inTurns(aggregatedDocument(options, asked, version)), (document) => {
        lists.set(key, document);
        return document;
      });
      lists.set(key, made);
      return made;
    },
    get paths() {
      return options.groups.flatMap(pathsOf).concat('/apis', '/apis/');
    },
  };
}

function pathsOf({ group, versions }: DiscoveryGroup): string[] {
  const root = group === '' ? '/api' : `/apis/${group}`;
  return [root, ...versions.map(({ version }) => `${root}/${version}`)];
}

const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path);

function legacyDocument(options: DiscoveryOptions, path: string): DiscoveryDocument | undefined {
  const { scheme, groups } = options;
  const [root, first, second, ...more] = path.split('/').slice(1);
  if (more.length > 0) return undefined;
  // Documents of the core group never name their own version.
  const version = root === 'api' ? {} : { apiVersion: 'v1' };
  const typed = (kind: string, members: JsonObject): DiscoveryDocument => ({
    object: { kind, ...version, ...members },
    type: scheme.type(`meta/v1.${kind}`),
  });
  if (root === 'api' && second === undefined) {
    const core = groups.find(({ group }) => group === '');
    if (core === undefined) return undefined;
    if (first === undefined) return typed('APIVersions', coreVersions(core, options.serverAddress));
    return resourceList(core, first, typed);
  }
  if (root !== 'apis') return undefined;
  if (first === undefined) {
    const entries = groups.filter(({ group }) => group !== '').map(groupEntry);
    return typed('APIGroupList', { groups: entries });
  }
  const named = groups.find(({ group }) => group === first);
  if (named === undefined || first === '') return undefined;
  return second === undefined
    ? typed('APIGroup', groupEntry(named))
    : resourceList(named, second, typed);
}

function coreVersions(core: DiscoveryGroup, serverAddress: string): JsonObject {
  return {
    versions: core.versions.map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

function groupEntry({ group, versions }: DiscoveryGroup): JsonObject {
  const entries = versions.map(({ version }) => ({
    groupVersion: apiVersionOf({ group, version }),
    version,
  }));
  return { name: group, versions: entries, preferredVersion: entries[0] ?? null };
}

function resourceList(
  { group, versions }: DiscoveryGroup,
  version: string,
  typed: (kind: string, members: JsonObject) => DiscoveryDocument,
): DiscoveryDocument | undefined {
  const served = versions.find((one) => one.version === version);
  if (served === undefined) return undefined;
  const resources = served.resources.flatMap((resource) => [
    resourceEntry(resource),
    ...resource.subresources.map((subresource) => subresourceEntry(resource, subresource)),
  ]);
  return typed('APIResourceList', { groupVersion: apiVersionOf({ group, version }), resources });
}

/** Group and version are named only where the kind is of another one than the list. */
function foreign(kind: GroupVersionKind, { group, version }: ResourceInfo): JsonObject {
  return kind.group === group && kind.version === version
    ? {}
    : { group: kind.group, version: kind.version };
}

/** A kind that goes is told so by what it still takes. */
const listedVerbs = ({ published, verbs }: ResourceInfo): readonly ResourceVerb[] =>
  published?.listedVerbs ?? verbs;

function resourceEntry(resource: ResourceInfo): JsonObject {
  const { kind, shortNames, categories, storageVersionHash } = resource;
  return {
    name: resource.resource,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    ...foreign(kind, resource),
    kind: kind.kind,
    verbs: [...listedVerbs(resource)],
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(storageVersionHash === '' ? {} : { storageVersionHash }),
  };
}

function subresourceEntry(
  resource: ResourceInfo,
  { name, kind, verbs }: SubresourceInfo,
): JsonObject {
  return {
    name: `${resource.resource}/${name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...foreign(kind, resource),
    kind: kind.kind,
    verbs: [...verbs],
  };
}

function* aggregatedDocument(
  { scheme, groups }: DiscoveryOptions,
  path: '/api' | '/apis',
  version: AggregatedVersion,
): Steps<AggregatedDocument> {
  const kind = 'APIGroupDiscoveryList';
  const apiVersion = apiVersionOf({ group: scheme.profile.discoveryGroup, version });
  const items: JsonObject[] = [];
  const hashes: Uint8Array[] = [Buffer.from(`${kind} ${apiVersion}`)];
  for (const group of groups) {
    if ((group.group === '') !== (path === '/api')) continue;
    const item = aggregatedGroup(group);
    items.push(item);
    hashes.push(hashOfGroup(item));
    yield;
  }
  const object: JsonObject = { kind, apiVersion, metadata: {}, items };
  const hash = createHash('sha256').update(Buffer.concat(hashes)).digest('hex');
  const etag = `"${hash.toUpperCase()}"`;
  return { object, type: scheme.type(`apidiscovery/${version}.${kind}`), etag };
}

const kindEntry = ({ group, version, kind }: GroupVersionKind): JsonObject => ({
  group,
  version,
  kind,
});

/** Entries of groups that did not change are those of the document before. */
const aggregatedGroups = new WeakMap<DiscoveryGroup, JsonObject>();

function aggregatedGroup(of: DiscoveryGroup): JsonObject {
  const made = aggregatedGroups.get(of) ?? makeAggregatedGroup(of);
  aggregatedGroups.set(of, made);
  return made;
}

const groupHashes = new WeakMap<JsonObject, Buffer>();

function hashOfGroup(item: JsonObject): Buffer {
  let hash = groupHashes.get(item);
  if (hash === undefined) {
    hash = createHash('sha256').update(JSON.stringify(item)).digest();
    groupHashes.set(item, hash);
  }
  return hash;
}

function makeAggregatedGroup({ group, versions }: DiscoveryGroup): JsonObject {
  return {
    metadata: group === '' ? {} : { name: group },
    versions: versions.map(({ version, resources, freshness = 'Current' }) => ({
      version,
      resources: resources.map(aggregatedResource),
      freshness,
    })),
  };
}

function aggregatedResource(resource: ResourceInfo): JsonObject {
  const { shortNames, categories, subresources } = resource;
  const below = subresources.map(({ name, kind, verbs }) => ({
    subresource: name,
    responseKind: kindEntry(kind),
    verbs: [...verbs],
  }));
  return {
    resource: resource.resource,
    responseKind: kindEntry(resource.kind),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: [...listedVerbs(resource)],
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(below.length === 0 ? {} : { subresources: below }),
  };
}
