// Selection and indexing at run time: `value.key` and `value[key]`, with the errors of absent keys
// and wrong indexes.
import {
  CelError,
  Double,
  Uint,
  isError,
  isList,
  isMap,
  kindOf,
  optionalNone,
} from '../model/value.ts';
import type { ListValue, Value } from '../model/value.ts';
import { keyText } from '../model/map-value.ts';
import { formatDouble } from '../model/number-text.ts';
import { typeTextOf } from '../model/value.ts';

/**
 * What is found at `key`: undefined when there is nothing, an error value when `key` cannot be a
 * key.
 */
export function lookUp(container: Value, key: Value): Value | undefined {
  if (isMap(container)) return container.find(key);
  if (isList(container)) return elementAt(container, key);
  if (isError(container)) return container;
  return undefined;
}

/** `container[key]`. */
export function qualify(container: Value, key: Value): Value {
  const found = lookUp(container, key);
  if (found !== undefined) return found;
  return isList(container)
    ? new CelError(`index out of bounds: ${keyText(key)}`)
    : new CelError(`no such key: ${keyText(key)}`);
}

function elementAt(list: ListValue, key: Value): Value | undefined {
  const index = indexOf(key);
  if (typeof index !== 'number') return index;
  return index >= 0 && index < list.size() ? list.get(index) : undefined;
}

/** The index that a value stands for; numbers of all types may. */
function indexOf(key: Value): number | CelError {
  if (typeof key === 'number') return key;
  if (typeof key === 'bigint') return -1;
  if (key instanceof Uint) return Number(key.value);
  if (key instanceof Double) {
    if (Number.isInteger(key.value)) return key.value;
    return new CelError(`unsupported index value ${formatDouble(key.value)} in list`);
  }
  return new CelError(`unsupported index type '${typeTextOf(key)}' in list`);
}

/** Values that may select: others are refused before anything is looked up. */
export function isKey(value: Value): boolean {
  const kind = kindOf(value);
  return (
    kind === 'string' || kind === 'int' || kind === 'uint' || kind === 'bool' || kind === 'double'
  );
}

export const none = optionalNone;
