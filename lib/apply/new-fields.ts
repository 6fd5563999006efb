// The fields that the author of a new object comes to own. Objects of one sort differ in values
// only: a text says in which fields the object differs from an empty one, and finds their set.
import { jsonEqual, ownMember } from '../api/json-value.ts';
import { parsed } from '../api/raw-json.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { TextMemo } from '../base/text-memo.ts';
import { numberOf, textOf } from './all-fields.ts';
import { compare } from './compare.ts';
import { FieldSet } from './field-set.ts';
import { isBlank, memberShape, membersOf, partsOf } from './members.ts';
import type { Value } from './members.ts';
import type { Shape } from './shape.ts';

const known = new TextMemo<FieldSet>({
  countMax: limits.fieldSetsKeptMax,
  lengthMax: limits.fieldSetTextLengthMax,
});

/**
 * What `owned` leaves of the fields in which `object` differs from `empty`, an object whose lists
 * are empty. Both `empty` and `owned` are those of its resource, always the same.
 * @throws UnidentifiedElement
 */
export function newFields(
  empty: Readonly<JsonObject>,
  object: Readonly<JsonObject>,
  shape: Shape,
  owned: (fields: FieldSet) => FieldSet,
): FieldSet {
  const rules = [empty, shape, owned].map(numberOf).join();
  return known.of(`${rules} ${textBeside(empty, object, shape)}`, () => {
    const found = compare(empty, object, shape);
    return found === undefined ? FieldSet.empty : owned(found.changed);
  });
}

/** As `textOf`, and whether what both have is the same: `compare` tells no more of them. */
function textBeside(before: Value, after: JsonValue, shape: Shape): string {
  if (before === undefined) return textOf(after, shape);
  const parts = partsOf(shape, before, after);
  if (parts === undefined || (isBlank(before) && isBlank(after))) {
    return jsonEqual(parsed(before), parsed(after)) ? '=' : '!';
  }
  if (parts.kind !== 'object') return textOf(after, shape);
  const old = membersOf(before);
  const now = membersOf(after);
  if (now === undefined) return '!';
  let text = '<';
  for (const name of Object.keys(now)) {
    const value = now[name];
    const member = memberShape(parts, name);
    if (member === undefined || value === undefined) continue;
    const was = old === undefined ? undefined : ownMember(old, name);
    text += `${String(name.length)}:${name}${textBeside(was, value, member)}`;
  }
  return `${text}>`;
}
