// Plain scalars of YAML 1.1 as the usual reader of manifests takes them: `yes` and `on` are
// booleans, `010` is eight, integers are exact to 64 bits; times and sexagesimals stay text.
import { limits } from '../base/limits.ts';
import type { JsonValue } from '../api/type-info.ts';

const words: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ...['', '~', 'null', 'Null', 'NULL'].map((text) => [text, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (text) => [text, true] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (text) => [text, false] as const,
  ),
]);
const longestWord = 5;

/** The value of a scalar without quotes and tag; text that is nothing else stays text. */
export function plainValue(text: string): JsonValue {
  if (text.length <= longestWord) {
    const word = words.get(text);
    if (word !== undefined) return word;
  }
  const first = text.charCodeAt(0);
  const mayBeNumber = (first >= 0x30 && first <= 0x39) || first === 0x2d || first === 0x2b;
  if (mayBeNumber || first === 0x2e) return numberValue(text) ?? text;
  return text;
}

const decimal = /^[-+]?(?:0|[1-9]\d*)$/;
const octal = /^[-+]?0o?[0-7]+$/;
const hexadecimal = /^[-+]?0x[\da-fA-F]+$/;
const binary = /^[-+]?0b[01]+$/;
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const infinity = /^[-+]?\.(?:inf|Inf|INF)$/;
const notANumber = /^\.(?:nan|NaN|NAN)$/;

/** undefined: not a number. Infinities and NaN are numbers, which JSON does not have. */
export function numberValue(given: string): number | bigint | undefined {
  const text = given.includes('_') ? withoutUnderscores(given) : given;
  if (decimal.test(text)) return integer(text, text.replace(/^[-+]/, ''));
  if (octal.test(text)) return integer(text, `0o${text.replace(/^[-+]?0o?/, '')}`);
  if (hexadecimal.test(text)) return integer(text, text.replace(/^[-+]/, ''));
  if (binary.test(text)) return integer(text, text.replace(/^[-+]/, ''));
  if (float.test(text)) return Number(text);
  if (infinity.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return notANumber.test(text) ? NaN : undefined;
}

/** `1_000` is a thousand; `_1` and `.5_0` are text. */
const withoutUnderscores = (text: string): string =>
  text.startsWith('.') ? text : text.replaceAll('_', '');

const { yamlDigitsMax } = limits;
const unsignedMax = 2n ** 64n - 1n;
const signedMin = -(2n ** 63n);

/** Exact up to 64 bits, a float beyond. */
function integer(text: string, magnitude: string): number | bigint {
  const sign = text.startsWith('-') ? -1 : 1;
  if (magnitude.length <= 15 || magnitude.length > yamlDigitsMax)
    return sign * Number(magnitude) || 0;
  const exact = BigInt(sign) * BigInt(magnitude);
  const rounded = Number(exact);
  if (Number.isSafeInteger(rounded)) return rounded;
  return exact > unsignedMax || exact < signedMin ? rounded : exact;
}
