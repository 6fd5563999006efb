// What a definition adds to the records of built-in kinds: one for each of its versions. Types are
// made when they are first needed, so that a definition that nobody uses costs next to nothing.
import { textAt, valueIn } from '../api/json-access.ts';
import { isObject } from '../api/json-value.ts';
import { loadResourceSchema, resourceSchemaSteps } from '../api/load-schema.ts';
import { storageVersionHashOf } from '../api/resource-records.ts';
import type {
  FieldReader,
  JsonObject,
  PublishedKind,
  ResourceInfo,
  ScalePlaces,
  SubresourceInfo,
  TableColumns,
  TypeInfo,
} from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { inTurns } from '../base/steps.ts';
import type { Steps } from '../base/steps.ts';
import { isStructural } from '../kinds/apiextensions/structural-violations.ts';
import { columnsOf } from './columns.ts';
import type { Definition, DefinitionVersion } from './definition.ts';
import { deprecationWarningOf } from './deprecation-warning.ts';

export interface RecordSource {
  readonly naming: NamingProfile;
  readonly objectMeta: TypeInfo;
  /** Of a version, as it is written; undefined: it has none. */
  readonly schemaOf: (version: string) => JsonObject | undefined;
}

export interface Records {
  /** By name of the version, in the order of the definition; served or not. */
  readonly versions: ReadonlyMap<string, ResourceInfo>;
  readonly stored: ResourceInfo;
  readonly served: readonly ResourceInfo[];
}

/** undefined: the definition has no storage version. */
export function recordsOf(definition: Definition, source: RecordSource): Records | undefined {
  const specReplicasIn = specReplicasOf(definition);
  const versions = new Map(
    definition.versions.map((version) => [
      version.name,
      recordOf(definition, version, { ...source, specReplicasIn }),
    ]),
  );
  const stored = versions.get(definition.storageVersion);
  if (stored === undefined) return undefined;
  const isServed = new Set(
    definition.versions.filter(({ served }) => served).map(({ name }) => name),
  );
  const served = [...versions.values()].filter(({ version }) => isServed.has(version));
  return { versions, stored, served };
}

const allVerbs = [
  ...(['create', 'delete', 'deletecollection', 'get'] as const),
  ...(['list', 'patch', 'update', 'watch'] as const),
];

function recordOf(
  definition: Definition,
  version: DefinitionVersion,
  source: RecordSource & Pick<ScalePlaces, 'specReplicasIn'>,
): ResourceInfo {
  const { group, names, namespaced } = definition;
  const kind = { group, version: version.name, kind: names.kind };
  const stored = { group, version: definition.storageVersion };
  const selected = version.selectableFields.map(withoutDot);
  const kept = definition.selectableFields.map(withoutDot);
  const warning = deprecationWarningOf(definition, version);
  let type: TypeInfo | undefined;
  let columns: TableColumns | undefined;
  return {
    group,
    version: version.name,
    resource: names.plural,
    singular: names.singular,
    kind,
    listKind: names.listKind,
    shortNames: names.shortNames,
    categories: names.categories,
    namespaced,
    verbs: allVerbs,
    subresources: subresourcesOf(version, kind, source),
    virtual: false,
    get type() {
      return (type ??= loadResourceSchema(...schemaSource(definition, version, source)));
    },
    storageVersion: apiVersionOf(stored),
    storageVersionHash: storageVersionHashOf({ ...stored, kind: names.kind }),
    storagePrefix: `${group}/${names.plural}`,
    fieldSelectors: ['metadata.name', ...(namespaced ? ['metadata.namespace'] : []), ...selected],
    declaresFields: true,
    keptFields: kept.filter((path) => !selected.includes(path)),
    fieldReaders: Object.fromEntries(kept.map((path) => [path, readerOf(path)])),
    nameRule: 'dns1123Subdomain',
    createOnUpdate: false,
    unconditionalUpdate: false,
    patches: ['json', 'merge', 'apply'],
    namesItself: true,
    hasLiveSchema: true,
    hasGeneration: true,
    resetMain: version.hasStatus ? ['status'] : [],
    resetBySubresource: version.hasStatus ? { status: ['metadata', 'spec'] } : {},
    fingerprint: version.fingerprint,
    hidesOtherScope: true,
    ...(warning === undefined ? {} : { deprecationWarning: warning }),
    get columns() {
      return (columns ??= columnsOf(version.columns));
    },
    published: publishedAs(definition, version, { source, known: () => type }),
  };
}

/** In the order in which clients have always seen them. */
const readAndDelete = ['delete', 'deletecollection', 'get', 'list'] as const;
const listedVerbs = [...readAndDelete, 'patch', 'create', 'update', 'watch'] as const;
/** What is left to do with a kind that goes. */
const lastVerbs = [...readAndDelete, 'watch'] as const;

function publishedAs(
  definition: Definition,
  version: DefinitionVersion,
  { source, known }: { readonly source: RecordSource; readonly known: () => TypeInfo | undefined },
): PublishedKind {
  const { isEstablished, isTerminating } = definition;
  return {
    isListed: isEstablished,
    listedVerbs: isTerminating ? lastVerbs : listedVerbs,
    schemaHash: version.fingerprint,
    typeOnce: () => inTurns(publishedType()),
  };
  function* publishedType(): Steps<TypeInfo | undefined> {
    const schema = source.schemaOf(version.name);
    const { schemaExtensionPrefix } = source.naming;
    if (schema === undefined || !(yield* isStructural(schema, schemaExtensionPrefix)))
      return undefined;
    return known() ?? (yield* resourceSchemaSteps(...schemaSource(definition, version, source)));
  }
}

const withoutDot = (path: string): string => path.replace(/^\./, '');

/** Of all versions of a definition, which may be many: made once. */
function specReplicasOf({ group, versions }: Definition): ScalePlaces['specReplicasIn'] {
  const places = versions.flatMap((version): [string, readonly string[]][] => {
    const apiVersion = apiVersionOf({ group, version: version.name });
    return version.scale === undefined ? [] : [[apiVersion, placesOf(version.scale).specReplicas]];
  });
  return new Map(places);
}

function subresourcesOf(
  { hasStatus, scale }: DefinitionVersion,
  own: ResourceInfo['kind'],
  { specReplicasIn }: Pick<ScalePlaces, 'specReplicasIn'>,
): readonly SubresourceInfo[] {
  const verbs = ['get', 'patch', 'update'];
  const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  return [
    ...(hasStatus ? [{ name: 'status', kind: own, verbs }] : []),
    ...(scale === undefined
      ? []
      : [{ name: 'scale', kind: scaleKind, verbs, scale: { ...placesOf(scale), specReplicasIn } }]),
  ];
}

/** Paths are split at their dots, whatever stands between them. */
export function placesOf(scale: JsonObject): Omit<ScalePlaces, 'specReplicasIn'> {
  const pathAt = (name: string): readonly string[] => withoutDot(textAt(scale, name)).split('.');
  return {
    specReplicas: pathAt('specReplicasPath'),
    statusReplicas: pathAt('statusReplicasPath'),
    selector: textAt(scale, 'labelSelectorPath') === '' ? undefined : pathAt('labelSelectorPath'),
  };
}

function schemaSource(
  { group, names, preservesUnknownFields }: Definition,
  version: DefinitionVersion,
  { naming, objectMeta, schemaOf }: RecordSource,
): Parameters<typeof loadResourceSchema> {
  const id = `${group}/${version.name}.${names.kind}`;
  const schema = schemaOf(version.name);
  const keeps = { [`${naming.schemaExtensionPrefix}preserve-unknown-fields`]: true };
  const whole = schema === undefined || preservesUnknownFields ? { ...schema, ...keeps } : schema;
  return [whole, { id, objectMeta, profile: naming }];
}

/** An absent value is as an empty one. */
function readerOf(path: string): FieldReader {
  const keys = path.split('.');
  return (object) => {
    const value = valueIn(object, keys);
    return value === undefined || value === null || isObject(value) || Array.isArray(value)
      ? ''
      : String(value);
  };
}
