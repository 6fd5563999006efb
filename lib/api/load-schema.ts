// Types of custom resources, from the OpenAPI v3 schema of a definition. It reads and does not
// check: what is not as expected counts as absent.
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
export function loadResourceSchema(schema: unknown, source: SchemaSource): TypeInfo {
  const raw = isObject(schema) ? schema : {};
  const node = { raw, words: wordsOf(raw, source.id, source), place: source.id, source };
  return objectType(node, { isResource: true });
}

/** The value that any schema describes, embedded resources included. */
export function loadSchema(schema: unknown, source: SchemaSource): ValueInfo {
  return load(schema, source.id, source);
}

/** One node of a schema. */
interface SchemaNode {
  readonly raw: JsonObject;
  readonly words: ValueSchema;
  readonly place: string;
  readonly source: SchemaSource;
}

function load(schema: unknown, place: string, source: SchemaSource): ValueInfo {
  const raw = isObject(schema) ? schema : {};
  const words = wordsOf(raw, place, source);
  const node: SchemaNode = { raw, words, place, source };
  const { mapType, ...structure } = structureOf(node);
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

function structureOf(node: SchemaNode): Structure {
  const { raw, words, place, source } = node;
  if (extension(node, 'int-or-string') === true) {
    return { cardinality: 'single', message: intOrString };
  }
  const { type } = words;
  if (Object.hasOwn(scalarOfType, type)) {
    return { cardinality: 'single', scalar: scalarOfType[type] };
  }
  const { items, properties, additionalProperties } = raw;
  const elementAt = (schema: JsonValue | undefined, step: string): Partial<ValueInfo> => {
    if (!isObject(schema)) return {};
    const element = load(schema, `${place}.${step}`, source);
    return { scalar: element.scalar, message: element.message, element };
  };
  if (type === 'array') return { cardinality: 'list', ...elementAt(items, '@items') };
  if (isObject(additionalProperties) && properties === undefined) {
    const mapType = oneOf(extension(node, 'map-type'), ['atomic', 'granular']);
    return { cardinality: 'map', ...elementAt(additionalProperties, '@values'), mapType };
  }
  const isResource = extension(node, 'embedded-resource') === true;
  if (type === 'object' || properties !== undefined || isResource) {
    const { element } = elementAt(items, '@items');
    const message = objectType(node, { isResource });
    return { cardinality: 'single', message, ...(element === undefined ? {} : { element }) };
  }
  return {
    cardinality: 'single',
    ...elementAt(items, '@items'),
    scalar: undefined,
    message: undefined,
  };
}

/** Members of whole resources that are theirs whatever the schema says. */
const resourceMembers: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function objectType(node: SchemaNode, { isResource }: { readonly isResource: boolean }): TypeInfo {
  const { raw, words, place, source } = node;
  const required = new Set(words.required);
  const properties = isObject(raw['properties']) ? raw['properties'] : {};
  const declared = Object.keys(properties).map((jsonName) => {
    const value = load(properties[jsonName], `${place}.${jsonName}`, source);
    return fieldOf({ jsonName, value, required: required.has(jsonName) });
  });
  const isImplied = ({ jsonName }: FieldInfo): boolean =>
    isResource && resourceMembers.has(jsonName);
  const fields = declared.filter((field) => !isImplied(field));
  if (isResource) fields.unshift(metadataField(source));
  return {
    id: place,
    name: place.slice(place.lastIndexOf('.') + 1),
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
function wordsOf(raw: JsonObject, place: string, source: SchemaSource): ValueSchema {
  const junctor = (name: 'allOf' | 'anyOf' | 'oneOf'): readonly ValueInfo[] =>
    listOf(raw[name]).map((part, at) => load(part, `${place}.@${name}${String(at)}`, source));
  const prefix = source.profile.schemaExtensionPrefix;
  const words: Record<string, unknown> = {
    type: textOf(raw['type']) ?? '',
    format: textOf(raw['format']) ?? '',
    enum: listOf(raw['enum']),
    required: textsOf(raw['required']),
    rules: listOf(raw[`${prefix}validations`]).filter(isObject).map(ruleOf),
    allOf: junctor('allOf'),
    anyOf: junctor('anyOf'),
    oneOf: junctor('oneOf'),
  };
  for (const name in raw) {
    const value = raw[name];
    if (Object.hasOwn(readers, name) && value !== undefined && value !== null) {
      const read = readers[name]?.(value);
      if (read !== undefined) words[name] = read;
    }
  }
  if (raw[`${prefix}preserve-unknown-fields`] === true) words['preservesUnknownFields'] = true;
  if (isObject(raw['not'])) words['not'] = load(raw['not'], `${place}.@not`, source);
  // Its members are those that the readers give, which have the types of the interface.
  return words as unknown as ValueSchema;
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
