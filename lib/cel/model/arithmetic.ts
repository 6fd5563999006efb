// + - * / % and unary minus: exact 64-bit integers with overflow errors, IEEE doubles, and sums of
// texts, lists and times.
import {
  CelError,
  ConcatList,
  Double,
  Duration,
  Timestamp,
  Uint,
  intMax,
  intMin,
  isList,
  toInt,
  uintMax,
} from './value.ts';
import type { Int, Value } from './value.ts';
import { noSuchOverload } from './equality.ts';
import { addToTimestamp, nanosBetween } from './time.ts';

const intOverflow = new CelError('integer overflow');
const uintOverflow = new CelError('unsigned integer overflow');
const divisionByZero = new CelError('division by zero');
const modulusByZero = new CelError('modulus by zero');

type Operator = '+' | '-' | '*' | '/' | '%';

const isInt = (value: Value): value is Int =>
  typeof value === 'number' || typeof value === 'bigint';

/** `left + right`. */
export function add(left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right;
    return Number.isSafeInteger(sum) ? sum : bigArithmetic('+', left, right);
  }
  if (typeof left === 'string')
    return typeof right === 'string' ? left + right : noSuchOverload(right);
  if (isInt(left)) return isInt(right) ? bigArithmetic('+', left, right) : noSuchOverload(right);
  if (left instanceof Double) {
    return right instanceof Double ? new Double(left.value + right.value) : noSuchOverload(right);
  }
  if (left instanceof Uint8Array) {
    return right instanceof Uint8Array ? concatBytes(left, right) : noSuchOverload(right);
  }
  if (isList(left)) {
    if (left.plus !== undefined) return left.plus(right);
    if (!isList(right)) return noSuchOverload(right);
    if (right.size() === 0) return left;
    if (left.size() === 0) return right;
    return new ConcatList(left, right);
  }
  return addOther(left, right);
}

function addOther(left: Value, right: Value): Value {
  if (left instanceof Uint) {
    return right instanceof Uint ? checkedUint(left.value + right.value) : noSuchOverload(right);
  }
  if (left instanceof Duration) {
    if (right instanceof Duration) return checkedDuration(left.nanos + right.nanos);
    return right instanceof Timestamp ? addToTimestamp(right, left.nanos) : noSuchOverload(right);
  }
  if (left instanceof Timestamp) {
    return right instanceof Duration ? addToTimestamp(left, right.nanos) : noSuchOverload(right);
  }
  return noSuchOverload(left);
}

function concatBytes(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(left.length + right.length);
  bytes.set(left);
  bytes.set(right, left.length);
  return bytes;
}

/** `left - right`. */
export function subtract(left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') {
    const difference = left - right;
    return Number.isSafeInteger(difference) ? difference : bigArithmetic('-', left, right);
  }
  if (left instanceof Timestamp) {
    if (right instanceof Timestamp) return checkedDuration(nanosBetween(left, right));
    return right instanceof Duration ? addToTimestamp(left, -right.nanos) : noSuchOverload(right);
  }
  if (left instanceof Duration) {
    return right instanceof Duration
      ? checkedDuration(left.nanos - right.nanos)
      : noSuchOverload(right);
  }
  return numeric('-', left, right);
}

/** `left * right`. */
export function multiply(left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') {
    const product = left * right;
    // `+ 0` turns -0 into 0: ints have no negative zero.
    return Number.isSafeInteger(product) ? product + 0 : bigArithmetic('*', left, right);
  }
  return numeric('*', left, right);
}

/** `left / right`: ints are cut towards zero. */
export function divide(left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number' && right !== 0) {
    return (left - (left % right)) / right + 0;
  }
  return numeric('/', left, right);
}

/** `left % right`: the sign of the result is the sign of `left`. */
export function modulo(left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number' && right !== 0)
    return (left % right) + 0;
  return numeric('%', left, right);
}

/** `-value`. */
export function negate(value: Value): Value {
  if (typeof value === 'number') return 0 - value;
  if (typeof value === 'bigint') return value === intMin ? intOverflow : toInt(-value);
  if (value instanceof Double) return new Double(-value.value);
  if (value instanceof Duration) return checkedDuration(-value.nanos);
  return noSuchOverload(value);
}

function numeric(operator: Operator, left: Value, right: Value): Value {
  if (isInt(left))
    return isInt(right) ? bigArithmetic(operator, left, right) : noSuchOverload(right);
  if (left instanceof Uint) {
    return right instanceof Uint
      ? uintArithmetic(operator, left.value, right.value)
      : noSuchOverload(right);
  }
  if (left instanceof Double) {
    return right instanceof Double
      ? doubleArithmetic(operator, left.value, right.value)
      : noSuchOverload(right);
  }
  return noSuchOverload(left);
}

function bigArithmetic(operator: Operator, left: Int, right: Int): Value {
  const result = exact(operator, BigInt(left), BigInt(right));
  if (typeof result !== 'bigint') return result;
  return result < intMin || result > intMax ? intOverflow : toInt(result);
}

function uintArithmetic(operator: Operator, left: bigint, right: bigint): Value {
  const result = exact(operator, left, right);
  return typeof result === 'bigint' ? checkedUint(result) : result;
}

function exact(operator: Operator, left: bigint, right: bigint): bigint | CelError {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0n ? divisionByZero : left / right;
    case '%':
      return right === 0n ? modulusByZero : left % right;
  }
}

function doubleArithmetic(operator: Operator, left: number, right: number): Value {
  switch (operator) {
    case '-':
      return new Double(left - right);
    case '*':
      return new Double(left * right);
    case '/':
      return new Double(left / right);
    default:
      return new CelError('no such overload');
  }
}

function checkedUint(value: bigint): Value {
  return value < 0n || value > uintMax ? uintOverflow : new Uint(value);
}

function checkedDuration(nanos: bigint): Value {
  return nanos < intMin || nanos > intMax ? intOverflow : new Duration(nanos);
}
