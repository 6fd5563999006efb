// Code for list, map and object literals, with their optional entries.
import type { ObjectTypes } from '../model/declarations.ts';
import type { StructField } from '../model/ast.ts';
import type { Code } from './frame.ts';
import { HashMap, keyText } from '../model/map-value.ts';
import { ArrayList, CelError, OptionalValue, isError, typeNameOf } from '../model/value.ts';
import type { Value } from '../model/value.ts';

export function listCode(elements: readonly Code[], optionals: readonly number[]): Code {
  return (frame) => {
    const items: Value[] = [];
    for (let index = 0; index < elements.length; index++) {
      const value = (elements[index] as Code)(frame);
      if (isError(value)) return value;
      if (!optionals.includes(index)) {
        items.push(value);
      } else if (!(value instanceof OptionalValue)) {
        return new CelError(
          `cannot initialize optional list element from non-optional value ${typeNameOf(value)}`,
        );
      } else if (value.value !== undefined) {
        items.push(value.value);
      }
    }
    return new ArrayList(items);
  };
}

export function mapCode(
  entries: readonly { readonly key: Code; readonly value: Code; readonly isOptional: boolean }[],
): Code {
  return (frame) => {
    const map = new HashMap();
    for (const entry of entries) {
      const key = entry.key(frame);
      if (isError(key)) return key;
      const value = entry.value(frame);
      if (isError(value)) return value;
      const present = entry.isOptional ? presentValue(keyText(key), value) : value;
      if (present === undefined) map.delete(key);
      else if (isError(present)) return present;
      else if (!map.set(key, present))
        return new CelError(`unsupported key type: ${typeNameOf(key)}`);
    }
    return map;
  };
}

/** What an optional entry holds; undefined: it is left out. */
function presentValue(name: string, value: Value): Value | undefined {
  if (value instanceof OptionalValue) return value.value;
  return new CelError(
    `cannot initialize optional entry '${name}' from non-optional value ${typeNameOf(value)}`,
  );
}

export function structCode(
  fields: readonly StructField[],
  values: readonly Code[],
  typeName: string,
  objects: ObjectTypes,
): Code {
  return (frame) => {
    const given = new Map<string, Value>();
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index] as StructField;
      const value = (values[index] as Code)(frame);
      if (isError(value)) return value;
      const present = field.optional ? presentValue(field.name, value) : value;
      if (present === undefined) given.delete(field.name);
      else if (isError(present)) return present;
      else given.set(field.name, present);
    }
    return objects.create?.(typeName, given) ?? new CelError(`unknown type '${typeName}'`);
  };
}
