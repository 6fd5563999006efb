// string.format and strings.quote. Numbers look as in the reference's default locale: grouped
// digits, powers of ten as such.
import { dynType, listType, stringType } from '../model/cel-type.ts';
import type { Implementation, Library } from '../model/declarations.ts';
import { scaleRange, stringTraversalFactor } from '../model/range.ts';
import { formatDouble } from '../model/number-text.ts';
import { formatDuration, formatTimestamp } from '../model/time.ts';
import {
  CelError,
  Double,
  Duration,
  Timestamp,
  TypeValue,
  Uint,
  isList,
  isMap,
  listItems,
  typeNameOf,
} from '../model/value.ts';
import type { ListValue, Value } from '../model/value.ts';
import { arg, declare, global, member, traversalOf } from './declare.ts';
import { clauseProblem, parseFormat, wrongType } from './format-clauses.ts';
import type { Clause } from './format-clauses.ts';

const quoteEscapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** A text in double quotes, special characters escaped. */
function quote(text: string): string {
  const escaped = text
    .toWellFormed()
    .replace(/[\u0007\b\f\n\r\t\v\\"]/g, (c) => quoteEscapes[c] ?? c);
  return `"${escaped}"`;
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function infinityText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '∞' : '-∞';
}

function fixedText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return infinityText(value);
  const [whole, fraction] = exactFixed(value, precision).split('.') as [string, string?];
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const digitsMax = 100;

/**
 * A decimal text in which half a digit went up, with half a digit to the even one. `exact`: all
 * digits of the same value.
 */
function halfToEven(rounded: string, exact: string): string {
  if (/[02468]$/.test(rounded)) return rounded;
  const rest = exact.slice(rounded.length).replace('.', '');
  if (!/^50*$/.test(rest)) return rounded;
  const digit = Number(rounded.at(-1)) - 1;
  return `${rounded.slice(0, -1)}${String(digit)}`;
}

/** toFixed for any size and number of digits, rounding the exact binary value half to even. */
function exactFixed(value: number, precision: number): string {
  if (Math.abs(value) < 1e21 && precision <= digitsMax) {
    return halfToEven(value.toFixed(precision), value.toFixed(digitsMax));
  }
  const digits = Math.abs(value) < 1e21 ? value.toFixed(digitsMax) : String(BigInt(value));
  const [whole, fraction = ''] = digits.split('.') as [string, string?];
  return precision === 0
    ? whole
    : `${whole}.${fraction.padEnd(precision, '0').slice(0, precision)}`;
}

function scientificText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return infinityText(value).padStart(precision);
  const [rounded, exponent] = value.toExponential(Math.min(precision, digitsMax)).split('e') as [
    string,
    string,
  ];
  const [exact = ''] = value.toExponential(digitsMax).split('e');
  const mantissa = halfToEven(rounded, exact);
  const digits = exponent.replace(/[+-]/, '').padStart(2, '0');
  const raised = [...digits].map((digit) => superscripts[Number(digit)]).join('');
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`;
}

/** Texts of doubles that may stand for them. */
const doubleTexts: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

function doubleText(clause: Clause, value: Value): string | CelError {
  const number = value instanceof Double ? value.value : doubleTexts.get(value as string);
  if (number === undefined) return wrongType(clause, typeNameOf(value));
  return clause.letter === 'f'
    ? fixedText(number, clause.precision)
    : scientificText(number, clause.precision);
}

function hexText(value: Value): string {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (bytes instanceof Uint8Array) {
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }
  return radixText(value, 16);
}

function radixText(value: Value, radix: number): string {
  if (value instanceof Uint) return value.value.toString(radix);
  return (value as number | bigint).toString(radix);
}

/** A value as `%s` shows it. */
function plainText(value: Value): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Double) return formatDouble(value.value, 6);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  return nestedText(value);
}

/** A value within a list or map: texts and times keep their quotes. */
function nestedText(value: Value): string {
  if (typeof value === 'string') return quote(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Uint8Array) return `b${quote(new TextDecoder().decode(value))}`;
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Double) {
    return Number.isFinite(value.value)
      ? exactFixed(value.value, 6)
      : quote(formatDouble(value.value));
  }
  if (value instanceof Timestamp) return `timestamp(${quote(formatTimestamp(value))})`;
  if (value instanceof Duration) return `duration(${quote(formatDuration(value))})`;
  if (value instanceof TypeValue) return value.name;
  if (isList(value)) return `[${listItems(value).map(nestedText).join(', ')}]`;
  if (!isMap(value)) return typeNameOf(value);
  const entries = [...value.keys()].map(
    (key) => [nestedText(key), value.find(key) ?? null] as const,
  );
  entries.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, held]) => `${key}:${nestedText(held)}`).join(', ')}}`;
}

function clauseText(clause: Clause, value: Value): string | CelError {
  const problem = clauseProblem(clause, typeNameOf(value));
  if (problem !== undefined) return problem;
  switch (clause.letter) {
    case 's':
      return plainText(value);
    case 'd':
      return radixText(value, 10);
    case 'f':
    case 'e':
      return doubleText(clause, value);
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : radixText(value, 2);
    case 'o':
      return radixText(value, 8);
    case 'x':
      return hexText(value);
    case 'X':
      return hexText(value).toUpperCase();
  }
}

const format: Implementation = (args, context) => {
  const values = listItems(arg(args, 1) as ListValue);
  const parts = parseFormat(arg(args, 0) as string, values.length);
  if (parts instanceof CelError) return parts;
  let text = '';
  let next = 0;
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    const shown = clauseText(part, values[next++] as Value);
    if (shown instanceof CelError) return shown;
    context.allocate(shown.length);
    text += shown;
  }
  return text;
};

export const formatStringLibrary: Library = {
  name: 'cel.lib.ext.strings.format',
  since: 29,
  functions: [
    declare('format', [
      member('string_format', [[stringType, listType(dynType)], stringType], format, {
        runtimeCost: traversalOf(0),
        estimate: (target) =>
          target === undefined
            ? undefined
            : { cost: scaleRange(target.size, stringTraversalFactor) },
      }),
    ]),
    declare('strings.quote', [
      global('strings_quote', [[stringType], stringType], (args) => quote(arg(args, 0) as string), {
        runtimeCost: traversalOf(0),
        estimate: (_, [text]) =>
          text === undefined
            ? undefined
            : {
                cost: scaleRange(text.size, stringTraversalFactor),
                resultSize: {
                  min: BigInt.asUintN(64, text.size.min + 2n),
                  max: BigInt.asUintN(64, text.size.max * 2n + 2n),
                },
              },
      }),
    ]),
  ],
};
