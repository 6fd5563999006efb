// Resource quantities (`250m`, `1.5Gi`, `1e3`): exact arithmetic in billionths, and the one text of
// an amount: no fraction digits, the largest suffix that loses nothing. More than nine decimals
// round away from zero; binary amounts end at 2^63-1, decimal ones where work would not.
import { limits } from '../base/limits.ts';
import { TextMemo } from '../base/text-memo.ts';

export type QuantityFormat = 'decimal' | 'binary' | 'exponent';

export interface Quantity {
  /** The amount in billionths. */
  readonly nano: bigint;
  /** Family of suffixes that the text used: `k M G`, `Ki Mi Gi` or `e3`. */
  readonly format: QuantityFormat;
}

const { quantityLengthMax } = limits;
const nanoPerUnit = 1_000_000_000n;
const binaryMax = (2n ** 63n - 1n) * nanoPerUnit;
const decimalExponentMax = 999;
const decimalMax = 10n ** BigInt(decimalExponentMax + 9);
const decimalExponents: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const decimalSuffixes: ReadonlyMap<number, string> = new Map(
  [...decimalExponents].map(([suffix, exponent]) => [exponent, suffix]),
);
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

/** undefined: not a quantity. */
export function parseQuantity(text: string): Quantity | undefined {
  if (text.length > quantityLengthMax) return undefined;
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponentMark, exponentText = '0', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction);
  const binary = suffix.length === 2;
  const exponent = binary
    ? 0
    : exponentMark === undefined
      ? (decimalExponents.get(suffix) ?? 0)
      : Number(exponentText);
  const factor = binary ? 1024n ** BigInt(binarySuffixes.indexOf(suffix)) : 1n;
  const amount = scaled(digits * factor, exponent + 9 - fraction.length);
  const magnitude = atMost(amount, binary ? binaryMax : decimalMax);
  const format = binary ? 'binary' : exponentMark === undefined ? 'decimal' : 'exponent';
  return { nano: sign === '-' ? -magnitude : magnitude, format };
}

/** The canonical text: `1000m` is `1`, `1.5Gi` is `1536Mi`, `0.5Ki` is `512`. */
export function formatQuantity(quantity: Quantity): string {
  const { nano, format } = quantity;
  if (nano === 0n) return '0';
  const negative = nano < 0n;
  const magnitude = negative ? -nano : nano;
  const small = magnitude < 1024n * nanoPerUnit;
  const text =
    format === 'binary' && !small && magnitude % nanoPerUnit === 0n
      ? formatBinary(magnitude / nanoPerUnit)
      : formatDecimal(magnitude, format === 'exponent');
  return negative ? `-${text}` : text;
}

const canonicalTexts = new TextMemo<string>({
  countMax: limits.canonicalQuantitiesMax,
  lengthMax: limits.knownQuantityLengthMax,
});

/** Canonical text of a quantity as written by a client; undefined: not a quantity. */
export function canonicalQuantity(text: string): string | undefined {
  return canonicalTexts.of(text, makeCanonical);
}

function makeCanonical(text: string): string | undefined {
  const quantity = parseQuantity(text);
  return quantity === undefined ? undefined : formatQuantity(quantity);
}

/** Of a count; it is taken to be whole. */
export const wholeQuantity = (count: number): Quantity => ({
  nano: BigInt(count) * nanoPerUnit,
  format: 'decimal',
});

/** The sum in the format of `left`; of `right` where `left` is nothing. */
export const addQuantities = (left: Quantity, right: Quantity): Quantity => ({
  nano: left.nano + right.nano,
  format: left.nano === 0n ? right.format : left.format,
});

/** Negative, zero or positive as `left` is below, equal to or above `right`. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  return left.nano < right.nano ? -1 : left.nano > right.nano ? 1 : 0;
}

/** `value` x 10^`exponent`, rounded away from zero; far beyond the end no power is computed. */
function scaled(value: bigint, exponent: number): bigint {
  if (value === 0n) return 0n;
  if (exponent > decimalExponentMax + 9) return decimalMax;
  if (exponent >= 0) return value * 10n ** BigInt(exponent);
  if (exponent < -2 * quantityLengthMax) return 1n;
  const divisor = 10n ** BigInt(-exponent);
  return (value + divisor - 1n) / divisor;
}

const atMost = (magnitude: bigint, max: bigint): bigint => (magnitude > max ? max : magnitude);

function formatBinary(units: bigint): string {
  let rest = units;
  let power = 0;
  while (power < binarySuffixes.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n;
    power += 1;
  }
  return `${String(rest)}${binarySuffixes[power] ?? ''}`;
}

function formatDecimal(nano: bigint, withExponent: boolean): string {
  let rest = nano;
  let exponent = -9;
  while ((withExponent || exponent < 18) && rest % 1000n === 0n) {
    rest /= 1000n;
    exponent += 3;
  }
  if (!withExponent) return `${String(rest)}${decimalSuffixes.get(exponent) ?? ''}`;
  return exponent === 0 ? String(rest) : `${String(rest)}e${String(exponent)}`;
}

const nanoPerMilli = 1_000_000n;

/**
 * The amount with at most three decimals, rounded away from zero; other text as it is. Canonical
 * texts that need no rounding cost one look at their end.
 */
export function roundToMilli(text: string): string {
  if (!/[nu]$|e-/.test(text)) return text;
  const quantity = parseQuantity(text);
  if (quantity === undefined || quantity.nano % nanoPerMilli === 0n) return text;
  const { nano, format } = quantity;
  const rest = nano % nanoPerMilli;
  const away = nano < 0n ? -nanoPerMilli : nanoPerMilli;
  return formatQuantity({ nano: nano - rest + away, format });
}

/** The sum in the format of the first; undefined: none of them is a quantity. */
export function sumQuantities(texts: readonly string[]): string | undefined {
  const amounts = texts.map(parseQuantity).filter((amount) => amount !== undefined);
  const [first] = amounts;
  if (first === undefined) return undefined;
  const nano = amounts.reduce((sum, amount) => sum + amount.nano, 0n);
  return formatQuantity({ nano, format: first.format });
}
