// Equality of any two values. Numbers compare across their types; values of other different types
// are unequal. Schema-typed lists and maps have rules of their own and may answer with an error.
import { CelError, Double, Uint, isError, isList, isMap, isOpaque } from './value.ts';
import type { ListValue, MapValue, ObjectValue, Value } from './value.ts';

/** `left == right`: a boolean or an error value. Null equals only null. */
export function equalValues(left: Value, right: Value): Value {
  if (typeof left === 'string' || typeof left === 'boolean') return left === right;
  if (typeof left === 'number' || typeof left === 'bigint') return equalsInt(left, right);
  if (left === null || right === null) return left === right;
  if (left instanceof Uint8Array) return right instanceof Uint8Array && equalBytes(left, right);
  return equalObjects(left, right);
}

function equalsInt(left: number | bigint, right: Value): boolean {
  if (typeof right === 'number' || typeof right === 'bigint') return left === right;
  if (right instanceof Double) return numbersEqual(left, right.value);
  return right instanceof Uint && BigInt(left) === right.value;
}

/** A whole number is compared with a double as one. */
function numbersEqual(left: number | bigint, right: number): boolean {
  return Number(left) === right;
}

function equalObjects(left: ObjectValue, right: Value): Value {
  switch (left.kind) {
    case 'double':
      return equalsDouble(left.value, right);
    case 'uint':
      if (right instanceof Uint) return left.value === right.value;
      if (right instanceof Double) return numbersEqual(left.value, right.value);
      return (
        (typeof right === 'number' || typeof right === 'bigint') && left.value === BigInt(right)
      );
    case 'list':
      return equalLists(left, right);
    case 'map':
      return equalMaps(left, right);
    case 'error':
      return left;
    default:
      return equalTagged(left, right);
  }
}

function equalsDouble(left: number, right: Value): boolean {
  if (right instanceof Double) return left === right.value;
  if (right instanceof Uint) return numbersEqual(right.value, left);
  return (typeof right === 'number' || typeof right === 'bigint') && numbersEqual(right, left);
}

type Tagged = Exclude<ObjectValue, ListValue | MapValue | Double | Uint | CelError>;

function equalTagged(left: Tagged, right: Value): Value {
  if (typeof right !== 'object' || right === null || right instanceof Uint8Array) return false;
  if (left.kind === 'timestamp') {
    return (
      right.kind === 'timestamp' && left.seconds === right.seconds && left.nanos === right.nanos
    );
  }
  if (left.kind === 'duration') return right.kind === 'duration' && left.nanos === right.nanos;
  if (left.kind === 'type') return right.kind === 'type' && left.name === right.name;
  if (left.kind === 'opaque') {
    return isOpaque(right) && left.typeName === right.typeName && left.equals(right);
  }
  if (right.kind !== 'optional') return false;
  if (left.value === undefined || right.value === undefined) return left.value === right.value;
  return equalValues(left.value, right.value);
}

function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

function equalLists(left: ListValue, right: Value): Value {
  if (left.equals !== undefined) return left.equals(right);
  if (!isList(right)) return left.isTyped === true ? noSuchOverload(right) : false;
  return equalElements(left, right);
}

/** Element by element. For lists wrapped from typed JSON the first error ends the comparison. */
function equalElements(left: ListValue, right: ListValue): Value {
  const size = left.size();
  if (size !== right.size()) return false;
  for (let index = 0; index < size; index++) {
    const equal = equalValues(left.get(index), right.get(index));
    if (equal === false) return false;
    if (isError(equal) && left.isTyped === true) return equal;
  }
  return true;
}

function equalMaps(left: MapValue, right: Value): Value {
  if (left.equals !== undefined) return left.equals(right);
  if (!isMap(right) || (left.typeName ?? 'map') !== (right.typeName ?? 'map')) return false;
  if (left.size() !== right.size()) return false;
  for (const key of left.keys()) {
    const other = right.find(key);
    if (other === undefined) return false;
    if (equalValues(left.find(key) as Value, other) === false) return false;
  }
  return true;
}

/**
 * The error of an operation that its operand's type does not have; an operand that is an error
 * stays that error.
 */
export function noSuchOverload(operand: Value): CelError {
  return isError(operand) ? operand : new CelError('no such overload');
}

/**
 * Whether a list has an element equal to `wanted`: a boolean, or the error of a comparison that
 * failed.
 */
export function listContains(list: ListValue, wanted: Value): Value {
  const size = list.size();
  let failure: CelError | undefined;
  for (let index = 0; index < size; index++) {
    const equal = equalValues(list.get(index), wanted);
    if (equal === true) return true;
    if (failure === undefined && isError(equal)) failure = equal;
  }
  return list.isTyped === true && failure !== undefined ? failure : false;
}
