// Which values of a field the canonical form of an object leaves out.
import { isEmpty, isZero } from '../api/presence.ts';
import type { FieldInfo, JsonValue } from '../api/type-info.ts';

const never = (): boolean => false;

/**
 * Which values are left out, as they leave the field unset. Kinds with a Protobuf form cannot tell
 * an empty list or map from none, so what is read back never depends on the form an object was
 * stored in.
 */
export function omitRule(field: FieldInfo): (value: JsonValue) => boolean {
  if (field.pointer) return never;
  if (field.cardinality !== 'single' && field.number > 0) return isEmpty;
  if (field.omit === 'never') return never;
  if (field.cardinality === 'single') {
    if (field.message?.isNamedList === true) return isEmpty;
    return field.scalar === undefined ? never : isZero;
  }
  return field.omit === 'zero' ? never : isEmpty;
}
