// Types from schemas as schemas again: 3.0 shows what was declared, 2.0 what its clients can use.
// Of whole resources, kind, apiVersion and metadata are those of every kind, whatever was declared.
import { sameJson } from '../api/json-equal.ts';
import { newRecord } from '../api/record.ts';
import type {
  JsonObject,
  JsonValue,
  TypeInfo,
  ValidationRule,
  ValueInfo,
  ValueSchema,
} from '../api/type-info.ts';
import { elementOf, isAtomicMap, isIntOrString, valueOf } from '../api/value-info.ts';
import { limits } from '../base/limits.ts';
import type { Steps } from '../base/steps.ts';

export interface OpenSchemaContext {
  readonly version: 'v2' | 'v3';
  /** Of the extension keywords. */
  readonly prefix: string;
  /** Properties `apiVersion` and `kind`. */
  readonly typeMeta: JsonObject;
  /** A reference to what is published by itself. */
  readonly refTo: (type: TypeInfo) => JsonObject;
}

export interface WrittenSchema {
  readonly schema: JsonObject;
  /** It and schemas in it that are too large to be turned into bytes at once. */
  readonly large: ReadonlySet<JsonObject>;
}

/** One walk over a type. */
interface Walk extends OpenSchemaContext {
  nodeCount: number;
  readonly large: Set<JsonObject>;
}

/** The schema of objects of an open type; undefined: nothing can be said of its objects. */
export function* openTypeSchema(
  type: TypeInfo,
  context: OpenSchemaContext,
): Steps<WrittenSchema | undefined> {
  // Clients of 2.0 would take the declared properties for all there are.
  if (context.version === 'v2' && type.open?.unknownFields === 'keep') return undefined;
  const walk: Walk = { ...context, nodeCount: 0, large: new Set() };
  const schema = yield* schemaOf(valueOf(type), walk, type);
  return { schema, large: walk.large };
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
function* schemaOf(value: ValueInfo, walk: Walk, root?: TypeInfo): Steps<JsonObject> {
  const { cardinality, message, schema, nullable } = value;
  if (schema === undefined) return message === undefined ? {} : walk.refTo(message);
  const before = walk.nodeCount++;
  yield;
  const isV2 = walk.version === 'v2';
  // Clients of 2.0 know neither null nor unknown fields where properties or items are declared.
  const isLoose = isV2 && (nullable === true || schema.preservesUnknownFields === true);
  const shown: JsonObject = {};
  for (const word of plainWords) if (schema[word] !== undefined) shown[word] = schema[word];
  const isEmbedded = cardinality === 'single' && message?.hasTypeMeta === true && message !== root;
  const structure = yield* structureOf(value, walk, isLoose);
  const type = shownType(value, structure, isLoose);
  if (type !== '') shown['type'] = type;
  if (schema.format !== '') shown['format'] = schema.format;
  if (schema.enum.length > 0) shown['enum'] = [...schema.enum];
  const named = isEmbedded && !isLoose ? ['apiVersion', 'kind'] : [];
  const required = requiredOf(value, isV2).filter((name) => !named.includes(name));
  if (named.length + required.length > 0) shown['required'] = [...named, ...required];
  Object.assign(shown, structure);
  if (nullable === true && !isV2) shown['nullable'] = true;
  if (!isV2) Object.assign(shown, yield* junctorsOf(value, walk));
  Object.assign(shown, extensionsOf(value, walk.prefix, isEmbedded));
  if (walk.nodeCount - before > limits.openapiSchemaNodesAtOnceMax) walk.large.add(shown);
  return shown;
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
function requiredOf(value: ValueInfo, isV2: boolean): readonly string[] {
  const { schema, message, cardinality } = value;
  const required = schema?.required ?? [];
  if (!isV2) return required;
  if (cardinality === 'map') return elementOf(value)?.nullable === true ? [] : required;
  return required.filter((name) => message?.fieldByJsonName.get(name)?.nullable !== true);
}

function* structureOf(value: ValueInfo, walk: Walk, isLoose: boolean): Steps<JsonObject> {
  const { cardinality, message } = value;
  const structure: JsonObject = {};
  const element = elementOf(value);
  if (element !== undefined && cardinality === 'map') {
    structure['additionalProperties'] = yield* schemaOf(element, walk);
  } else if (element !== undefined && !isLoose) {
    structure['items'] = yield* schemaOf(element, walk);
  }
  if (cardinality !== 'single' || message?.open === undefined || isLoose) return structure;
  const properties: JsonObject = newRecord();
  if (message.hasTypeMeta) Object.assign(properties, walk.typeMeta);
  for (const field of message.fields) properties[field.jsonName] = yield* schemaOf(field, walk);
  if (message.fields.length > 0) structure['properties'] = properties;
  return structure;
}

const integerOrText: JsonValue = [{ type: 'integer' }, { type: 'string' }];

function* junctorsOf(value: ValueInfo, walk: Walk): Steps<JsonObject> {
  const { schema } = value;
  const shown: Record<string, JsonValue[]> & JsonObject = {};
  for (const word of ['allOf', 'anyOf', 'oneOf'] as const) {
    const parts: JsonValue[] = [];
    for (const part of schema?.[word] ?? []) parts.push(yield* schemaOf(part, walk));
    if (parts.length > 0) shown[word] = parts;
  }
  if (isIntOrString(value)) sayBothTypes(shown);
  if (schema?.not === undefined) return shown;
  return { ...shown, not: yield* schemaOf(schema.not, walk) };
}

/** Where a schema does not say itself that there are two types, it is said before all else. */
function sayBothTypes(shown: Record<string, JsonValue[]>): void {
  const { anyOf, allOf = [] } = shown;
  if (anyOf === undefined) {
    const isSaid = sameJson(allOf[0], { anyOf: integerOrText });
    if (!isSaid) shown['anyOf'] = [...(integerOrText as JsonValue[])];
  } else if (!sameJson(anyOf, integerOrText)) {
    if (!sameJson(allOf[0], { anyOf: integerOrText })) {
      shown['allOf'] = [{ anyOf: [...(integerOrText as JsonValue[])] }, ...allOf];
    }
  }
}

function extensionsOf(value: ValueInfo, prefix: string, isEmbedded: boolean): JsonObject {
  const { schema, cardinality, listType, listMapKeys, mapType } = value;
  const words: JsonObject = {};
  if (isIntOrString(value)) words['int-or-string'] = true;
  if (schema?.preservesUnknownFields === true) words['preserve-unknown-fields'] = true;
  if (isEmbedded) words['embedded-resource'] = true;
  if (listType !== undefined) words['list-type'] = listType;
  if (listMapKeys.length > 0) words['list-map-keys'] = [...listMapKeys];
  if (cardinality !== 'list' && isAtomicMap(value)) words['map-type'] = 'atomic';
  else if (mapType !== undefined) words['map-type'] = mapType;
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
