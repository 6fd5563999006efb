// What a schema says of one value by itself: its type, text, number, one of some values. The words
// of failures are those that clients know from other servers.
import type { MaybePromise } from '../base/maybe-promise.ts';
import { compilePattern } from '../base/pattern.ts';
import { shownFloat, shownJson } from '../base/status.ts';
import type { Yielder } from '../base/yielder.ts';
import { canonicalText, sortedJson } from './canonical-json.ts';
import type { FailureList } from './failure-list.ts';
import { counted } from './field-errors.ts';
import { schemaFormats } from './schema-formats.ts';
import type { StoredParts } from './stored-parts.ts';
import type { JsonValue, ValueInfo, ValueSchema } from './type-info.ts';
import { isIntOrString } from './value-info.ts';

/** One validation, or that of one branch of a junctor. */
export interface Checking {
  readonly errors: FailureList;
  /** How much was looked at: tells which branch fits the value best. */
  matchCount: number;
  /** undefined: all of it in one turn. */
  readonly pace: Yielder | undefined;
  /** What is stored, for values that have an old one. */
  readonly stored: StoredParts | undefined;
}

/** Reports what is wrong with a value of any JSON type. */
export type ValueCheck = (value: JsonValue, path: string, into: Checking) => void;

/**
 * Looks at a value and at what it holds. `old`: the same part of the stored object, where it can
 * be told.
 */
export type Check = (
  value: JsonValue,
  old: JsonValue | undefined,
  path: string,
  into: Checking,
) => MaybePromise<void>;

/** `text` follows the path, as in `spec.size in body should be less than 3`. */
export function invalid(
  into: Checking,
  found: { readonly path: string; readonly value: JsonValue; readonly text: string },
): void {
  const detail = `${found.path} in body ${found.text}`;
  into.errors.push({
    reason: 'FieldValueInvalid',
    field: found.path,
    badValue: found.value,
    detail,
  });
}

/** A failure that is about no field by itself. */
export function invalidWhole(into: Checking, detail: string): void {
  into.errors.push({ reason: 'FieldValueInvalid', field: '<nil>', badValue: '', detail });
}

/** The format that values of the schema's type can have; '': none that says anything. */
export function knownFormatOf({ type, format }: ValueSchema): string {
  switch (type) {
    case 'integer':
      return format === 'int32' || format === 'int64' ? format : '';
    case 'number':
      return format === 'float' || format === 'double' ? format : '';
    case 'string':
    case '':
      return schemaFormats.has(format.replaceAll('-', '')) ? format : '';
    default:
      return '';
  }
}

/** undefined: any type is right. */
export function typeCheck(info: ValueInfo): ValueCheck | undefined {
  const { nullable, schema } = info;
  const types = isIntOrString(info) ? ['integer', 'string'] : [schema?.type ?? ''];
  if (types[0] === '') return undefined;
  const format = schema === undefined ? '' : knownFormatOf(schema);
  return (value, path, into) => {
    const found = jsonTypeOf(value);
    if (types.includes(found) || (found === 'integer' && types[0] === 'number')) return;
    if (value === null && nullable === true) return;
    const namesFormat = format !== '' && !['null', 'string', 'array'].includes(found);
    const wanted = namesFormat ? format : types.join();
    const shown = namesFormat ? numberFormatOf(value) : found;
    const detail = `${path} in body must be of type ${wanted}: ${JSON.stringify(shown)}`;
    into.errors.push({ reason: 'FieldValueTypeInvalid', field: path, badValue: shown, detail });
  };
}

/** '' of what is no number. */
function numberFormatOf(value: JsonValue): string {
  if (!isNumeric(value)) return '';
  return isInteger(value) ? 'int64' : 'float64';
}

function jsonTypeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isNumeric(value)) return isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

type Numeric = number | bigint;

const isNumeric = (value: JsonValue): value is Numeric =>
  typeof value === 'number' || typeof value === 'bigint';

/** Of 64 bits: what is beyond, or was written with an exponent that large, is a double. */
const isInteger = (value: Numeric): boolean =>
  typeof value === 'bigint' || Number.isSafeInteger(value);

/** Length, then pattern: the first failure is the only one. */
export function textCheck({ minLength, maxLength, pattern }: ValueSchema): ValueCheck | undefined {
  if (minLength === undefined && maxLength === undefined && pattern === undefined) return undefined;
  const compiled = pattern === undefined ? undefined : compilePattern(pattern);
  const wrong = compiled !== undefined && 'error' in compiled;
  const shown = wrong ? `${pattern ?? ''}, but pattern is invalid: ${compiled.error}` : pattern;
  return (value, path, into) => {
    if (typeof value !== 'string') return;
    if (maxLength !== undefined && isLonger(value, maxLength)) {
      const detail = `may not be more than ${counted(maxLength, 'byte')}`;
      into.errors.push({ reason: 'FieldValueTooLong', field: path, detail });
    } else if (minLength !== undefined && !isLonger(value, minLength - 1)) {
      invalid(into, { path, value, text: `should be at least ${String(minLength)} chars long` });
    } else if (compiled !== undefined && (wrong || !compiled.test(value))) {
      invalid(into, { path, value, text: `should match '${shown ?? ''}'` });
    }
  };
}

/** Whether a text has more code points. */
function isLonger(text: string, codePoints: number): boolean {
  if (text.length <= codePoints) return false;
  if (text.length > 2 * codePoints + 1) return true;
  let count = 0;
  for (const _point of text) count += 1;
  return count > codePoints;
}

/** Formats of texts; those that are not known say nothing. */
export function formatCheck(schema: ValueSchema): ValueCheck | undefined {
  const { type, format } = schema;
  if ((type !== 'string' && type !== '') || knownFormatOf(schema) === '') return undefined;
  const isRight = schemaFormats.get(format.replaceAll('-', ''));
  return (value, path, into) => {
    if (typeof value !== 'string' || isRight?.(value) !== false) return;
    const detail = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`;
    into.errors.push({ reason: 'FieldValueTypeInvalid', field: path, badValue: value, detail });
  };
}

interface NumberRange {
  readonly min: Numeric;
  readonly max: Numeric;
  /** A fraction is out of it, too. */
  readonly isWhole: boolean;
}

const int64: NumberRange = { min: -(2n ** 63n), max: 2n ** 63n - 1n, isWhole: true };
const ranges: Readonly<Record<string, NumberRange>> = {
  'integer ': int64,
  'integer int64': int64,
  'integer int32': { min: -(2 ** 31), max: 2 ** 31 - 1, isWhole: true },
  'number float': { min: -3.4028234663852886e38, max: 3.4028234663852886e38, isWhole: false },
};

const isWithin = (value: Numeric, { min, max, isWhole }: NumberRange): boolean =>
  value >= min && value <= max && (!isWhole || isWholeNumber(value));

/** The range of the format, then multiples and bounds. */
export function numberCheck(schema: ValueSchema): ValueCheck | undefined {
  const { type, multipleOf, maximum, minimum } = schema;
  const format = knownFormatOf(schema);
  const range = ranges[`${type} ${format}`];
  if ([range, multipleOf, maximum, minimum].every((one) => one === undefined)) return undefined;
  const excludesMax = schema.exclusiveMaximum === true;
  const excludesMin = schema.exclusiveMinimum === true;
  return (value, path, into) => {
    if (!isNumeric(value)) return;
    if (range !== undefined && !isWithin(value, range)) {
      const named = format === '' ? '(default format)' : `with format ${format}`;
      invalidWhole(into, `Checked value must be of type ${type} ${named} in ${path}`);
    }
    if (multipleOf !== undefined) checkMultiple(value, multipleOf, path, into);
    const bounded = (relation: string, bound: Numeric): void => {
      invalid(into, { path, value, text: `should be ${relation} ${shownBound(bound, value)}` });
    };
    if (maximum !== undefined && (value > maximum || (excludesMax && value >= maximum))) {
      bounded(excludesMax ? 'less than' : 'less than or equal to', maximum);
    }
    if (minimum !== undefined && (value < minimum || (excludesMin && value <= minimum))) {
      bounded(excludesMin ? 'greater than' : 'greater than or equal to', minimum);
    }
  };
}

function checkMultiple(value: Numeric, factor: Numeric, path: string, into: Checking): void {
  const shown = shownBound(factor, value);
  if (factor <= 0) {
    invalidWhole(into, `factor MultipleOf declared for ${path} must be positive: ${shown}`);
  } else if (!isMultiple(value, factor)) {
    invalid(into, { path, value, text: `should be a multiple of ${shown}` });
  }
}

/** How far a quotient of doubles may be from a whole number, relative to its size. */
const quotientError = 1e-9;

function isMultiple(value: Numeric, factor: Numeric): boolean {
  const isExact = isWholeNumber(value) && isWholeNumber(factor);
  if (isExact) return BigInt(value) % BigInt(factor) === 0n;
  const [number, step] = [Number(value), Number(factor)];
  const quotient = step < 1 ? (1 / step) * number : number / step;
  const whole = Math.round(quotient);
  if (!Number.isSafeInteger(whole)) return false;
  return quotient === whole || Math.abs(quotient - whole) < quotientError * Math.abs(2 * whole);
}

const isWholeNumber = (value: Numeric): boolean =>
  typeof value === 'bigint' || Number.isInteger(value);

/** Beside an integer as an integer, else as the shortest text that gives the same double. */
const shownBound = (bound: Numeric, value: Numeric): string =>
  isWholeNumber(bound) && isWholeNumber(value) ? String(BigInt(bound)) : shownFloat(Number(bound));

/** Compared deeply; numbers as numbers. */
export function enumCheck({ enum: values }: ValueSchema): ValueCheck | undefined {
  if (values.length === 0) return undefined;
  const texts = new Set(values.filter((one) => typeof one === 'string'));
  const others = new Set(values.filter((one) => typeof one !== 'string').map(canonicalText));
  let detail: string | undefined;
  return (value, path, into) => {
    const isListed =
      typeof value === 'string'
        ? texts.has(value)
        : others.size > 0 && others.has(canonicalText(value));
    if (isListed) return;
    detail ??= `supported values: ${values.map(quotedText).join(', ')}`;
    into.errors.push({
      reason: 'FieldValueNotSupported',
      field: path,
      badValue: sortedJson(value),
      detail,
    });
  };
}

/** Texts as they are, other values as their JSON. */
const quotedText = (value: JsonValue): string =>
  JSON.stringify(typeof value === 'string' ? value : shownJson(value));
