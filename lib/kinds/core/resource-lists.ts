// Amounts of resources: what a container, a node or a quota may ask for.
import { limits } from '../../base/limits.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { canonicalQuantity, parseQuantity } from '../../api/quantity.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { JsonValue } from '../../api/type-info.ts';
import { TextMemo } from '../../base/text-memo.ts';
import type { Holder } from '../validator.ts';

const nanoPerUnit = 1_000_000_000n;

export const quantityOf = (value: JsonValue | undefined): Quantity | undefined =>
  typeof value === 'string' ? parseQuantity(value) : undefined;

/** Amounts repeat: the few texts in use are read once. */
const knownAmounts = new TextMemo<bigint>({
  countMax: limits.knownAmountsMax,
  lengthMax: limits.knownQuantityLengthMax,
});

/** In billionths of one; 0 for what is no quantity. */
export function nanoOf(value: JsonValue | undefined): bigint {
  return typeof value === 'string' ? knownAmounts.of(value, readNano) : 0n;
}

const readNano = (text: string): bigint => parseQuantity(text)?.nano ?? 0n;

const nanoPerMilli = 1_000_000n;

/** Bytes are whole; of their parts, those below a thousandth are rounded up. */
export function fractionWarnings(amounts: Holder, name: string, path: string): readonly string[] {
  const value = amounts?.[name];
  if (typeof value !== 'string') return [];
  const nano = nanoOf(value);
  const milli = nano / nanoPerMilli + (nano % nanoPerMilli > 0n ? 1n : 0n);
  if (milli % 1000n === 0n) return [];
  const text = JSON.stringify(canonicalQuantity(value) ?? value);
  return [`${path}[${name}]: fractional byte value ${text} is invalid, must be an integer`];
}

/** Never negative; whole where only whole units exist. */
export function validateAmount(
  value: JsonValue,
  path: string,
  errors: FieldErrors,
  isWhole: boolean,
): void {
  const nano = nanoOf(value);
  if (nano < 0n) errors.invalid(path, value, 'must be greater than or equal to 0');
  if (isWhole && nano % nanoPerUnit !== 0n) {
    errors.invalid(path, value, 'must be an integer');
  }
}
