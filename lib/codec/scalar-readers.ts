// Readers of single values: scalars and the special forms of JSON. Each takes a value that is not
// null, checks it, and returns its canonical form, or fails with the path and what would be right.
import { canonicalQuantity } from '../api/quantity.ts';
import { RawJson, rawJsonOf } from '../api/raw-json.ts';
import { isAbsent } from '../api/presence.ts';
import { isObject } from '../api/json-value.ts';
import type { JsonValue, ScalarType, SpecialForm } from '../api/type-info.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import { countMembers, tooDeep } from './walk.ts';
import type { Walk } from './walk.ts';
import {
  canonicalBase64,
  canonicalDuration,
  canonicalMicroTime,
  canonicalTime,
} from './value-forms.ts';

/** Returns the canonical value: the given one itself when nothing had to change. */
export type ReadValue = (value: JsonValue, walk: Walk) => JsonValue;

/** Of a field: undefined leaves it out. */
export type ReadField = (value: JsonValue, walk: Walk) => JsonValue | undefined;

export const int64Max = 2n ** 63n - 1n;
export const int64Min = -(2n ** 63n);

const readString: ReadValue = (value, walk) =>
  typeof value === 'string' ? value : walk.fail('a string', value);

const readBool: ReadValue = (value, walk) =>
  typeof value === 'boolean' ? value : walk.fail('true or false', value);

const readInt32: ReadValue = (value, walk) => {
  if (typeof value === 'number' && (value | 0) === value) return value;
  return walk.fail('an integer of 32 bits', value);
};

const readInt64: ReadValue = (value, walk) => {
  // Whole numbers beyond 2^53 are bigint: any other was written as a fraction or a power.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'bigint' && value >= int64Min && value <= int64Max) return value;
  return walk.fail('an integer of 64 bits', value);
};

const readDouble: ReadValue = (value, walk) => {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : walk.fail('a number', value);
};

const readBytes: ReadValue = (value, walk) => {
  if (typeof value !== 'string') return walk.fail('a string of base64', value);
  return canonicalBase64(value) ?? walk.failHidden('base64 with padding');
};

const scalarReaders: Readonly<Record<ScalarType, ReadValue>> = {
  string: readString,
  bool: readBool,
  int32: readInt32,
  int64: readInt64,
  double: readDouble,
  bytes: readBytes,
};
const scalarZeros: Readonly<Record<ScalarType, JsonValue>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  bytes: null,
};

export const scalarReader = (scalar: ScalarType): ReadValue => scalarReaders[scalar];
/** What null stands for in a list or map of this scalar. */
export const scalarZero = (scalar: ScalarType): JsonValue => scalarZeros[scalar];

function textReader(
  expected: string,
  canonical: (text: string) => string | null | undefined,
): ReadValue {
  return (value, walk) => {
    if (typeof value !== 'string') return walk.fail(expected, value);
    const text = canonical(value);
    return text === undefined ? walk.failText(expected, value) : text;
  };
}

const readTime = textReader('a time such as 2006-01-02T15:04:05Z', canonicalTime);
const readMicroTime = textReader('a time such as 2006-01-02T15:04:05.000000Z', canonicalMicroTime);
const readDuration = textReader('a duration such as 1h30m', canonicalDuration);

const quantityForm = 'a quantity such as 500m, 1.5 or 64Mi';
const readQuantity: ReadValue = (value, walk) => {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    return walk.fail(quantityForm, value);
  }
  const text = typeof value === 'string' ? value : String(value);
  return (
    canonicalQuantity(text) ?? canonicalQuantity(text.trim()) ?? walk.failText(quantityForm, text)
  );
};

const readIntOrString: ReadValue = (value, walk) => {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && (value | 0) === value) return value;
  return walk.fail('an integer of 32 bits or a string', value);
};

/** JSON of any shape. Values of a parser become data without prototypes. */
export const readAny: ReadValue = (value, walk) =>
  walk.owned ? ownData(value, walk, asItIs) : value;

const asItIs: ReadValue = (value) => value;

/**
 * A parser's value as data, in place: its objects lose their prototypes, members are counted, and
 * each number is what `readNumber` makes of it.
 */
export function ownData(value: JsonValue, walk: Walk, readNumber: ReadValue): JsonValue {
  if (typeof value === 'number' || typeof value === 'bigint') return readNumber(value, walk);
  if (typeof value !== 'object' || value === null || value instanceof RawJson) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const element = value[at];
      if (element === undefined || typeof element === 'string') continue;
      const own = ownData(element, walk, readNumber);
      if (own !== element) value[at] = own;
    }
    return value;
  }
  Object.setPrototypeOf(value, null);
  for (const key in value) {
    walk.members += 1;
    const member = value[key];
    if (member === undefined || typeof member === 'string') continue;
    const own = ownData(member, walk, readNumber);
    if (own !== member) value[key] = own;
  }
  return value;
}

/**
 * Field sets stay as the parser made them: they are many, and their readers take own keys only.
 * A field set that a client sent with a key such as `__proto__` has it as an own key.
 */
const readFieldSet: ReadValue = (value, walk) => {
  if (walk.counts) walk.members += countMembers(value);
  return value;
};

/**
 * Text that the reader of JSON has set aside, else raw JSON of whatever was decoded. Of a body its
 * depth counts, whatever encoding it lay in.
 */
const readRaw: ReadValue = (value, walk) => {
  if (walk.raws !== undefined) {
    const raw = walk.raws[Number(value)];
    invariant(raw !== undefined, 'raw JSON was set aside');
    return raw;
  }
  const raw = rawJsonOf(value);
  const depth = raw instanceof RawJson ? raw.depth : 0;
  if (walk.owned && walk.depth + depth > limits.bodyDepthMax) throw tooDeep();
  return raw;
};

type PlainForm = Exclude<SpecialForm, 'schemaOrList' | 'schemaOrBool' | 'schemaOrStrings'>;

const formReaders: Readonly<Record<PlainForm, ReadValue>> = {
  time: readTime,
  timestamp: readTime,
  microTime: readMicroTime,
  duration: readDuration,
  quantity: readQuantity,
  intOrString: readIntOrString,
  rawExtension: readRaw,
  json: readAny,
  fieldsV1: readFieldSet,
};
const formZeros: Readonly<Record<PlainForm, JsonValue>> = {
  time: null,
  timestamp: null,
  microTime: null,
  duration: '0s',
  quantity: '0',
  intOrString: 0,
  rawExtension: null,
  json: null,
  fieldsV1: null,
};

/** Reader of a special form; those of schemas take the reader of the schema itself. */
export function formReader(form: SpecialForm, readSchema: ReadValue): ReadValue {
  switch (form) {
    case 'schemaOrList':
      return (value, walk) =>
        Array.isArray(value) ? readElements(value, readSchema, {}, walk) : readSchema(value, walk);
    case 'schemaOrBool':
      return (value, walk) => (typeof value === 'boolean' ? value : readSchema(value, walk));
    case 'schemaOrStrings':
      // What is neither counts as no strings: validation refuses the word altogether.
      return (value, walk) => {
        if (Array.isArray(value)) return readElements(value, readString, '', walk);
        return isObject(value) ? readSchema(value, walk) : [];
      };
    default:
      return formReaders[form];
  }
}

/** What null stands for in a list or map of this form. */
export const formZero = (form: SpecialForm): JsonValue =>
  form in formZeros ? formZeros[form as PlainForm] : null;

/** Reads every element; null stands for `zero`. */
export function readElements(
  list: JsonValue[],
  read: ReadValue,
  zero: JsonValue,
  walk: Walk,
): JsonValue {
  let result = list;
  const at = walk.depth;
  walk.depth = at + 1;
  const known = elementsOfBase(walk);
  for (let index = 0; index < list.length; index += 1) {
    const given = list[index];
    if (known?.has(given) === true) continue;
    walk.path[at] = index;
    const element = isAbsent(given) ? fresh(zero) : read(given, walk);
    if (element !== given) {
      if (result === list && !walk.owned) result = list.slice();
      result[index] = element;
    }
  }
  walk.depth = at;
  return result;
}

/** Objects of the list in the base of the walk: wherever they are now, they are right. */
function elementsOfBase(walk: Walk): ReadonlySet<unknown> | undefined {
  const { base } = walk;
  if (base === undefined) return undefined;
  walk.base = undefined;
  if (!Array.isArray(base)) return undefined;
  return new Set(base.filter((element) => typeof element === 'object' && element !== null));
}

/** A value that nobody else holds: templates of zero values are shared. */
export function fresh(template: JsonValue): JsonValue {
  if (typeof template !== 'object' || template === null) return template;
  if (Array.isArray(template)) return template.map(fresh);
  const copy: { [key: string]: JsonValue } = {};
  for (const [key, value] of Object.entries(template)) {
    if (value !== undefined) copy[key] = fresh(value);
  }
  return copy;
}
