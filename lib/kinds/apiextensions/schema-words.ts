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
import type { JsonObject, ValueInfo } from '../../api/type-info.ts';
import { elementOf, memberOf } from '../../api/value-info.ts';
import type { Steps } from '../../base/steps.ts';
import { childCardinality } from '../../cel/schema/cardinality.ts';
import { shownItems } from './internal-form.ts';
import type { RuleNode } from './schema-expressions.ts';
import { validateRuleText } from './schema-rules.ts';
import type { SchemaReport } from './schema-report.ts';

export interface SchemaContext {
  readonly report: SchemaReport;
  /** Of the product's own words: `x-…-`. */
  readonly prefix: string;
  /** Judges the rules of a node whose schema is right; absent: expressions are not looked at. */
  readonly judgeRules?: ((node: RuleNode) => Steps<void>) | undefined;
}

/** Where a node is, as far as it decides what it may say. */
export interface NodePlace {
  readonly isRoot: boolean;
  readonly isInMetadata: boolean;
  /** Why there may be no defaults; absent: there may. */
  readonly withoutDefaults?: string;
  /** What the values are; undefined: nothing says it, or there are conditions around. */
  readonly value: ValueInfo | undefined;
  /** Conditions have no rules that run. */
  readonly isCondition: boolean;
  /** How often a value of the node can occur; undefined: without bound. */
  readonly times: bigint | undefined;
  /** The outermost list whose items have no older value; undefined: there is none around. */
  readonly unrelated: string | undefined;
}

export const rootPlace = (value: ValueInfo | undefined): NodePlace => ({
  ...{ isRoot: true, isInMetadata: false, isCondition: false },
  ...{ value, times: 1n, unrelated: undefined },
});

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
export function* validateNode(
  schema: JsonObject,
  path: string,
  place: NodePlace,
  context: SchemaContext,
): Steps<void> {
  const { report, prefix, judgeRules } = context;
  yield;
  if (report.isFull) return;
  const before = report.errors.list.length;
  validateSupported(schema, path, place, context);
  if (flagAt(schema, 'uniqueItems')) {
    const detail =
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    report.errors.forbidden(`${path}.uniqueItems`, detail);
  }
  yield* validateChildren(schema, path, place, context);
  validateExtensions(schema, path, context);
  validateListMap(schema, path, context);
  validateKeys(schema, path, context);
  const rules = recordsAt(schema, `${prefix}validations`);
  if (rules.length === 0) return;
  const where = `${path}.${prefix}validations`;
  for (const [at, rule] of rules.entries()) {
    validateRuleText(rule, `${where}[${String(at)}]`, place.value, report.errors);
    yield;
  }
  const isRight = report.errors.list.length === before;
  const { value, times, unrelated, isCondition } = place;
  if (!isRight || value === undefined || isCondition || judgeRules === undefined) return;
  yield* judgeRules({ rules, path: where, value, times, unrelated });
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

function* validateChildren(
  schema: JsonObject,
  path: string,
  place: NodePlace,
  context: SchemaContext,
): Steps<void> {
  const { isRoot, isInMetadata, value } = place;
  const below = { ...place, isRoot: false };
  const times = value && childCardinality(place.times, value);
  const additional = valueAt(schema, 'additionalProperties');
  const properties = entriesAt(schema, 'properties');
  if (additional !== undefined && additional !== true && properties.length > 0) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    context.report.errors.forbidden(`${path}.additionalProperties`, detail);
  }
  if (isObject(additional)) {
    const element = value?.cardinality === 'map' ? elementOf(value) : undefined;
    const withoutDefaults = 'inside additionalProperties applying to object metadata';
    const at = { ...below, value: element, times, ...(isInMetadata ? { withoutDefaults } : {}) };
    yield* validateNode(additional, `${path}.additionalProperties`, at, context);
  }
  const isResource = isRoot || flagAt(schema, `${context.prefix}embedded-resource`);
  for (const [name, property] of properties) {
    if (!isObject(property)) continue;
    const at = {
      ...below,
      value: value?.cardinality === 'single' ? memberOf(value, name) : undefined,
    };
    const isMetadata = isResource && isOneOf(name, resourceMembers);
    const inMetadata = {
      ...at,
      isInMetadata: true,
      ...(isRoot ? { withoutDefaults: `in top-level ${name}` } : {}),
    };
    const childPlace = isMetadata ? inMetadata : at;
    yield* validateNode(property, `${path}.properties[${name}]`, childPlace, context);
  }
  yield* validateConditions(schema, path, { ...below, isCondition: true }, context);
  const unrelated = place.unrelated ?? (value?.listType === 'map' ? undefined : path);
  const inList = { ...below, value: value && elementOf(value), times, unrelated };
  for (const [step, part] of partsOf(schema, 'items')) {
    yield* validateNode(part, `${path}.${step}`, inList, context);
  }
}

/** Schemas that say something of the same value, and those that are not supported. */
function* validateConditions(
  schema: JsonObject,
  path: string,
  place: NodePlace,
  context: SchemaContext,
): Steps<void> {
  const { not, allOf = [], oneOf = [], anyOf = [] } = place.value?.schema ?? {};
  const values: Readonly<Record<string, readonly (ValueInfo | undefined)[]>> = {
    ...{ not: [not], allOf, oneOf, anyOf },
  };
  for (const word of ['not', 'allOf', 'oneOf', 'anyOf']) {
    for (const [at, [step, part]] of partsOf(schema, word).entries()) {
      const inCondition = { ...place, value: values[word]?.[at] };
      yield* validateNode(part, `${path}.${step}`, inCondition, context);
    }
  }
  for (const word of ['definitions', 'dependencies']) {
    for (const [name, part] of entriesAt(schema, word)) {
      if (!isObject(part)) continue;
      const at = { ...place, value: undefined };
      yield* validateNode(part, `${path}.${word}[${name}]`, at, context);
    }
  }
}

/** The schema of a word, or those of its list. */
const partsOf = (
  schema: JsonObject,
  word: string,
): readonly (readonly [step: string, part: JsonObject])[] => {
  const value = valueAt(schema, word);
  if (isObject(value)) return [[word, value]];
  return listAt(schema, word).map(
    (part, at) => [`${word}[${String(at)}]`, isObject(part) ? part : {}] as const,
  );
};

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
    errors.invalid(`${path}.items`, shownItems(valueAt(schema, 'items'), context.prefix), detail);
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
  const seen = new Set<string>();
  for (const key of keys) {
    if (context.report.isFull) return;
    const property = recordAt(recordAt(items, 'properties'), key);
    const type = textAt(property, 'type');
    if (property === undefined) {
      errors.invalid(keysPath, keys, 'entries must all be names of item properties');
    } else if (type === 'array' || type === 'object') {
      const detail = `must be a scalar type if parent array's ${context.prefix}list-type is map`;
      errors.invalid(`${path}.items.properties[${key}].type`, textAt(items, 'type'), detail);
    }
    if (seen.has(key)) errors.invalid(keysPath, keys, 'must not contain duplicate entries');
    seen.add(key);
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
    if (context.report.isFull) return;
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
