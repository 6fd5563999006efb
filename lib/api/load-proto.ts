// Reads the .proto files, the source of every built-in type, into TypeInfo at start (0.1 s).
// An unknown option or type throws an Error that names file, message and field.
// Options are camelCase as in options.proto: `values`, `rule`, `member`, `defaultValue`, …
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { commentText, inheritDescriptions } from './descriptions.ts';
import { createOptionChecker } from './proto-options.ts';
import type { OptionChecker, Options } from './proto-options.ts';
import type {
  FieldInfo,
  JsonObject,
  JsonValue,
  ScalarType,
  SpecialForm,
  TypeInfo,
} from './type-info.ts';
import type { NamingProfile } from './vendor.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type MutableType = Mutable<Omit<TypeInfo, 'fields'>> & { fields: readonly MutableField[] };
type MutableField = Mutable<FieldInfo>;

/** Values of a string type: `core/v1.Protocol`. Closed: listed in OpenAPI as an enum. */
export interface EnumSet {
  readonly id: string;
  readonly base: string;
  readonly closed: boolean;
  readonly values: readonly string[];
  readonly deprecated: readonly string[];
  readonly rules: readonly string[];
}

/**
 * One file: a group version, or a package of shared types (then group and version are
 * undefined).
 */
export interface PackageInfo {
  /** `core/v1`, `runtime`. */
  readonly id: string;
  readonly group: string | undefined;
  readonly version: string | undefined;
  /**
   * Package name in Protobuf type names and OpenAPI definitions: `….api.core.v1`, with the
   * profile's domain first.
   */
  readonly protoPackage: string;
  readonly served: boolean;
  readonly enabledByDefault: boolean;
  /** undefined: not given; such a group is listed right after the core group. */
  readonly groupPriority: number | undefined;
  readonly versionPriority: number | undefined;
  readonly types: readonly TypeInfo[];
}

export interface LoadedTypes {
  readonly packages: ReadonlyMap<string, PackageInfo>;
  /** By id: `core/v1.Pod`. */
  readonly types: ReadonlyMap<string, TypeInfo>;
  readonly enums: ReadonlyMap<string, EnumSet>;
  /**
   * Named non-message types: `core/v1.ResourceList` → `map<core/v1.ResourceName,
   * quantity.Quantity>`.
   */
  readonly aliases: ReadonlyMap<string, string>;
}

const scalars: ReadonlySet<string> = new Set<ScalarType>([
  'string',
  'int32',
  'int64',
  'bool',
  'double',
  'bytes',
]);
const protoFolder = join(import.meta.dirname, 'proto');

const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? (value as string[]) : [];
const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
const flag = (value: unknown): boolean => value === true;

interface Loading {
  readonly checker: OptionChecker;
  readonly resolve: (text: string) => string;
  readonly types: Map<string, MutableType>;
  readonly enums: Map<string, EnumSet>;
  readonly aliases: Map<string, string>;
  readonly packages: Map<string, PackageInfo>;
  /** Fields whose message type is known by name only, until every file is read. */
  readonly unresolved: {
    field: MutableField;
    packageId: string;
    typeName: string;
    where: string;
  }[];
}

/** Loads every file below the `proto` folder; `folder` is another one in tests. */
export function loadProto(profile: NamingProfile, folder: string = protoFolder): LoadedTypes {
  const vocabulary = readFileSync(join(folder, 'options.proto'), 'utf8');
  const resolve = (value: string): string => profile.resolve(value);
  const loading: Loading = {
    checker: createOptionChecker(vocabulary, resolve),
    resolve,
    types: new Map(),
    enums: new Map(),
    aliases: new Map(),
    packages: new Map(),
    unresolved: [],
  };
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.proto')).sort()) {
    if (file !== 'options.proto') loadFile(loading, file, readFileSync(join(folder, file), 'utf8'));
  }
  resolveTypes(loading);
  for (const type of loading.types.values()) {
    for (const field of type.fields) {
      field.zero = zeroOf(field);
      field.enumValues = enumValuesOf(loading, field, type);
    }
  }
  for (const type of loading.types.values()) type.fieldByJsonName = fieldsByJsonName(type);
  inheritDescriptions(loading.types);
  return loading;
}

function loadFile(loading: Loading, file: string, source: string): void {
  const root = new protobuf.Root();
  const parsed = protobuf.parse(source, root, { keepCase: true, alternateCommentMode: true });
  const id = file.replace(/\.proto$/, '').replaceAll('\\', '/');
  if (parsed.package !== id.replaceAll('/', '.')) {
    throw new Error(`${file}: package must be ${id.replaceAll('/', '.')}`);
  }
  const namespace = root.lookup(parsed.package);
  if (!(namespace instanceof protobuf.Namespace)) throw new Error(`${file}: no package`);
  const options = loading.checker.check('File', optionsOf(namespace), file);
  const types: TypeInfo[] = [];
  for (const message of namespace.nestedArray) {
    if (!(message instanceof protobuf.Type))
      throw new Error(`${file}: ${message.name} is no message`);
    const type = loadMessage(loading, id, message, `${file}: ${message.name}`);
    loading.types.set(type.id, type);
    types.push(type);
  }
  for (const set of listOf(options['enumSet'])) addEnum(loading, id, set);
  for (const alias of listOf(options['aliasType'])) {
    loading.aliases.set(`${id}.${String(alias['name'])}`, String(alias['of']));
  }
  loading.packages.set(id, packageInfo(id, (options['groupVersion'] ?? {}) as Options, types));
}

const listOf = (value: unknown): readonly Options[] =>
  Array.isArray(value) ? (value as Options[]) : [];
const optionsOf = (of: protobuf.ReflectionObject): readonly Options[] | null =>
  // Missing in the library's typings of this class.
  (of as { parsedOptions?: Options[] | null }).parsedOptions ?? null;

function packageInfo(id: string, of: Options, types: readonly TypeInfo[]): PackageInfo {
  return {
    id,
    group: text(of['group']),
    version: text(of['version']),
    protoPackage: text(of['protoPackage']) ?? '',
    served: flag(of['served']),
    enabledByDefault: flag(of['enabled']),
    groupPriority: of['groupPriority'] as number | undefined,
    versionPriority: of['versionPriority'] as number | undefined,
    types,
  };
}

function addEnum(loading: Loading, packageId: string, of: Options): void {
  const id = `${packageId}.${String(of['name'])}`;
  loading.enums.set(id, {
    id,
    base: text(of['base']) ?? 'string',
    closed: flag(of['closed']),
    values: strings(of['values']),
    deprecated: strings(of['deprecated']),
    rules: strings(of['rule']),
  });
}

function loadMessage(
  loading: Loading,
  packageId: string,
  message: protobuf.Type,
  where: string,
): MutableType {
  const options = loading.checker.check('Message', optionsOf(message), where);
  const isJsonOnly = flag(options['jsonOnly']);
  const fields = message.fieldsArray.map((field) => {
    const at = `${where}.${field.name}`;
    const checked = loading.checker.check('Field', fieldOptions(field), at);
    const info = { ...fieldInfo(field, checked, isJsonOnly), ...described(loading, field) };
    if (info.scalar === undefined)
      loading.unresolved.push({ field: info, packageId, typeName: field.type, where: at });
    return info;
  });
  return {
    id: `${packageId}.${message.name}`,
    name: message.name,
    ...described(loading, message),
    hasTypeMeta: flag(options['typeMeta']),
    special: options['special'] as SpecialForm | undefined,
    isNamedList: flag(options['namedList']),
    fields,
    fieldByJsonName: new Map(),
    options,
  };
}

function described(
  { resolve }: Loading,
  of: protobuf.ReflectionObject,
): { readonly description?: string } {
  const text = commentText(of.comment);
  return text === undefined ? {} : { description: resolve(text) };
}

// The parser notes `optional` as an option of its own; it is no option of the file.
const fieldOptions = (field: protobuf.Field): readonly Options[] | null =>
  optionsOf(field)?.filter((option) => !Object.hasOwn(option, 'proto3_optional')) ?? null;

function fieldInfo(field: protobuf.Field, options: Options, isJsonOnly: boolean): MutableField {
  const required = flag(options['required']);
  const isInline = flag(options['inline']);
  return {
    jsonName: isInline ? '' : (text(options['jsonName']) ?? field.name),
    protoName: field.name,
    number: isJsonOnly ? 0 : field.id,
    cardinality: field.map ? 'map' : field.repeated ? 'list' : 'single',
    scalar: scalars.has(field.type) ? (field.type as ScalarType) : undefined,
    message: undefined,
    pointer: field.options?.['proto3_optional'] === true,
    required,
    omit: (options['omit'] as FieldInfo['omit'] | undefined) ?? (required ? 'never' : 'empty'),
    zero: undefined,
    enumValues: undefined,
    listType: options['list'] as FieldInfo['listType'],
    listMapKeys: strings(options['keys']),
    mapType: options['map'] as FieldInfo['mapType'],
    patchStrategies: strings(options['patch']) as FieldInfo['patchStrategies'],
    patchMergeKey: text(options['mergeKey']),
    gates: strings(options['gate']),
    options,
  };
}

function resolveTypes({ unresolved, types }: Loading): void {
  for (const { field, packageId, typeName, where } of unresolved) {
    const dot = typeName.lastIndexOf('.');
    const owner = dot < 0 ? packageId : typeName.slice(0, dot).replaceAll('.', '/');
    const message = types.get(`${owner}.${typeName.slice(dot + 1)}`);
    if (message === undefined) throw new Error(`${where}: unknown type ${typeName}`);
    field.message = message;
  }
}

const scalarZero: Readonly<Record<ScalarType, JsonValue>> = {
  string: '',
  int32: 0,
  int64: 0,
  double: 0,
  bool: false,
  bytes: null,
};
const specialZero: Readonly<Partial<Record<SpecialForm, JsonValue>>> = {
  intOrString: 0,
  quantity: '0',
  duration: '0s',
};

/** What JSON holds for an unset field. Messages without a pointer are written even when empty. */
function zeroOf(field: FieldInfo): JsonValue | undefined {
  if (field.jsonName === '' || field.jsonName === '-') return undefined;
  const isAlways = field.omit === 'never';
  if (field.cardinality !== 'single' || field.pointer) return isAlways ? null : undefined;
  if (field.scalar !== undefined) return isAlways ? scalarZero[field.scalar] : undefined;
  const { message } = field;
  if (message === undefined || field.omit === 'zero' || field.omit === 'emptyOrZero')
    return undefined;
  if (message.isNamedList) return isAlways ? null : undefined;
  if (message.special !== undefined) return specialZero[message.special] ?? null;
  return zeroObject(message);
}

function zeroObject(type: TypeInfo): JsonObject {
  const object: JsonObject = {};
  for (const field of type.fields) {
    if (field.jsonName === '' && field.message !== undefined) {
      Object.assign(object, zeroObject(field.message));
      continue;
    }
    const zero = zeroOf(field);
    if (zero !== undefined) object[field.jsonName] = zero;
  }
  return object;
}

function enumValuesOf(
  { enums }: Loading,
  field: FieldInfo,
  type: TypeInfo,
): readonly string[] | undefined {
  const written = text(field.options['values']);
  if (written === undefined) return undefined;
  const id = written.includes('.')
    ? written
    : `${type.id.slice(0, type.id.lastIndexOf('.'))}.${written}`;
  const set = enums.get(id);
  if (set === undefined)
    throw new Error(`${type.id}.${field.jsonName}: unknown value set ${written}`);
  return set.values;
}

function fieldsByJsonName(type: TypeInfo): ReadonlyMap<string, FieldInfo> {
  const fields = new Map<string, FieldInfo>();
  for (const field of type.fields) {
    if (field.jsonName === '') {
      for (const [name, inner] of field.message === undefined
        ? []
        : fieldsByJsonName(field.message)) {
        fields.set(name, inner);
      }
    } else if (field.jsonName !== '-') fields.set(field.jsonName, field);
  }
  return fields;
}
