// Fields that hold raw JSON, by their types: what is done with their text when objects are read and
// written. Kinds without such fields pay one look at their type.
import { endOfValue, isListAt, isObjectAt } from '../api/json-spans.ts';
import { skipSpace, visitElements, visitMembers } from '../api/json-spans.ts';
import { jsonText, RawJson } from '../api/raw-json.ts';
import type { FieldInfo, JsonValue, TypeInfo } from '../api/type-info.ts';
import type { ApiObject } from './codec.ts';

/** The one place that says which types' JSON is kept as it is written. */
const isRaw = (type: TypeInfo): boolean => type.special === 'rawExtension';

const holders = new WeakMap<TypeInfo, boolean>();

/** Whether objects of the type hold raw JSON somewhere. */
export function holdsRaw(type: TypeInfo): boolean {
  const known = holders.get(type);
  if (known !== undefined) return known;
  const found = findsRaw(type);
  holders.set(type, found);
  return found;
}

function findsRaw(type: TypeInfo): boolean {
  const reached = new Set([type]);
  // A set's iterator also visits what is added on the way.
  for (const one of reached) {
    if (isRaw(one)) return true;
    if (one.special !== undefined) continue;
    for (const { message } of one.fields) if (message !== undefined) reached.add(message);
  }
  return false;
}

export interface RawAside {
  /** The text with a number in place of each raw value: its index in `raws`. */
  readonly text: string;
  readonly raws: readonly JsonValue[];
}

/** Takes the raw values of an object out of its JSON, which is valid. */
export function setRawAside(text: string, type: TypeInfo): RawAside {
  const raws: JsonValue[] = [];
  const rest = respelt(text, type, (raw) => String(raws.push(raw) - 1));
  return { text: rest, raws };
}

/** JSON of an object with its raw values spelt as answers show them. */
export const spelledAsSent = (text: string, type: TypeInfo): string =>
  respelt(text, type, (raw) => (raw instanceof RawJson ? raw.sent : 'null'));

type Spell = (raw: JsonValue) => string;

function respelt(text: string, type: TypeInfo, spell: Spell): string {
  const pass: Pass = { text, spell, done: '', from: 0 };
  passValue(pass, type, skipSpace(text, 0));
  return pass.done + text.slice(pass.from);
}

interface Pass {
  readonly text: string;
  readonly spell: Spell;
  /** What has become of the text before `from`. */
  done: string;
  from: number;
}

/** These pass the value that begins at `at` and return its end. */
function passField(pass: Pass, field: FieldInfo, at: number): number {
  const { text } = pass;
  const { message, cardinality } = field;
  if (message === undefined || !holdsRaw(message)) return endOfValue(text, at);
  const passOne = (from: number): number => passValue(pass, message, from);
  if (cardinality === 'single') return passOne(at);
  if (cardinality === 'map' && isObjectAt(text, at)) {
    return visitMembers(text, at, (_key, from) => passOne(from));
  }
  if (cardinality === 'list' && isListAt(text, at)) return visitElements(text, at, passOne);
  return endOfValue(text, at);
}

function passValue(pass: Pass, type: TypeInfo, at: number): number {
  const { text } = pass;
  if (isRaw(type)) return passRaw(pass, at);
  const [only] = type.fields;
  if (type.isNamedList && only !== undefined) return passField(pass, only, at);
  if (!isObjectAt(text, at)) return endOfValue(text, at);
  return visitMembers(text, at, (key, from) => {
    const field = type.fieldByJsonName.get(key);
    return field === undefined ? endOfValue(text, from) : passField(pass, field, from);
  });
}

function passRaw(pass: Pass, at: number): number {
  const to = endOfValue(pass.text, at);
  const raw = RawJson.of(pass.text.slice(at, to));
  if (raw === null) return to;
  pass.done += pass.text.slice(pass.from, at) + pass.spell(raw);
  pass.from = to;
  return to;
}

/** JSON of a value that may hold raw JSON, as answers show it. */
export const sentText = (value: JsonValue | Readonly<ApiObject>): string =>
  jsonText(value, { ...plainly, rawText: (raw) => raw.sent });

/** The same with raw JSON as it was written. */
export const keptText = (value: JsonValue | Readonly<ApiObject>, spelling?: Spelling): string =>
  jsonText(value, {
    ...plainly,
    rawText: (raw) => {
      if (spelling !== undefined && raw.sent !== raw.text) spelling.isAsSent = false;
      return raw.text;
    },
  });

export interface Spelling {
  /** Set to false by text that answers show otherwise. */
  isAsSent: boolean;
}

const plainly = { keysOf: Object.keys, quoted: (text: string): string => JSON.stringify(text) };
