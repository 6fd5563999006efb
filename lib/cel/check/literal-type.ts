// The types of literals.
import {
  boolType,
  bytesType,
  doubleType,
  intType,
  nullType,
  stringType,
  uintType,
} from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import { Double, Uint, kindOf } from '../model/value.ts';
import type { Value } from '../model/value.ts';

export function literalType(value: Value): CelType {
  if (value instanceof Double) return doubleType;
  if (value instanceof Uint) return uintType;
  switch (kindOf(value)) {
    case 'bool':
      return boolType;
    case 'int':
      return intType;
    case 'string':
      return stringType;
    case 'bytes':
      return bytesType;
    default:
      return nullType;
  }
}
