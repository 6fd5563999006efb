// What a schema says of one value by itself: its type, text, number, one of some values. The words
// of failures are those that clients know from other servers.
import { compilePattern } from '../base/pattern.ts';
import { shownJson } from '../base/status.ts';
import type { FieldError } from '../base/status.ts';
import { counted } from './field-errors.ts';
import { jsonEqual } from './json-value.ts';
import { schemaFormats } from './schema-formats.ts';
import type { JsonValue, ValueInfo, ValueSchema } from './type-info.ts';
import { isIntOrString } from './value-info.ts';

/** One validation, or that of one branch of a junctor. */
export interface Checking {
  readonly errors: FieldError[];
  /** How many checks found nothing: tells which branch fits best. */
  passedCount: number;
}

/** Reports what is wrong with a value of any JSON type. */
export type ValueCheck = (value: JsonValue, path: string, into: Checking) => void;

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

/** undefined: any type is right. */
export function typeCheck(info: ValueInfo): ValueCheck | undefined {
  const { nullable, schema } = info;
  const types = isIntOrString(info) ? ['integer', 'string'] : [schema?.type ?? ''];
  if (types[0] === '') return undefined;
  const format = schema?.format ?? '';
  return (value, path, into) => {
    const found = jsonTypeOf(value);
    if (types.includes(found) || (found === 'integer' && types[0] === 'number')) return;
    if (value === null && nullable === true) return;
    const isNumeric = found === 'integer' || found === 'number';
    const namesFormat = format !== '' && !['null', 'string', 'array'].includes(found);
    const wanted = namesFormat ? format : types.join();
    const shown = namesFormat ? (isNumeric ? numberFormatOf(found) : '') : found;
    const detail = `${path} in body must be of type ${wanted}: ${JSON.stringify(shown)}`;
    into.errors.push({ reason: 'FieldValueTypeInvalid', field: path, badValue: shown, detail });
  };
}

const numberFormatOf = (type: string): string => (type === 'integer' ? 'int64' : 'float64');

/** A number without a fraction is an integer. */
function jsonTypeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'bigint':
      return 'integer';
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'number';
    default:
      return typeof value;
  }
}

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
export function formatCheck({ type, format }: ValueSchema): ValueCheck | undefined {
  const isRight = schemaFormats.get(format.replaceAll('-', ''));
  if (isRight === undefined || (type !== 'string' && type !== '')) return undefined;
  return (value, path, into) => {
    if (typeof value !== 'string' || isRight(value)) return;
    const detail = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`;
    into.errors.push({ reason: 'FieldValueTypeInvalid', field: path, badValue: value, detail });
  };
}

type Numeric = number | bigint;

const isNumeric = (value: JsonValue): value is Numeric =>
  typeof value === 'number' || typeof value === 'bigint';

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const ranges: Readonly<Record<string, { readonly min: Numeric; readonly max: Numeric }>> = {
  'integer ': int64,
  'integer int64': int64,
  'integer int32': { min: -(2 ** 31), max: 2 ** 31 - 1 },
  'number float': { min: -3.4028234663852886e38, max: 3.4028234663852886e38 },
};

/** The range of the format, then multiples and bounds. */
export function numberCheck(schema: ValueSchema): ValueCheck | undefined {
  const { type, format, multipleOf, maximum, minimum } = schema;
  const range = ranges[`${type} ${format}`];
  if ([range, multipleOf, maximum, minimum].every((one) => one === undefined)) return undefined;
  const excludesMax = schema.exclusiveMaximum === true;
  const excludesMin = schema.exclusiveMinimum === true;
  return (value, path, into) => {
    if (!isNumeric(value)) return;
    if (range !== undefined && (value < range.min || value > range.max)) {
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

function isMultiple(value: Numeric, factor: Numeric): boolean {
  const isExact = isWhole(value) && isWhole(factor);
  if (isExact) return BigInt(value) % BigInt(factor) === 0n;
  return Number.isInteger(Number(value) / Number(factor));
}

const isWhole = (value: Numeric): boolean => typeof value === 'bigint' || Number.isInteger(value);

/** Beside an integer as an integer, else as the shortest text that gives the same double. */
function shownBound(bound: Numeric, value: Numeric): string {
  if (isWhole(bound) && isWhole(value)) return String(BigInt(bound));
  const double = Number(bound);
  const size = Math.abs(double);
  if (size === 0 || (size < 1e6 && size >= 1e-4)) return String(double);
  return double.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Compared deeply; numbers as numbers. */
export function enumCheck({ enum: values }: ValueSchema): ValueCheck | undefined {
  if (values.length === 0) return undefined;
  const texts = new Set(values.filter((one) => typeof one === 'string'));
  const others = values.filter((one) => typeof one !== 'string');
  let detail: string | undefined;
  return (value, path, into) => {
    const isListed =
      typeof value === 'string' ? texts.has(value) : others.some((one) => jsonEqual(one, value));
    if (isListed) return;
    detail ??= `supported values: ${values.map(quotedText).join(', ')}`;
    into.errors.push({
      reason: 'FieldValueNotSupported',
      field: path,
      badValue: value,
      detail,
    });
  };
}

/** Texts as they are, other values as their JSON. */
const quotedText = (value: JsonValue): string =>
  JSON.stringify(typeof value === 'string' ? value : shownJson(value));
