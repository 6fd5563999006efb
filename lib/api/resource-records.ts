// Makes ResourceInfo records out of the `(api_resource)` options: one per resource and version.
import { createHash } from 'node:crypto';
import { apiVersionOf } from './type-info.ts';
import type { Defaults } from './defaults.ts';
import { kindNameOf } from './kind-rules.ts';
import type { KindRules } from './kind-rules.ts';
import type { LoadedTypes, PackageInfo } from './load-proto.ts';
import type {
  GroupVersionKind,
  Life,
  NameRule,
  ResourceInfo,
  ResourceVerb,
  SubresourceInfo,
  TypeInfo,
} from './type-info.ts';

type Options = Readonly<Record<string, unknown>>;

const allVerbs: readonly ResourceVerb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];
const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? (value as string[]) : [];
const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
const records = (value: unknown): readonly Options[] =>
  Array.isArray(value) ? (value as Options[]) : [];

/** `group/version`, or `version` alone in the core group. */
export function parseApiVersion(apiVersion: string): {
  readonly group: string;
  readonly version: string;
} {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/**
 * How discovery names the stored form: base64 of the first 8 bytes of SHA-256 of
 * `group/version/kind`.
 */
export function storageVersionHashOf({ group, version, kind }: GroupVersionKind): string {
  return createHash('sha256')
    .update(`${group}/${version}/${kind}`)
    .digest()
    .subarray(0, 8)
    .toString('base64');
}

/**
 * Every resource of every served package, in the order of the files; enablement is the scheme's
 * business.
 */
export function resourceRecords(
  loaded: LoadedTypes,
  defaults: Pick<Defaults, 'versionOf'>,
  fieldReaders: KindRules['fieldReaders'],
): ResourceInfo[] {
  const resources: ResourceInfo[] = [];
  for (const owner of loaded.packages.values()) {
    if (!owner.served) continue;
    for (const type of owner.types) {
      const options = type.options['apiResource'] as Options | undefined;
      if (options === undefined) continue;
      const defaultsVersion = defaults.versionOf(type);
      const readers = fieldReaders[kindNameOf(type.id)];
      resources.push({
        ...resourceOf(owner, type, options),
        defaultsVersion,
        ...(readers === undefined ? {} : { fieldReaders: readers }),
      });
    }
  }
  return resources;
}

function resourceOf(owner: PackageInfo, type: TypeInfo, options: Options): ResourceInfo {
  const { group = '', version = '' } = owner;
  const kind: GroupVersionKind = { group, version, kind: type.name };
  const plural = String(options['plural']);
  const virtual = options['virtual'] === true;
  const namespaced = options['namespaced'] === true;
  const storageVersion = text(options['storageVersion']) ?? apiVersionOf({ group, version });
  const selectable = [
    'metadata.name',
    ...(namespaced ? ['metadata.namespace'] : []),
    ...strings(options['selectable']),
  ];
  const life = lifeOf((options['life'] ?? type.options['life']) as Life | undefined, version);
  const verbs =
    options['verbs'] === undefined
      ? allVerbs
      : (strings(options['verbs']) as readonly ResourceVerb[]);
  const isStored = !virtual && verbs.includes('create');
  return {
    group,
    version,
    resource: plural,
    singular: String(options['singular']),
    kind,
    listKind: virtual ? '' : `${type.name}List`,
    shortNames: strings(options['shortNames']),
    categories: strings(options['categories']),
    namespaced,
    verbs,
    subresources: records(options['subresource']).map((one) => subresourceOf(one, kind)),
    virtual,
    type,
    storageVersion: isStored ? storageVersion : '',
    storageVersionHash: isStored
      ? storageVersionHashOf({ ...parseApiVersion(storageVersion), kind: type.name })
      : '',
    storagePrefix: isStored ? (text(options['storagePrefix']) ?? plural) : '',
    fieldSelectors: virtual ? [] : selectable,
    nameRule: (options['names'] as NameRule | undefined) ?? 'dns1123Subdomain',
    createOnUpdate: options['createOnUpdate'] === true,
    unconditionalUpdate: options['unconditionalUpdate'] === true,
    hasGeneration: options['generation'] === true,
    resetMain: strings(options['reset']),
    ...resetsOf(records(options['resetBy'])),
    ...(life === undefined ? {} : { life }),
  };
}

function resetsOf(
  records: readonly Options[],
): Pick<ResourceInfo, 'resetBySubresource' | 'writableBySubresource'> {
  const reset: Record<string, readonly string[]> = {};
  const writable: Record<string, readonly string[]> = {};
  for (const one of records) {
    const [subresource, allBut] = [String(one['subresource']), strings(one['allBut'])];
    if (allBut.length > 0) writable[subresource] = allBut;
    else reset[subresource] = strings(one['fields']);
  }
  return { resetBySubresource: reset, writableBySubresource: writable };
}

/** Releases from one step of an alpha or beta version's life to the next, unless they are given. */
const stepReleases = 3;

/** Versions that are not stable are deprecated and removed in time, whatever else happens. */
function lifeOf(life: Life | undefined, version: string): Life | undefined {
  if (life === undefined || /^v\d+$/.test(version)) return life;
  const deprecated = life.deprecated ?? later(life.introduced);
  const removed = life.removed ?? later(deprecated);
  return {
    ...life,
    ...(deprecated === undefined ? {} : { deprecated }),
    ...(removed === undefined ? {} : { removed }),
  };
}

function later(release: string | undefined): string | undefined {
  const [major, minor] = (release ?? '').split('.').map(Number);
  if (major === undefined || minor === undefined) return undefined;
  return `${String(major)}.${String(minor + stepReleases)}`;
}

function subresourceOf(options: Options, own: GroupVersionKind): SubresourceInfo {
  const groupVersion = options['groupVersion'];
  const of = typeof groupVersion === 'string' ? parseApiVersion(groupVersion) : own;
  const kind = text(options['kind']) ?? own.kind;
  return {
    name: String(options['name']),
    kind: { group: of.group, version: of.version, kind },
    verbs: strings(options['verbs']),
  };
}
