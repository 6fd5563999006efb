// Types from schemas as schemas again: 3.0 shows what was declared, 2.0 what its clients can use.
// Of whole resources, kind, apiVersion and metadata are those of every kind, whatever was declared.
import type {
  JsonObject,
  JsonValue,
  TypeInfo,
  ValidationRule,
  ValueInfo,
  ValueSchema,
} from '../api/type-info.ts';
import { elementOf, isAtomicMap, isIntOrString, valueOf } from '../api/value-info.ts';

export interface OpenSchemaContext {
  readonly version: 'v2' | 'v3';
  /** Of the extension keywords. */
  readonly prefix: string;
  /** Properties `apiVersion` and `kind`. */
  readonly typeMeta: JsonObject;
  /** A reference to what is published by itself. */
  readonly refTo: (type: TypeInfo) => JsonObject;
}

/** The schema of objects of an open type. */
export function openTypeSchema(type: TypeInfo, context: OpenSchemaContext): JsonObject {
  const value = valueOf(type);
  // Clients of 2.0 would take the declared properties for all there are.
  const isLoose = value.schema?.preservesUnknownFields === true && context.version === 'v2';
  if (isLoose)
    return { ...(type.description && { description: type.description }), type: 'object' };
  return schemaOf(value, context, type);
}

/** Words of a schema that are shown as they are; absent ones are not there. */
const plainWords = [
  'title',
  'description',
  'externalDocs',
  'example',
  'default',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'additionalProperties',
] as const satisfies readonly (keyof ValueSchema)[];

/** `root`: the type whose own schema this is; it is not an embedded one. */
function schemaOf(value: ValueInfo, context: OpenSchemaContext, root?: TypeInfo): JsonObject {
  const { cardinality, message, schema, nullable } = value;
  if (schema === undefined) return message === undefined ? {} : context.refTo(message);
  const isV2 = context.version === 'v2';
  const isLoose = isV2 && (nullable === true || schema.preservesUnknownFields === true);
  const shown: JsonObject = {};
  for (const word of plainWords) if (schema[word] !== undefined) shown[word] = schema[word];
  const isEmbedded = cardinality === 'single' && message?.hasTypeMeta === true && message !== root;
  const structure = isLoose ? {} : structureOf(value, context);
  const type = shownType(value, structure, isLoose);
  if (type !== '') shown['type'] = type;
  if (schema.format !== '') shown['format'] = schema.format;
  if (schema.enum.length > 0) shown['enum'] = [...schema.enum];
  const named = isEmbedded && !isLoose ? ['apiVersion', 'kind'] : [];
  const required = requiredOf(value, isV2).filter((name) => !named.includes(name));
  if (named.length + required.length > 0) shown['required'] = [...named, ...required];
  Object.assign(shown, structure);
  if (nullable === true && !isV2) shown['nullable'] = true;
  if (!isV2) Object.assign(shown, junctorsOf(value, context));
  return Object.assign(shown, extensionsOf(value, context.prefix, isEmbedded));
}

function shownType(
  { schema, nullable, cardinality }: ValueInfo,
  structure: JsonObject,
  isLoose: boolean,
): string {
  const type = schema?.type ?? '';
  if (isLoose && (nullable === true || type === 'object')) return '';
  const hasItems = cardinality !== 'list' || structure['items'] !== undefined;
  return hasItems ? type : '';
}

/** Values of 2.0 that may be null have no type, and nobody can rely on them. */
function requiredOf({ schema, message }: ValueInfo, isV2: boolean): readonly string[] {
  const required = schema?.required ?? [];
  if (!isV2) return required;
  return required.filter((name) => message?.fieldByJsonName.get(name)?.nullable !== true);
}

function structureOf(value: ValueInfo, context: OpenSchemaContext): JsonObject {
  const { cardinality, message } = value;
  const structure: JsonObject = {};
  const element = elementOf(value);
  if (element !== undefined) {
    const word = cardinality === 'map' ? 'additionalProperties' : 'items';
    structure[word] = schemaOf(element, context);
  }
  if (cardinality !== 'single' || message?.open === undefined) return structure;
  const properties: JsonObject = Object.create(null) as JsonObject;
  if (message.hasTypeMeta) Object.assign(properties, context.typeMeta);
  for (const field of message.fields) properties[field.jsonName] = schemaOf(field, context);
  if (Object.keys(properties).length > 0) structure['properties'] = properties;
  return structure;
}

const integerOrText: readonly JsonObject[] = [{ type: 'integer' }, { type: 'string' }];

function junctorsOf(value: ValueInfo, context: OpenSchemaContext): JsonObject {
  const { schema } = value;
  const shown: JsonObject = {};
  for (const word of ['allOf', 'anyOf', 'oneOf'] as const) {
    const parts = schema?.[word] ?? [];
    if (parts.length > 0) shown[word] = parts.map((part) => schemaOf(part, context));
  }
  if (schema?.not !== undefined) shown['not'] = schemaOf(schema.not, context);
  if (isIntOrString(value)) shown['anyOf'] ??= [...integerOrText];
  return shown;
}

function extensionsOf(value: ValueInfo, prefix: string, isEmbedded: boolean): JsonObject {
  const { schema, cardinality, listType, listMapKeys } = value;
  const words: JsonObject = {};
  if (isIntOrString(value)) words['int-or-string'] = true;
  if (schema?.preservesUnknownFields === true) words['preserve-unknown-fields'] = true;
  if (isEmbedded) words['embedded-resource'] = true;
  if (listType !== undefined) words['list-type'] = listType;
  if (listMapKeys.length > 0) words['list-map-keys'] = [...listMapKeys];
  if (cardinality !== 'list' && isAtomicMap(value)) words['map-type'] = 'atomic';
  if (schema !== undefined && schema.rules.length > 0) {
    words['validations'] = schema.rules.map(ruleObject);
  }
  const named = Object.entries(words).map(([word, shown]) => [`${prefix}${word}`, shown]);
  return Object.fromEntries(named) as JsonObject;
}

function ruleObject(rule: ValidationRule): JsonObject {
  const written = Object.entries(rule).filter(([, member]) => member !== undefined);
  return Object.fromEntries(written as [string, JsonValue][]);
}
