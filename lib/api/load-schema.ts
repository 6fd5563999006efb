// Types of custom resources, from the OpenAPI v3 schema of a definition. It reads and does not
// check: what is not as expected counts as absent. Reading takes a step a node.
import { atOnce } from '../base/steps.ts';
import type { Steps } from '../base/steps.ts';
import { isObject } from './json-value.ts';
import type {
  FieldInfo,
  JsonObject,
  JsonValue,
  ScalarType,
  TypeInfo,
  ValidationRule,
  ValueInfo,
  ValueSchema,
} from './type-info.ts';
import { valueOf } from './value-info.ts';
import type { NamingProfile } from './vendor.ts';

export interface SchemaSource {
  /** Id of the type; those of objects within are it and their place: `example.com/v1.Widget`. */
  readonly id: string;
  /** Metadata of whole resources. */
  readonly objectMeta: TypeInfo;
  readonly profile: Pick<NamingProfile, 'schemaExtensionPrefix'>;
}

/** The type of a whole resource: it has kind, apiVersion and metadata whatever `schema` says. */
export const loadResourceSchema = (schema: unknown, source: SchemaSource): TypeInfo =>
  atOnce(resourceSchemaSteps(schema, source));

/** `loadResourceSchema`, for schemas of any size. */
export function* resourceSchemaSteps(schema: unknown, source: SchemaSource): Steps<TypeInfo> {
  const raw = isObject(schema) ? schema : {};
  const { id } = source;
  const name = id.slice(id.lastIndexOf('.') + 1);
  const words = yield* wordsOf(raw, id, source);
  return yield* objectType({ raw, words, place: id, name, source }, { isResource: true });
}

/** The value that any schema describes, embedded resources included. */
export const loadSchema = (schema: unknown, source: SchemaSource): ValueInfo =>
  atOnce(load(schema, { place: source.id, name: source.id }, source));

/** One node of a schema. */
interface SchemaNode extends NodePlace {
  readonly raw: JsonObject;
  readonly words: ValueSchema;
  readonly source: SchemaSource;
}

interface NodePlace {
  readonly place: string;
  /** The last step of the place. */
  readonly name: string;
}

/** The value of one node; others wait for it where they ask. */
function* load(schema: unknown, at: NodePlace, source: SchemaSource): Steps<ValueInfo> {
  yield;
  const raw = isObject(schema) ? schema : {};
  const words = yield* wordsOf(raw, at.place, source);
  const node: SchemaNode = { raw, words, ...at, source };
  const { mapType, ...structure } = yield* structureOf(node);
  return {
    scalar: undefined,
    message: undefined,
    ...structure,
    listType: oneOf(extension(node, 'list-type'), ['atomic', 'set', 'map']),
    listMapKeys: textsOf(extension(node, 'list-map-keys')),
    mapType,
    nullable: raw['nullable'] === true,
    schema: words,
  };
}

type Structure = Pick<ValueInfo, 'cardinality'> & Partial<ValueInfo>;

const scalarOfType: Readonly<Record<string, ScalarType>> = {
  string: 'string',
  integer: 'int64',
  number: 'double',
  boolean: 'bool',
};

const intOrString: TypeInfo = {
  id: 'IntOrString',
  name: 'IntOrString',
  hasTypeMeta: false,
  special: 'intOrString',
  isNamedList: false,
  fields: [],
  fieldByJsonName: new Map(),
  options: {},
};

function* structureOf(node: SchemaNode): Steps<Structure> {
  const { raw, words } = node;
  if (extension(node, 'int-or-string') === true) {
    return { cardinality: 'single', message: intOrString };
  }
  const { type } = words;
  if (Object.hasOwn(scalarOfType, type)) {
    return { cardinality: 'single', scalar: scalarOfType[type] };
  }
  const { items, properties, additionalProperties } = raw;
  if (type === 'array')
    return { cardinality: 'list', ...(yield* elementAt(node, items, '@items')) };
  if (isObject(additionalProperties) && properties === undefined) {
    const mapType = oneOf(extension(node, 'map-type'), ['atomic', 'granular']);
    const elements = yield* elementAt(node, additionalProperties, '@values');
    return { cardinality: 'map', ...elements, mapType };
  }
  const isResource = extension(node, 'embedded-resource') === true;
  if (type === 'object' || properties !== undefined || isResource) {
    const { element } = yield* elementAt(node, items, '@items');
    const message = yield* objectType(node, { isResource });
    return { cardinality: 'single', message, ...(element === undefined ? {} : { element }) };
  }
  return {
    cardinality: 'single',
    ...(yield* elementAt(node, items, '@items')),
    scalar: undefined,
    message: undefined,
  };
}

function* elementAt(
  { place, source }: SchemaNode,
  schema: JsonValue | undefined,
  name: string,
): Steps<Partial<ValueInfo>> {
  if (!isObject(schema)) return {};
  const element = yield* load(schema, { place: `${place}.${name}`, name }, source);
  return { scalar: element.scalar, message: element.message, element };
}

/** Members of whole resources that are theirs whatever the schema says. */
const resourceMembers: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function* objectType(
  node: SchemaNode,
  { isResource }: { readonly isResource: boolean },
): Steps<TypeInfo> {
  const { raw, words, place, name, source } = node;
  const required = new Set(words.required);
  const properties = isObject(raw['properties']) ? raw['properties'] : {};
  const declared: FieldInfo[] = [];
  for (const jsonName of Object.keys(properties)) {
    const at = { place: `${place}.${jsonName}`, name: jsonName };
    const value = yield* load(properties[jsonName], at, source);
    declared.push(fieldOf({ jsonName, value, required: required.has(jsonName) }));
  }
  const isImplied = ({ jsonName }: FieldInfo): boolean =>
    isResource && resourceMembers.has(jsonName);
  const fields = declared.filter((field) => !isImplied(field));
  if (isResource) fields.unshift(metadataField(source));
  return {
    id: place,
    name,
    ...(words.description === undefined ? {} : { description: words.description }),
    hasTypeMeta: isResource,
    special: undefined,
    isNamedList: false,
    fields,
    fieldByJsonName: byName(fields),
    options: extension(node, 'map-type') === 'atomic' ? { structure: 'atomic' } : {},
    open: {
      unknownFields: keepsUnknownFields(node) ? 'keep' : 'drop',
      schema: words,
      ...(isResource ? { typeMeta: byName(declared.filter(isImplied)) } : {}),
    },
  };
}

const byName = (fields: readonly FieldInfo[]): ReadonlyMap<string, FieldInfo> =>
  new Map(fields.map((field) => [field.jsonName, field]));

const metadataField = ({ objectMeta }: SchemaSource): FieldInfo =>
  fieldOf({ jsonName: 'metadata', value: valueOf(objectMeta), required: false });

/** Without a type nothing says which fields there are. */
const keepsUnknownFields = ({ words }: SchemaNode): boolean =>
  words.preservesUnknownFields === true || words.additionalProperties === true || words.type === '';

function fieldOf(named: {
  readonly jsonName: string;
  readonly value: ValueInfo;
  readonly required: boolean;
}): FieldInfo {
  const { jsonName, value, required } = named;
  const { schema } = value;
  return {
    ...value,
    ...(schema?.description === undefined ? {} : { description: schema.description }),
    jsonName,
    protoName: jsonName,
    number: 0,
    pointer: true,
    required,
    omit: 'never',
    zero: undefined,
    enumValues: undefined,
    patchStrategies: [],
    patchMergeKey: undefined,
    gates: [],
    options: {},
  };
}

/** What a schema says beside its structure. Schemas are many: absent words take no room. */
function* wordsOf(raw: JsonObject, place: string, source: SchemaSource): Steps<ValueSchema> {
  const prefix = source.profile.schemaExtensionPrefix;
  const words: Record<string, unknown> = {
    type: textOf(raw['type']) ?? '',
    format: textOf(raw['format']) ?? '',
    enum: listOf(raw['enum']),
    required: textsOf(raw['required']),
    rules: listOf(raw[`${prefix}validations`]).filter(isObject).map(ruleOf),
    allOf: none,
    anyOf: none,
    oneOf: none,
  };
  for (const name in raw) {
    const value = raw[name];
    if (Object.hasOwn(readers, name) && value !== undefined && value !== null) {
      const read = readers[name]?.(value);
      if (read !== undefined) words[name] = read;
    }
  }
  if (raw[`${prefix}preserve-unknown-fields`] === true) words['preservesUnknownFields'] = true;
  for (const junctor of ['allOf', 'anyOf', 'oneOf']) {
    if (Array.isArray(raw[junctor]))
      words[junctor] = yield* branchesOf(raw[junctor], `${place}.@${junctor}`, source);
  }
  if (isObject(raw['not'])) {
    words['not'] = yield* load(raw['not'], { place: `${place}.@not`, name: '@not' }, source);
  }
  // Its members are those that the readers give, which have the types of the interface.
  return words as unknown as ValueSchema;
}

function* branchesOf(
  branches: readonly JsonValue[],
  place: string,
  source: SchemaSource,
): Steps<readonly ValueInfo[]> {
  const values: ValueInfo[] = [];
  for (const [at, branch] of branches.entries()) {
    const name = String(at);
    values.push(yield* load(branch, { place: `${place}${name}`, name }, source));
  }
  return values;
}

type Read = (value: JsonValue) => JsonValue | undefined;

const textOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
const numberOf: Read = (value) =>
  typeof value === 'number' || typeof value === 'bigint' ? value : undefined;
const countOf: Read = (value) =>
  typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
const flagOf: Read = (value) => (value === true ? true : undefined);
const anyOf: Read = (value) => value;
const none: readonly never[] = [];
const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? value : none;
const textsOf = (value: JsonValue | undefined): readonly string[] =>
  listOf(value).filter((item) => typeof item === 'string');

/** Members of a schema that say one thing each. */
const readers: Readonly<Record<string, Read>> = {
  title: (value) => textOf(value),
  description: (value) => textOf(value),
  externalDocs: anyOf,
  example: anyOf,
  default: anyOf,
  pattern: (value) => textOf(value),
  minLength: countOf,
  maxLength: countOf,
  minimum: numberOf,
  exclusiveMinimum: flagOf,
  maximum: numberOf,
  exclusiveMaximum: flagOf,
  multipleOf: numberOf,
  minItems: countOf,
  maxItems: countOf,
  minProperties: countOf,
  maxProperties: countOf,
  additionalProperties: (value) => (typeof value === 'boolean' ? value : undefined),
};

const extension = ({ raw, source }: SchemaNode, name: string): JsonValue | undefined =>
  raw[source.profile.schemaExtensionPrefix + name];

const oneOf = <T extends string>(
  value: JsonValue | undefined,
  known: readonly T[],
): T | undefined => known.find((one) => one === value);

function ruleOf(raw: JsonObject): ValidationRule {
  const { rule, message, messageExpression, reason, fieldPath, optionalOldSelf } = raw;
  return {
    rule: textOf(rule) ?? '',
    message: textOf(message),
    messageExpression: textOf(messageExpression),
    reason: textOf(reason),
    fieldPath: textOf(fieldPath),
    optionalOldSelf: typeof optionalOldSelf === 'boolean' ? optionalOldSelf : undefined,
  };
}
