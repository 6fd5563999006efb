// What schemas do to values, written as plainly as can be from their words: the other side of a
// comparison. Nothing is compiled, nothing is shared with the product but the tables of formats.
import { schemaFormats } from '../../api/schema-formats.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';

type Value = JsonValue | undefined;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber = (value: Value): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';
const own = (object: Value, name: string): Value =>
  isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
const word = (schema: JsonObject, name: string): Value => own(schema, `x-kubernetes-${name}`);
const listOf = (value: Value): readonly JsonValue[] => (Array.isArray(value) ? value : []);
const textsOf = (value: Value): readonly string[] =>
  listOf(value).filter((one) => typeof one === 'string');
const schemasOf = (value: Value): readonly JsonObject[] => listOf(value).filter(isObject);

/** A text that is the same for equal values. */
export function sameText(value: Value): string {
  if (value === undefined) return '-';
  if (isNumber(value)) {
    const isWhole = typeof value === 'bigint' || Number.isInteger(value);
    return String(isWhole ? BigInt(value) : value);
  }
  if (Array.isArray(value)) return `[${value.map(sameText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${members
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sameText(value[key])}`)
    .join()}}`;
}

const isMapSchema = (schema: JsonObject): boolean =>
  isObject(schema['additionalProperties']) && schema['properties'] === undefined;

/** Without what the schema does not know, and without nulls that mean nothing. */
export function pruned(schema: JsonObject, value: JsonValue): JsonValue {
  const { type, items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) {
    if (type !== 'array' || !isObject(items)) return value;
    return value.map((item) => (item === null ? null : pruned(items, item)));
  }
  if (!isObject(value) || type !== 'object') return value;
  const keeps = word(schema, 'preserve-unknown-fields') === true || additionalProperties === true;
  const result = Object.create(null) as JsonObject;
  for (const key of Object.keys(value)) {
    const member = value[key] ?? null;
    const known = isMapSchema(schema) ? additionalProperties : own(properties, key);
    if (!isObject(known)) {
      if (keeps) result[key] = member;
    } else if (member !== null) result[key] = pruned(known, member);
    else if (known['nullable'] === true) result[key] = null;
  }
  return result;
}

export interface Found {
  /** Field, reason and text of each failure. */
  readonly errors: readonly string[];
  /** How many kinds of checks were about the value or what it holds. */
  readonly count: number;
}

const error = (field: string, reason: string, text: string): string =>
  `${field} FieldValue${reason} ${text}`;

/** `old`: what is stored in its place, where that can be told. */
export function judged(schema: JsonObject, value: JsonValue, path: string, old: Value): Found {
  const errors: string[] = [];
  if (value === null) {
    typeErrors(schema, value, path, errors);
    enumErrors(schema, value, path, errors);
    return { errors: isStored(value, old) ? [] : errors, count: 0 };
  }
  let count = ownCount(schema, value);
  const take = (found: Found): void => {
    errors.push(...found.errors);
    count += found.count;
  };
  typeErrors(schema, value, path, errors);
  junctors(schema, value, path, { errors, take });
  if (typeof value === 'string') textErrors(schema, value, path, errors);
  if (isNumber(value)) numberErrors(schema, value, path, errors);
  if (Array.isArray(value)) listErrors(schema, value, path, { errors, take, old });
  enumErrors(schema, value, path, errors);
  if (isObject(value)) objectErrors(schema, value, path, { errors, take, old });
  return { errors: isStored(value, old) ? [] : errors, count };
}

const isStored = (value: JsonValue, old: Value): boolean =>
  old !== undefined && sameText(value) === sameText(old);

/** Type, junctors, enum, the value as a whole, its own kind of value, its format. */
function ownCount(schema: JsonObject, value: JsonValue): number {
  const isTyped = typesOf(schema).length > 0 || formatOf(schema) !== '';
  const isOfKind = typeof value !== 'boolean';
  const hasFormat = typeof value === 'string' && formatOf(schema) !== '';
  return 3 + Number(isTyped) + Number(isOfKind) + Number(hasFormat);
}

function typesOf(schema: JsonObject): readonly string[] {
  if (word(schema, 'int-or-string') === true) return ['integer', 'string'];
  return typeof schema['type'] === 'string' ? [schema['type']] : [];
}

/** '' where it says nothing. */
function formatOf(schema: JsonObject): string {
  const { type = '', format = '' } = schema;
  if (typeof format !== 'string') return '';
  if (type === 'integer') return ['int32', 'int64'].includes(format) ? format : '';
  if (type === 'number') return ['float', 'double'].includes(format) ? format : '';
  if (type !== '' && type !== 'string') return '';
  return schemaFormats.has(format.replaceAll('-', '')) ? format : '';
}

function typeNameOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function typeErrors(schema: JsonObject, value: JsonValue, path: string, errors: string[]): void {
  const types = typesOf(schema);
  const found = typeNameOf(value);
  if (types.length === 0 || types.includes(found)) return;
  if (found === 'integer' && types.includes('number')) return;
  if (value === null && schema['nullable'] === true) return;
  const format = formatOf(schema);
  const isNamed = format !== '' && !['null', 'string', 'array'].includes(found);
  const numeric = found === 'integer' ? 'int64' : found === 'number' ? 'float64' : '';
  const [wanted, shown] = isNamed ? [format, numeric] : [types.join(), found];
  errors.push(error(path, 'TypeInvalid', `${path} in body must be of type ${wanted}: "${shown}"`));
}

function enumErrors(schema: JsonObject, value: JsonValue, path: string, errors: string[]): void {
  const listed = listOf(schema['enum']);
  if (listed.length === 0 || listed.some((one) => sameText(one) === sameText(value))) return;
  const texts = listed.map((one) => JSON.stringify(typeof one === 'string' ? one : sameText(one)));
  errors.push(error(path, 'NotSupported', `supported values: ${texts.join(', ')}`));
}

interface Into {
  readonly errors: string[];
  readonly take: (found: Found) => void;
}

function junctors(
  schema: JsonObject,
  value: JsonValue,
  path: string,
  { errors, take }: Into,
): void {
  const tried = (branches: Value): readonly Found[] =>
    schemasOf(branches).map((branch) => judged(branch, value, path, undefined));
  const isRight = (found: Found): boolean => found.errors.length === 0;
  const best = (found: readonly Found[]): Found | undefined =>
    found.reduce<Found | undefined>(
      (most, one) => (most === undefined || one.count > most.count ? one : most),
      undefined,
    );
  const whole = (text: string): void => {
    errors.push(error('<nil>', 'Invalid', `"${path}" ${text}`));
  };
  const any = tried(schema['anyOf']);
  if (any.length > 0 && !any.some(isRight)) {
    whole('must validate at least one schema (anyOf)');
    take(best(any) ?? { errors: [], count: 0 });
  }
  const one = tried(schema['oneOf']);
  const rightCount = one.filter(isRight).length;
  if (one.length > 0 && rightCount !== 1) {
    const found = rightCount === 0 ? 'none valid' : `${String(rightCount)} valid alternatives`;
    whole(`must validate one and only one schema (oneOf). Found ${found}`);
    if (rightCount === 0) take(best(one) ?? { errors: [], count: 0 });
  }
  const all = tried(schema['allOf']);
  for (const found of all) take(found);
  if (!all.every(isRight)) {
    const none = all.some(isRight) ? '' : '. None validated';
    whole(`must validate all the schemas (allOf)${none}`);
  }
  const not = schema['not'];
  if (isObject(not) && isRight(judged(not, value, path, undefined))) {
    whole('must not validate the schema (not)');
  }
}

const isNumeric = ({ type }: JsonObject): boolean => type === 'integer' || type === 'number';

function textErrors(schema: JsonObject, value: string, path: string, errors: string[]): void {
  const { maxLength, minLength, pattern } = schema;
  const { length } = [...value];
  const invalid = (text: string): void => {
    errors.push(error(path, 'Invalid', `${path} in body ${text}`));
  };
  if (typeof maxLength === 'number' && length > maxLength) {
    const bytes = maxLength === 1 ? 'byte' : 'bytes';
    errors.push(error(path, 'TooLong', `may not be more than ${String(maxLength)} ${bytes}`));
  } else if (typeof minLength === 'number' && length < minLength) {
    invalid(`should be at least ${String(minLength)} chars long`);
  } else if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value)) {
    invalid(`should match '${pattern}'`);
  }
  const format = isNumeric(schema) ? '' : formatOf(schema);
  if (format === '' || schemaFormats.get(format.replaceAll('-', ''))?.(value) === true) return;
  const text = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`;
  errors.push(error(path, 'TypeInvalid', text));
}

function numberErrors(
  schema: JsonObject,
  value: number | bigint,
  path: string,
  errors: string[],
): void {
  const { type, maximum, minimum, multipleOf } = schema;
  const invalid = (text: string, bound: number | bigint): void => {
    errors.push(error(path, 'Invalid', `${path} in body should be ${text} ${String(bound)}`));
  };
  if (type === 'integer') {
    const bits = formatOf(schema) === 'int32' ? 31 : 63;
    const isWhole = typeof value === 'bigint' || Number.isInteger(value);
    const bound = 2 ** bits;
    if (!isWhole || value < -bound || value >= bound) {
      const named =
        formatOf(schema) === '' ? '(default format)' : `with format ${formatOf(schema)}`;
      const text = `Checked value must be of type integer ${named} in ${path}`;
      errors.push(error('<nil>', 'Invalid', text));
    }
  }
  if (isNumber(multipleOf)) {
    const isWhole = isMultiple(value, multipleOf);
    if (!isWhole) invalid('a multiple of', multipleOf);
  }
  const excludesMax = schema['exclusiveMaximum'] === true;
  const excludesMin = schema['exclusiveMinimum'] === true;
  if (isNumber(maximum) && !(excludesMax ? value < maximum : value <= maximum)) {
    invalid(excludesMax ? 'less than' : 'less than or equal to', maximum);
  }
  if (isNumber(minimum) && !(excludesMin ? value > minimum : value >= minimum)) {
    invalid(excludesMin ? 'greater than' : 'greater than or equal to', minimum);
  }
}

/** Fractions are multiples where the quotient of doubles is nearly whole. */
function isMultiple(value: number | bigint, factor: number | bigint): boolean {
  const isWhole = (one: number | bigint): boolean =>
    typeof one === 'bigint' || Number.isInteger(one);
  if (isWhole(value) && isWhole(factor)) return BigInt(value) % BigInt(factor) === 0n;
  const quotient = Number(value) / Number(factor);
  return Math.abs(quotient) < 2 ** 53 && Math.abs(quotient - Math.round(quotient)) < 1e-6;
}

interface IntoPart extends Into {
  readonly old: Value;
}

function tooMany(count: number, most: Value, path: string, errors: string[]): void {
  if (typeof most !== 'number' || count <= most) return;
  const items = most === 1 ? 'item' : 'items';
  errors.push(error(path, 'TooMany', `must have at most ${String(most)} ${items}`));
}

function tooFew(count: number, least: Value, path: string, into: Into, noun: string): void {
  if (typeof least !== 'number' || count >= least) return;
  const text = `${path} in body should have at least ${String(least)} ${noun}`;
  into.errors.push(error(path, 'Invalid', text));
}

/** undefined: nothing tells the item from the others. */
export function identity(schema: JsonObject, item: JsonValue): string | undefined {
  const listType = word(schema, 'list-type');
  if (listType === 'set') return sameText(item);
  if (listType !== 'map' || !isObject(item)) return undefined;
  return textsOf(word(schema, 'list-map-keys'))
    .map((key) => sameText(own(item, key)))
    .join();
}

function listErrors(
  schema: JsonObject,
  list: readonly JsonValue[],
  path: string,
  { errors, take, old }: IntoPart,
): void {
  const { items, minItems, maxItems } = schema;
  const isKeyed = word(schema, 'list-type') === 'map';
  const oldItems = isKeyed ? listOf(old) : [];
  if (isObject(items)) {
    for (const [at, item] of list.entries()) {
      const key = identity(schema, item);
      const twin = oldItems.find((one) => key !== undefined && identity(schema, one) === key);
      take(judged(items, item, `${path}[${String(at)}]`, twin));
    }
  }
  tooFew(list.length, minItems, path, { errors, take }, 'items');
  tooMany(list.length, maxItems, path, errors);
}

function objectErrors(
  schema: JsonObject,
  object: JsonObject,
  path: string,
  { errors, take, old }: IntoPart,
): void {
  const keys = Object.keys(object).filter((key) => object[key] !== undefined);
  tooFew(keys.length, schema['minProperties'], path, { errors, take }, 'properties');
  tooMany(keys.length, schema['maxProperties'], path, errors);
  const isAtomic = word(schema, 'map-type') === 'atomic';
  for (const key of keys) {
    const known = isMapSchema(schema)
      ? schema['additionalProperties']
      : own(schema['properties'], key);
    if (!isObject(known)) continue;
    const twin = isAtomic ? undefined : own(old, key);
    take(judged(known, object[key] ?? null, `${path}.${key}`, twin));
  }
  for (const name of textsOf(schema['required'])) {
    if (!keys.includes(name)) errors.push(error(`${path}.${name}`, 'Required', ''));
  }
}

/** Sets and keyed lists anywhere in a value: the fields of what is there twice. */
export function repeated(schema: JsonObject, value: JsonValue, path: string): readonly string[] {
  const found: string[] = [];
  if (Array.isArray(value) && schema['type'] === 'array') {
    const listType = word(schema, 'list-type');
    const identities = value.map((item) => identity(schema, item));
    for (const [at, key] of identities.entries()) {
      const field = `${path}[${String(at)}]`;
      if (key === undefined && listType === 'map') {
        const text = 'must be an object for an array of list-type map';
        found.push(error(field, 'Invalid', text));
      } else if (key !== undefined) {
        const before = identities.slice(0, at).filter((other) => other === key);
        if (before.length === 1) found.push(error(field, 'Duplicate', ''));
      }
    }
    const { items } = schema;
    if (!isObject(items)) return found;
    return [
      ...found,
      ...value.flatMap((item, at) => repeated(items, item, `${path}[${String(at)}]`)),
    ];
  }
  if (!isObject(value) || schema['type'] !== 'object') return found;
  for (const key of Object.keys(value)) {
    const isMap = isMapSchema(schema);
    const known = isMap ? schema['additionalProperties'] : own(schema['properties'], key);
    const at = isMap ? `${path}[${key}]` : `${path}.${key}`;
    if (isObject(known)) found.push(...repeated(known, value[key] ?? null, at));
  }
  return found;
}
