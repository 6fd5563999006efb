// Questions about values that have one answer for built-in kinds and for types from schemas.
import type { TypeInfo, ValueInfo } from './type-info.ts';

/** What an object of a type is where no field says it: at the root. */
export const valueOf = (type: TypeInfo): ValueInfo => ({
  ...plainValue,
  message: type,
  ...(type.open?.schema === undefined ? {} : { schema: type.open.schema }),
});

/** What the elements of a list or map are; undefined: nothing says it, or there are none. */
export function elementOf(value: ValueInfo): ValueInfo | undefined {
  const { cardinality, scalar, message, element, schema } = value;
  if (element !== undefined || schema !== undefined || cardinality === 'single') return element;
  return { ...plainValue, scalar, message };
}

/** What the member `name` of an object or the entry of a map is; undefined: nothing says it. */
export function memberOf(value: ValueInfo, name: string): ValueInfo | undefined {
  const { cardinality, message } = value;
  if (cardinality !== 'single') return cardinality === 'map' ? elementOf(value) : undefined;
  return message?.open?.typeMeta?.get(name) ?? message?.fieldByJsonName.get(name);
}

/** An object or map whose members belong together: it is owned and compared as a whole. */
export const isAtomicMap = ({ cardinality, mapType, message }: ValueInfo): boolean =>
  mapType === 'atomic' || (cardinality === 'single' && message?.options['structure'] === 'atomic');

/** An integer or a text, as JSON has it. */
export const isIntOrString = ({ cardinality, message }: ValueInfo): boolean =>
  cardinality === 'single' && message?.special === 'intOrString';

/** A type with all types that its fields and their elements hold. */
export function typesBelow(root: TypeInfo): ReadonlySet<TypeInfo> {
  const found = new Set([root]);
  // A set's iterator also visits what is added on the way.
  for (const type of found) {
    for (const field of type.fields) {
      for (let value: ValueInfo | undefined = field; value !== undefined; value = value.element) {
        if (value.message !== undefined) found.add(value.message);
      }
    }
  }
  return found;
}

/** A value of which nothing is said. */
export const plainValue: ValueInfo = {
  cardinality: 'single',
  scalar: undefined,
  message: undefined,
  listType: undefined,
  listMapKeys: [],
  mapType: undefined,
};
