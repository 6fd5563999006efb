// Declared types from descriptions of values. Limits that a schema does not state follow from the
// size of a request.
import type { TypeInfo, ValueInfo } from '../../api/type-info.ts';
import { elementOf, valueOf } from '../../api/value-info.ts';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  stringType,
  structType,
  timestampType,
} from '../model/cel-type.ts';
import type { DeclaredType, FieldTypes } from './declared-type.ts';
import { escapeName } from './escaping.ts';
import { membersOf } from './members.ts';
import {
  dateSize,
  dateTimeSize,
  durationSize,
  listOf,
  mapOf,
  plainTextMax,
  scalarOf,
  stringSizeMin,
} from './sized-types.ts';
import { formOf } from './value-form.ts';
import type { ScalarForm, ValueForm } from './value-form.ts';

const kinds = new WeakMap<TypeInfo, DeclaredType>();

/** The type of a kind, objects named after it and their place. Made once. */
export function kindType(type: TypeInfo): DeclaredType {
  const known = kinds.get(type);
  if (known !== undefined) return known;
  const made = declaredType(valueOf(type), type.id) ?? anything;
  kinds.set(type, made);
  return made;
}

/**
 * The type of a value, objects named after `typeName` and their place; undefined: expressions
 * cannot see such values.
 */
export function declaredType(value: ValueInfo, typeName: string): DeclaredType | undefined {
  return typeWithin(value, typeName, []);
}

/** Whether expressions can see the value; tells what `declaredType` would, without making it. */
export function isDeclared(value: ValueInfo): boolean {
  let current: ValueInfo | undefined = value;
  while (current !== undefined) {
    const form = formOf(current);
    if (form.kind === 'opaque') return false;
    if (form.kind === 'scalar' || form.kind === 'object') return true;
    current = elementOf(form.of);
  }
  return false;
}

const anything = scalarOf(dynType, 1, plainTextMax);

/** `around`: the types that hold this one. A type within itself is of unknown type there. */
function typeWithin(
  value: ValueInfo,
  typeName: string,
  around: readonly TypeInfo[],
): DeclaredType | undefined {
  const form = formOf(value);
  switch (form.kind) {
    case 'opaque':
      return undefined;
    case 'scalar':
      return scalarType(form.form, value);
    case 'object': {
      const { type } = form;
      if (around.includes(type)) return anything;
      return objectType(type, typeName, [...around, type]);
    }
    case 'list':
    case 'map': {
      const inner = elementOf(form.of);
      const place = `${typeName}.${form.kind === 'list' ? '@idx' : '@elem'}`;
      return collectionType(form, inner && typeWithin(inner, place, around));
    }
  }
}

/** The type of a list or map of such elements. */
export function collectionType(
  { kind, of }: Extract<ValueForm, { readonly of: ValueInfo }>,
  element: DeclaredType | undefined,
): DeclaredType | undefined {
  if (element === undefined) return undefined;
  return kind === 'list'
    ? listOf(element, of.schema?.maxItems)
    : mapOf(element, of.schema?.maxProperties);
}

function objectType(type: TypeInfo, typeName: string, around: readonly TypeInfo[]): DeclaredType {
  const fields = new Map<string, DeclaredType>();
  let minSerializedSize = objectSizeMin;
  for (const { name, value, isRequired } of membersOf(type)) {
    const escaped = escapeName(name);
    const field = typeWithin(value, `${typeName}.${escaped ?? name}`, around);
    if (field === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, field);
    if (needsRoom(value, isRequired)) minSerializedSize += roomOf(name, field.minSerializedSize);
  }
  return namedType(typeName, fields, minSerializedSize);
}

/** Bytes of an object without members. */
export const objectSizeMin = 2;

/** Whether every object has the member as it was sent. */
export const needsRoom = ({ schema }: ValueInfo, isRequired: boolean): boolean =>
  isRequired && schema?.default === undefined;

/** Bytes that a member adds to its object. */
export const roomOf = (name: string, minSerializedSize: number): number =>
  Buffer.byteLength(name) + minSerializedSize + 4;

export const namedType = (
  typeName: string,
  fields: FieldTypes,
  minSerializedSize: number,
): DeclaredType => ({
  celType: structType(typeName),
  fields,
  element: undefined,
  maxElements: 0,
  minSerializedSize,
});

const fixedTypes = {
  boolean: scalarOf(boolType, 4),
  double: scalarOf(doubleType, 1),
  integer: scalarOf(intType, 1),
  duration: scalarOf(durationType, durationSize.min, durationSize.max),
  date: scalarOf(timestampType, dateSize, dateSize),
  dateTime: scalarOf(timestampType, dateTimeSize.min, dateTimeSize.max),
  any: anything,
} satisfies Partial<Readonly<Record<ScalarForm, DeclaredType>>>;

export function scalarType(form: ScalarForm, { schema }: ValueInfo): DeclaredType {
  switch (form) {
    case 'bytes':
      return scalarOf(bytesType, stringSizeMin, Math.max(schema?.maxLength ?? plainTextMax, 0));
    case 'intOrString':
      return scalarOf(dynType, 1, lengthMax(schema?.maxLength));
    case 'string':
      return scalarOf(stringType, stringSizeMin, textMax(schema));
    default:
      return fixedTypes[form];
  }
}

function textMax(schema: ValueInfo['schema']): number {
  if (schema === undefined || schema.maxLength !== undefined || schema.enum.length === 0) {
    return lengthMax(schema?.maxLength);
  }
  return schema.enum.reduce<number>(
    (most, value) => (typeof value === 'string' ? Math.max(most, Buffer.byteLength(value)) : most),
    0,
  );
}

/** Limits of texts count characters, sizes count bytes: up to four for each. */
const lengthMax = (characters: number | undefined): number =>
  characters === undefined ? plainTextMax : Math.max(characters, 0) * 4;
