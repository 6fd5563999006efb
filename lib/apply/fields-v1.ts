// FieldsV1: the JSON of a field set. A member is an object that is empty or holds `.`; what else it
// holds are fields below. Objects of one manager mostly have the same sets, so one text is read
// once, and what is made for an answer is kept with the set.
import { fieldSetText } from '../api/field-set-json.ts';
import { isObject } from '../api/json-value.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { TextMemo } from '../base/text-memo.ts';
import { FieldSet } from './field-set.ts';
import { canonicalElement } from './path-element.ts';

const known = new TextMemo<FieldSet>({
  countMax: limits.fieldSetsKeptMax,
  lengthMax: limits.fieldSetTextLengthMax,
});
const written = new WeakMap<FieldSet, JsonObject>();

/** undefined: it is none. Equal texts give the same set. */
export function readFieldsV1(value: JsonValue): FieldSet | undefined {
  if (!isObject(value)) return undefined;
  try {
    // The text finds a set that is known without a look at each of its fields.
    return known.of(fieldSetText(value), () => setOf(value, false));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** @throws SyntaxError */
function setOf(fields: JsonObject, canBeLeaf: boolean): FieldSet {
  const children = new Map<string, FieldSet>();
  let isMember = false;
  let isLeaf = canBeLeaf;
  for (const key in fields) {
    isLeaf = false;
    if (key === '.') {
      isMember = true;
      continue;
    }
    const element = canonicalElement(key);
    if (element === undefined) continue;
    const below = fields[key];
    if (!isObject(below)) throw new SyntaxError(`${key} must hold an object`);
    const set = setOf(below, true);
    if (!set.isEmpty) children.set(element, set);
  }
  return FieldSet.of(isMember || isLeaf, children);
}

/** Shared: not to be changed. */
export const writeFieldsV1 = (set: FieldSet): JsonObject => fieldsOf(set, false);

/** Of a set that is a member where it stands and holds others. */
const writtenInside = new WeakMap<FieldSet, JsonObject>();

function fieldsOf(set: FieldSet, isInner: boolean): JsonObject {
  const known = isInner ? writtenInside : written;
  let fields = known.get(set);
  if (fields === undefined) known.set(set, (fields = newFieldsOf(set, isInner)));
  return fields;
}

/** Names of users stand behind `f:`: none can be a name that means more to an object. */
function newFieldsOf({ children }: FieldSet, isInner: boolean): JsonObject {
  const fields: JsonObject = isInner ? { '.': leaf } : {};
  // One order, so that equal sets are equal texts.
  for (const element of [...children.keys()].sort()) {
    const set = children.get(element) ?? FieldSet.leaf;
    fields[element] =
      set === FieldSet.leaf ? leaf : fieldsOf(set, set.isMember && set.children.size > 0);
  }
  return Object.freeze(fields);
}

const leaf: JsonObject = Object.freeze({});
