// What every node of a schema may say, whether or not the whole is structural: words that are not
// supported, how lists and maps are merged, and the form of rules.
import {
  entriesAt,
  flagAt,
  isSet,
  listAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
} from '../../api/json-access.ts';
import { isObject } from '../../api/json-value.ts';
import { isZero } from '../../api/presence.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { validateRuleTexts } from './schema-rules.ts';
import type { SchemaReport } from './schema-report.ts';

export interface SchemaContext {
  readonly report: SchemaReport;
  /** Of the product's own words: `x-…-`. */
  readonly prefix: string;
}

/** Where a node is, as far as it decides what it may say. */
export interface NodePlace {
  readonly isRoot: boolean;
  readonly isInMetadata: boolean;
  /** Why there may be no defaults; absent: there may. */
  readonly withoutDefaults?: string;
}

export const rootPlace: NodePlace = { isRoot: true, isInMetadata: false };

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** Words that no schema may hold, and whether an empty one is as good as none. */
const unsupported = [
  ['id', true],
  ['additionalItems', false],
  ['patternProperties', true],
  ['definitions', true],
  ['dependencies', false],
  ['$ref', false],
] as const;

/** Members of whole resources that are theirs whatever the schema says. */
const resourceMembers = ['metadata', 'kind', 'apiVersion'];

const isOneOf = (value: string, values: readonly string[]): boolean => values.includes(value);

/** Words of how a value is merged, the type that they are for, and their values. */
const mergeWords = [
  ['map-type', 'object', ['atomic', 'granular']],
  ['list-type', 'array', ['atomic', 'set', 'map']],
] as const;

/** Validates a node and those below it. */
export function validateNode(
  schema: JsonObject,
  path: string,
  place: NodePlace,
  context: SchemaContext,
): void {
  validateSupported(schema, path, place, context);
  if (flagAt(schema, 'uniqueItems')) {
    const detail =
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    context.report.errors.forbidden(`${path}.uniqueItems`, detail);
  }
  validateChildren(schema, path, { ...place, isRoot: false }, place.isRoot, context);
  validateExtensions(schema, path, context);
  validateListMap(schema, path, context);
  validateKeys(schema, path, context);
  const rules = recordsAt(schema, `${context.prefix}validations`);
  validateRuleTexts(rules, `${path}.${context.prefix}validations`, context.report.errors);
}

function validateSupported(
  schema: JsonObject,
  path: string,
  place: NodePlace,
  context: SchemaContext,
): void {
  const { errors } = context.report;
  const type = textAt(schema, 'type');
  if (type !== '' && !types.includes(type)) {
    context.report.of('types').notSupported(`${path}.type`, type, types);
  }
  if (place.withoutDefaults !== undefined && isSet(schema, 'default')) {
    errors.forbidden(`${path}.default`, `must not be set ${place.withoutDefaults}`);
  }
  for (const [word, mayBeEmpty] of unsupported) {
    if (!isSet(schema, word) || (mayBeEmpty && isZero(valueAt(schema, word)))) continue;
    errors.forbidden(`${path}.${word}`, `${word} is not supported`);
  }
  if (type === 'null') {
    const detail = 'type cannot be set to null, use nullable as an alternative';
    errors.forbidden(`${path}.type`, detail);
  }
  if (listAt(schema, 'items').length > 0) {
    errors.forbidden(`${path}.items`, 'items must be a schema object and not an array');
  }
  const embedded = `${context.prefix}embedded-resource`;
  if (place.isInMetadata && flagAt(schema, embedded)) {
    errors.forbidden(`${path}.${embedded}`, 'must not be used inside of resource meta');
  }
}

function validateChildren(
  schema: JsonObject,
  path: string,
  place: NodePlace,
  isRoot: boolean,
  context: SchemaContext,
): void {
  const child = (value: JsonValue | undefined, step: string, at: NodePlace = place): void => {
    if (isObject(value)) validateNode(value, `${path}.${step}`, at, context);
  };
  const additional = valueAt(schema, 'additionalProperties');
  const properties = entriesAt(schema, 'properties');
  if (additional !== undefined && additional !== true && properties.length > 0) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    context.report.errors.forbidden(`${path}.additionalProperties`, detail);
  }
  const withoutDefaults = 'inside additionalProperties applying to object metadata';
  child(
    additional,
    'additionalProperties',
    place.isInMetadata ? { ...place, withoutDefaults } : place,
  );
  const isResource = isRoot || flagAt(schema, `${context.prefix}embedded-resource`);
  for (const [name, property] of properties) {
    const isMetadata = isResource && resourceMembers.includes(name);
    const at = {
      ...place,
      isInMetadata: true,
      ...(isRoot ? { withoutDefaults: `in top-level ${name}` } : {}),
    };
    child(property, `properties[${name}]`, isMetadata ? at : place);
  }
  child(valueAt(schema, 'not'), 'not');
  for (const junctor of ['allOf', 'oneOf', 'anyOf']) {
    for (const [at, part] of listAt(schema, junctor).entries())
      child(part, `${junctor}[${String(at)}]`);
  }
  for (const word of ['definitions', 'dependencies']) {
    for (const [name, part] of entriesAt(schema, word)) child(part, `${word}[${name}]`);
  }
  child(valueAt(schema, 'items'), 'items');
  for (const [at, part] of listAt(schema, 'items').entries()) child(part, `items[${String(at)}]`);
}

function validateExtensions(schema: JsonObject, path: string, context: SchemaContext): void {
  const { errors } = context.report;
  const preserves = `${context.prefix}preserve-unknown-fields`;
  if (valueAt(schema, preserves) === false) {
    errors.invalid(`${path}.${preserves}`, false, 'must be true or undefined');
  }
  for (const [word, type, values] of mergeWords) {
    const name = context.prefix + word;
    if (!isSet(schema, name)) continue;
    const given = textAt(schema, 'type');
    const detail = `must be ${type} if ${name} is specified`;
    if (given === '') errors.required(`${path}.type`, detail);
    else if (given !== type) errors.invalid(`${path}.type`, given, detail);
    else if (word === 'list-type') validateSetItems(schema, path, context);
    const value = textAt(schema, name);
    if (!isOneOf(value, values)) errors.notListed(`${path}.${name}`, value, values);
  }
}

/** What is in a set is replaced as a whole. */
function validateSetItems(schema: JsonObject, path: string, context: SchemaContext): void {
  const items = recordAt(schema, 'items');
  const listType = `${context.prefix}list-type`;
  if (items === undefined || textAt(schema, listType) !== 'set') return;
  const mapType = `${context.prefix}map-type`;
  const type = textAt(items, 'type');
  const isWrong =
    (type === 'array' && isSet(items, listType) && textAt(items, listType) !== 'atomic') ||
    (type === 'object' && textAt(items, mapType) !== 'atomic');
  if (!isWrong) return;
  const word = type === 'array' ? listType : mapType;
  const detail = `must be atomic as item of a list with ${listType}=set`;
  const shown = valueAt(items, listType) ?? null;
  context.report.of('atomicItems').invalid(`${path}.items.${word}`, shown, detail);
}

/** Lists whose items are told apart by keys. */
function validateListMap(schema: JsonObject, path: string, context: SchemaContext): void {
  const { errors } = context.report;
  const listType = `${context.prefix}list-type`;
  const keysName = `${context.prefix}list-map-keys`;
  const keys = textsAt(schema, keysName);
  const isMap = textAt(schema, listType) === 'map';
  if (keys.length > 0 && !isMap) {
    const detail = `must be map if ${keysName} is non-empty`;
    if (!isSet(schema, listType)) errors.required(`${path}.${listType}`, detail);
    else errors.invalid(`${path}.${listType}`, textAt(schema, listType), detail);
  }
  if (!isMap) return;
  if (keys.length === 0) {
    errors.required(`${path}.${keysName}`, `must not be empty if ${listType} is map`);
  }
  const items = recordAt(schema, 'items');
  if (!isSet(schema, 'items')) {
    errors.required(`${path}.items`, `must have a schema if ${listType} is map`);
  } else if (items === undefined) {
    const detail = `must only have a single schema if ${listType} is map`;
    errors.invalid(`${path}.items`, valueAt(schema, 'items'), detail);
  } else if (textAt(items, 'type') !== 'object') {
    const detail = `must be object if parent array's ${listType} is map`;
    errors.invalid(`${path}.items.type`, textAt(items, 'type'), detail);
  } else validateKeyNames(items, keys, path, context);
}

function validateKeyNames(
  items: JsonObject,
  keys: readonly string[],
  path: string,
  context: SchemaContext,
): void {
  const { errors } = context.report;
  const keysPath = `${path}.${context.prefix}list-map-keys`;
  for (const [at, key] of keys.entries()) {
    const property = recordAt(recordAt(items, 'properties'), key);
    const type = textAt(property, 'type');
    if (property === undefined) {
      errors.invalid(keysPath, keys, 'entries must all be names of item properties');
    } else if (type === 'array' || type === 'object') {
      const detail = `must be a scalar type if parent array's ${context.prefix}list-type is map`;
      errors.invalid(`${path}.items.properties[${key}].type`, textAt(items, 'type'), detail);
    }
    if (keys.indexOf(key) < at) {
      errors.invalid(keysPath, keys, 'must not contain duplicate entries');
    }
  }
}

/** Items of sets and maps are there, and so are their keys. */
function validateKeys(schema: JsonObject, path: string, context: SchemaContext): void {
  const items = recordAt(schema, 'items');
  const listType = textAt(schema, `${context.prefix}list-type`);
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return;
  if (flagAt(items, 'nullable')) {
    const detail = `cannot be nullable when ${context.prefix}list-type is ${listType}`;
    context.report.of('keyedItems').forbidden(`${path}.items.nullable`, detail);
  }
  if (listType !== 'map') return;
  const required = new Set(textsAt(items, 'required'));
  const keysName = `${context.prefix}list-map-keys`;
  for (const key of textsAt(schema, keysName)) {
    const property = recordAt(recordAt(items, 'properties'), key);
    if (property === undefined) continue;
    const where = `${path}.items.properties[${key}]`;
    const reason = `this property is in ${keysName}, so it`;
    if (!required.has(key) && !isSet(property, 'default')) {
      const detail = `${reason} must have a default or be a required property`;
      context.report.of('keyedItems').required(`${where}.default`, detail);
    }
    if (flagAt(property, 'nullable')) {
      context.report
        .of('keyedItems')
        .forbidden(`${where}.nullable`, `${reason} cannot be nullable`);
    }
  }
}
