// The JSON of field sets (FieldsV1), which are most of an object's small parts. Objects of one
// manager mostly have the same sets: a text is parsed once, and its value is written by that text.
import { limits } from '../base/limits.ts';
import { TextMemo } from '../base/text-memo.ts';
import type { JsonObject, JsonValue } from './type-info.ts';

const { fieldSetsKeptMax: countMax, fieldSetTextLengthMax: lengthMax } = limits;
const values = new TextMemo<JsonObject>({ countMax, lengthMax });
const texts = new WeakMap<JsonObject, string>();

/** Shared: not to be changed. @throws SyntaxError */
export const fieldSetOf = (text: string): JsonObject => values.of(text, parse);

function parse(text: string): JsonObject {
  const value = JSON.parse(text) as JsonObject;
  if (text.length <= lengthMax) texts.set(value, text);
  return value;
}

/** JSON of a field set, found without a look into it where it is shared. */
export const fieldSetText = (value: JsonObject): string => texts.get(value) ?? writtenText(value);

/** Who shares a value froze it, or it came from its text. */
function writtenText(value: JsonObject): string {
  const text = JSON.stringify(value);
  if (Object.isFrozen(value) && text.length <= lengthMax) texts.set(value, text);
  return text;
}

export interface FieldSetsAside {
  /** The text with a number in place of each set: its index in `sets`. */
  readonly text: string;
  readonly sets: readonly JsonObject[];
}

const opening = '"fieldsV1":{';
/** What follows a set in canonical JSON: the end of its entry, and there another one or none. */
const ending = /\}(?=,"subresource":"|\}(?:,\{"|\]))/g;

/**
 * Takes the field sets out of the JSON of an object. Within strings no quote stands without a
 * backslash: what is found lies between them. undefined: there are none, or they are not written as
 * this product writes them.
 */
export function setFieldSetsAside(given: string): FieldSetsAside | undefined {
  let at = given.indexOf(opening);
  if (at === -1) return undefined;
  const sets: JsonObject[] = [];
  let text = '';
  let from = 0;
  for (; at !== -1; at = given.indexOf(opening, from)) {
    const start = at + opening.length - 1;
    ending.lastIndex = start;
    if (!ending.test(given)) return undefined;
    const end = ending.lastIndex;
    text += given.slice(from, start) + String(sets.length);
    try {
      sets.push(fieldSetOf(given.slice(start, end)));
    } catch {
      return undefined;
    }
    from = end;
  }
  return { text: text + given.slice(from), sets };
}

/** Puts them back into a list of managed fields. False: they were not all of this list. */
export function putFieldSetsBack(
  list: JsonValue | undefined,
  sets: readonly JsonObject[],
): boolean {
  if (!Array.isArray(list)) return false;
  let next = 0;
  for (const entry of list as readonly JsonObject[]) {
    if (typeof entry['fieldsV1'] !== 'number') continue;
    if (entry['fieldsV1'] !== next) return false;
    entry['fieldsV1'] = sets[next] ?? null;
    next += 1;
  }
  return next === sets.length;
}
