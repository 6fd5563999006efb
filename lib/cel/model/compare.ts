// Order of two values of one comparable type; whole numbers are compared with doubles as doubles.
import { Double, Duration, Timestamp, Uint } from './value.ts';
import type { CelError, Value } from './value.ts';
import { noSuchOverload } from './equality.ts';

/**
 * Negative, zero or positive; NaN when a double is not a number; an error when the two have no
 * order.
 */
export function compareValues(left: Value, right: Value): number | CelError {
  if (isNumeric(left))
    return isNumeric(right) ? compareNumbers(left, right) : noSuchOverload(right);
  if (typeof left === 'string') {
    return typeof right === 'string' ? compareStrings(left, right) : noSuchOverload(right);
  }
  if (typeof left === 'boolean') {
    return typeof right === 'boolean' ? Number(left) - Number(right) : noSuchOverload(right);
  }
  if (left instanceof Uint8Array) {
    return right instanceof Uint8Array ? compareBytes(left, right) : noSuchOverload(right);
  }
  if (left instanceof Timestamp) {
    if (!(right instanceof Timestamp)) return noSuchOverload(right);
    return left.seconds - right.seconds || left.nanos - right.nanos;
  }
  if (left instanceof Duration) {
    return right instanceof Duration ? order(left.nanos, right.nanos) : noSuchOverload(right);
  }
  return noSuchOverload(left);
}

type Numeric = number | bigint | Uint | Double;

function isNumeric(value: Value): value is Numeric {
  return (
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    value instanceof Uint ||
    value instanceof Double
  );
}

function compareNumbers(left: Numeric, right: Numeric): number {
  const asDoubles = left instanceof Double || right instanceof Double;
  const first = asDoubles ? doubleOf(left) : wholeOf(left);
  const second = asDoubles ? doubleOf(right) : wholeOf(right);
  if (Number.isNaN(first) || Number.isNaN(second)) return Number.NaN;
  // JavaScript compares bigint with number exactly.
  return first < second ? -1 : first > second ? 1 : 0;
}

const doubleOf = (value: Numeric): number =>
  Number(typeof value === 'object' ? value.value : value);
const wholeOf = (value: Numeric): number | bigint =>
  typeof value === 'object' ? value.value : value;

function order(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Order by code point (equal to the order of the UTF-8 bytes), not by UTF-16 unit. */
function compareStrings(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const first = left.charCodeAt(index);
    const second = right.charCodeAt(index);
    if (first !== second) return aboveSurrogates(first) - aboveSurrogates(second);
  }
  return left.length - right.length;
}

// Units of surrogate pairs stand for code points above U+FFFF: move them above U+E000 to U+FFFF.
function aboveSurrogates(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = (left[index] as number) - (right[index] as number);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
