// Declared types from the descriptions of built-in kinds. Type checks of policies use them: what
// they get wrong only warns, so parts without a fixed shape are of unknown type.
import type { FieldInfo, ScalarType, SpecialForm, TypeInfo } from '../../api/type-info.ts';
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  intType,
  stringType,
  structType,
  timestampType,
} from '../model/cel-type.ts';
import type { DeclaredType } from './declared-type.ts';
import { escapeName } from './escaping.ts';
import {
  dateTimeSize,
  listOf,
  mapOf,
  plainTextMax,
  scalarOf,
  stringSizeMin,
} from './sized-types.ts';

const text = scalarOf(stringType, stringSizeMin, plainTextMax);
const integer = scalarOf(intType, 1);
const time = scalarOf(timestampType, dateTimeSize.min, dateTimeSize.max);
const anything = scalarOf(dynType, 1, plainTextMax);

const scalars: Readonly<Record<ScalarType, DeclaredType>> = {
  string: text,
  int32: integer,
  int64: integer,
  bool: scalarOf(boolType, 4),
  double: scalarOf(doubleType, 1),
  bytes: scalarOf(bytesType, stringSizeMin, plainTextMax),
};

const specials: Readonly<Record<SpecialForm, DeclaredType>> = {
  time,
  microTime: time,
  timestamp: time,
  duration: text,
  quantity: text,
  intOrString: anything,
  rawExtension: anything,
  fieldsV1: anything,
  json: anything,
  schemaOrList: anything,
  schemaOrBool: anything,
  schemaOrStrings: anything,
};

const known = new WeakMap<TypeInfo, DeclaredType>();

/** The type of a built-in kind. */
export function kindType(type: TypeInfo): DeclaredType {
  const found = known.get(type);
  if (found !== undefined) return found;
  const made = messageType(type, type.id, []);
  known.set(type, made);
  return made;
}

/** `around`: the types that hold this one. A type within itself is of unknown type there. */
function messageType(type: TypeInfo, typeName: string, around: readonly TypeInfo[]): DeclaredType {
  if (type.special !== undefined) return specials[type.special];
  if (around.includes(type)) return anything;
  const inner = [...around, type];
  const [only] = type.fields;
  if (type.isNamedList && only !== undefined) return fieldType(only, typeName, inner);
  const fields = new Map<string, DeclaredType>();
  if (type.hasTypeMeta) fields.set('apiVersion', text).set('kind', text);
  for (const [name, field] of type.fieldByJsonName) {
    const escaped = name === '-' ? undefined : escapeName(name);
    if (escaped !== undefined) fields.set(escaped, fieldType(field, typeName, inner));
  }
  return {
    celType: structType(typeName),
    fields,
    element: undefined,
    maxElements: 0,
    minSerializedSize: 2,
  };
}

function fieldType(field: FieldInfo, typeName: string, around: readonly TypeInfo[]): DeclaredType {
  const place = `${typeName}.${field.jsonName}`;
  const one = field.scalar === undefined ? undefined : scalars[field.scalar];
  const value = one ?? (field.message ? messageType(field.message, place, around) : anything);
  switch (field.cardinality) {
    case 'single':
      return value;
    case 'list':
      return listOf(value, undefined);
    case 'map':
      return mapOf(value, undefined);
  }
}
