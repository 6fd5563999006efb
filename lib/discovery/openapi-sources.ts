// Which sources of paths and schemas the documents have: built-in kinds together, since they share
// their types, and each kind that comes at run time by itself.
import type { Scheme } from '../api/scheme.ts';
import type { PublishedKind, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import type { DiscoveryGroup, DiscoveryVersion } from './discovery.ts';
import type { Source } from './openapi-fragments.ts';
import { modelsOf, publishedKind } from './openapi-models.ts';
import { groupWords, operationGroup, tagOf } from './openapi-names.ts';
import { documentPath, resourcePaths, rootOf } from './openapi-operations.ts';
import type { OperationContext, PathItem } from './openapi-operations.ts';
import type { OpenApiMedia } from './openapi-paths.ts';

export interface SourcesOptions extends OperationContext {
  readonly media: OpenApiMedia;
}

/** A document of OpenAPI 3.0: where it is, and what it is made of. */
export interface PartSource {
  readonly path: string;
  /** The same object: the same sources. */
  readonly key: object;
  readonly sources: () => readonly Source[];
}

export class Sources {
  readonly #options: SourcesOptions;
  readonly #ofResource = new WeakMap<ResourceInfo, Source>();
  /** Types that kinds refer to which come at run time; with those of a scale, where one has it. */
  readonly #common: { readonly plain: Source; readonly withScale: Source };
  #base: { readonly resources: readonly ResourceInfo[]; readonly source: Source } | undefined;

  constructor(options: SourcesOptions) {
    this.#options = options;
    const common = (types: readonly TypeInfo[]): Source => this.#closed({}, () => [], types);
    const plain = commonTypes(options.scheme);
    this.#common = { plain: common(plain), withScale: common([...plain, ...scaleTypes(options)]) };
  }

  /** Of the one document of 2.0. */
  whole(groups: readonly DiscoveryGroup[]): readonly Source[] {
    const open: Source[] = [];
    const closed: ResourceInfo[] = [];
    const versions = groups.flatMap((of) => of.versions);
    for (const resource of versions.flatMap(({ resources }) => resources)) {
      const published = this.#publishedKind(resource);
      if (published === undefined) closed.push(resource);
      else open.push(this.#open(resource, published));
    }
    return [this.#baseOf(groups, closed), ...open];
  }

  /** Every 3.0 document. */
  parts(groups: readonly DiscoveryGroup[]): readonly PartSource[] {
    return [...groups.flatMap((of) => this.#partsOf(of)), ...this.#rootParts()];
  }

  /** The 3.0 document of that path. */
  part(groups: readonly DiscoveryGroup[], path: string): PartSource | undefined {
    const [root, second] = path.split('/');
    const name = root === 'api' ? '' : second;
    const group = groups.find((one) => one.group === name);
    const parts = group === undefined ? this.#rootParts() : this.#partsOf(group);
    return parts.find((part) => part.path === path);
  }

  #partsOf(of: DiscoveryGroup): readonly PartSource[] {
    const { group, versions } = of;
    const path = group === '' ? 'api' : `apis/${group}`;
    const items = (): readonly PathItem[] => [groupPath(this.#options.scheme, group)];
    const ofVersions = versions.map((version) => ({
      path: rootOf({ group, version: version.version }).slice(1),
      key: version,
      sources: () => this.#ofVersion(group, version),
    }));
    return versions.some((version) => this.#hasClosed(version))
      ? [{ path, key: of, sources: () => [this.#closed(of, items)] }, ...ofVersions]
      : ofVersions;
  }

  #rootParts(): readonly PartSource[] {
    return roots.map((root) => {
      const items = (): readonly PathItem[] => [rootPath(this.#options.scheme, root)];
      return { path: root.path, key: root, sources: () => [this.#closed(root, items)] };
    });
  }

  #publishedKind(resource: ResourceInfo): PublishedKind | undefined {
    return publishedKind(this.#options.scheme, resource);
  }

  #hasClosed({ resources }: DiscoveryVersion): boolean {
    return resources.some((resource) => this.#publishedKind(resource) === undefined);
  }

  #ofVersion(group: string, version: DiscoveryVersion): readonly Source[] {
    const open: Source[] = [];
    const closed: ResourceInfo[] = [];
    for (const resource of version.resources) {
      const published = this.#publishedKind(resource);
      if (published === undefined) closed.push(resource);
      else open.push(this.#open(resource, published));
    }
    const hasScale = version.resources.some(({ subresources }) =>
      subresources.some(({ name }) => name === 'scale'),
    );
    const common = hasScale ? this.#common.withScale : this.#common.plain;
    if (closed.length === 0) return [common, ...open];
    const types = open.length === 0 ? [] : (common.types ?? []);
    const items = (): readonly PathItem[] => this.#versionPaths(group, version.version, closed);
    return [this.#closed(version, items, types), ...open];
  }

  /** Everything of the release; the same source while that is the same. */
  #baseOf(groups: readonly DiscoveryGroup[], resources: readonly ResourceInfo[]): Source {
    const last = this.#base;
    const isSame =
      last?.resources.length === resources.length &&
      resources.every((resource, index) => resource === last.resources[index]);
    if (isSame) return last.source;
    const { scheme } = this.#options;
    const items = (): readonly PathItem[] => [
      ...groups.flatMap(({ group, versions }) => {
        const own = versions.filter((version) => this.#hasClosed(version));
        if (own.length === 0) return [];
        const ofVersions = own.flatMap((of) => {
          const closed = of.resources.filter((one) => this.#publishedKind(one) === undefined);
          return this.#versionPaths(group, of.version, closed);
        });
        return [groupPath(scheme, group), ...ofVersions];
      }),
      ...roots.map((root) => rootPath(scheme, root)),
    ];
    const types = [...commonTypes(scheme), ...scaleTypes(this.#options)];
    const source = this.#closed({}, items, types);
    this.#base = { resources, source };
    return source;
  }

  #closed(key: object, items: () => readonly PathItem[], types: readonly TypeInfo[] = []): Source {
    return { key, items, types, media: this.#options.media, models: [] };
  }

  #open(resource: ResourceInfo, published: PublishedKind): Source {
    const known = this.#ofResource.get(resource);
    if (known !== undefined) return known;
    const { scheme, media } = this.#options;
    const inputs = inputsOf(resource);
    const source: Source = {
      key: resource,
      items: () => sortedPaths(this.#options, [resource]),
      media: openMedia(scheme, media),
      types: undefined,
      models: modelsOf(scheme, resource, published),
      ...(inputs === undefined ? {} : { inputs }),
    };
    this.#ofResource.set(resource, source);
    return source;
  }

  #versionPaths(group: string, version: string, resources: readonly ResourceInfo[]): PathItem[] {
    const { scheme } = this.#options;
    return [
      documentPath({
        path: `${rootOf({ group, version })}/`,
        id: `get${operationGroup(scheme, group, version)}APIResources`,
        description: 'get available resources',
        tag: tagOf(scheme, group, version),
        answer: scheme.type('meta/v1.APIResourceList'),
      }),
      ...sortedPaths(this.#options, resources),
    ];
  }
}

const sortedPaths = (context: OperationContext, resources: readonly ResourceInfo[]): PathItem[] =>
  resources
    .flatMap((resource) => resourcePaths(context, resource))
    .sort((one, other) => (one.path < other.path ? -1 : 1));

const commonTypes = (scheme: Scheme): readonly TypeInfo[] =>
  ['ObjectMeta', 'ListMeta', 'Status', 'DeleteOptions', 'Patch'].map((name) =>
    scheme.type(`meta/v1.${name}`),
  );

const scaleTypes = ({ scheme }: SourcesOptions): readonly TypeInfo[] => {
  const type = scheme.kind({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
  return type === undefined ? [] : [type];
};

/** Everything of a kind that its paths and models are made of; undefined: nothing tells it. */
export function inputsOf(resource: ResourceInfo): string | undefined {
  const schemaHash = resource.published?.schemaHash;
  if (schemaHash === undefined) return undefined;
  const { group, version, kind, listKind, namespaced, verbs, subresources } = resource;
  const names = [group, version, resource.resource, kind, listKind, namespaced];
  return JSON.stringify([names, verbs, subresources, resource.fieldSelectors, schemaHash]);
}

/** Objects without a Protobuf form and without rules for strategic merges. */
function openMedia(scheme: Scheme, { objects, patches }: OpenApiMedia): OpenApiMedia {
  const own = objects.filter((mediaType) => mediaType !== scheme.profile.protobufMediaType);
  return {
    objects: own,
    bodies: own,
    streams: [],
    patches: patches.filter((mediaType) => !mediaType.startsWith('application/strategic-')),
  };
}

const roots = [
  {
    path: 'apis',
    id: 'getAPIVersions',
    description: 'get available API versions',
    answer: 'meta/v1.APIGroupList',
  },
  {
    path: 'version',
    id: 'getCodeVersion',
    description: 'get the version of the server',
    answer: 'version.Info',
  },
] as const;

const rootPath = (
  scheme: Scheme,
  { path, id, description, answer }: (typeof roots)[number],
): PathItem =>
  documentPath({ path: `/${path}/`, id, description, tag: path, answer: scheme.type(answer) });

const groupPath = (scheme: Scheme, group: string): PathItem =>
  group === ''
    ? documentPath({
        path: '/api/',
        id: 'getCoreAPIVersions',
        description: 'get available API versions',
        tag: 'core',
        answer: scheme.type('meta/v1.APIVersions'),
      })
    : documentPath({
        path: `/apis/${group}/`,
        id: `get${groupWords(scheme, group)}APIGroup`,
        description: 'get information of a group',
        tag: tagOf(scheme, group),
        answer: scheme.type('meta/v1.APIGroup'),
      });
