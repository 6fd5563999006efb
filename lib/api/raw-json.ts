// JSON kept as it was written: fields of the form rawExtension hold it, and patches work on it, so
// that numbers, escapes, the order of members and duplicates stay what a client sent. Whoever needs
// the value parses it; whoever writes JSON, and knows that a value may hold it, writes the text.
import { sortUtf8 } from '../base/utf8-order.ts';
import { replaceLoneSurrogates, scanJson } from './json-scan.ts';
import {
  compacted,
  endOfValue,
  escapeMarkup,
  isListAt,
  isObjectAt,
  skipSpace,
  visitElements,
  visitMembers,
} from './json-spans.ts';
import { parseExact } from './parse-exact.ts';
import { newRecord } from './record.ts';
import type { JsonObject, JsonValue } from './type-info.ts';

/** Never changed, so it may be shared. Its one own member makes equality that of the texts. */
export class RawJson {
  /** Valid JSON. */
  readonly text: string;
  #depth: number | undefined;
  #value: JsonValue | undefined;
  #opened: JsonValue | undefined;
  #sent: string | undefined;

  private constructor(text: string) {
    this.text = text;
  }

  /** `text` is valid JSON. The value is an opaque one of an object; null is null. */
  static of(text: string): JsonValue {
    if (text.trim() === 'null') return null;
    // To those who do not ask what it is, it is an object like any other.
    return new RawJson(text) as unknown as JsonObject;
  }

  /** How deep objects and lists nest in it. */
  get depth(): number {
    this.#depth ??= scanJson(this.text, Infinity).depth;
    return this.#depth;
  }

  /** The text as answers show it: compact, with markup escaped. */
  get sent(): string {
    this.#sent ??= compacted(this.text);
    return this.#sent;
  }

  /** Shared: not to be changed. */
  get value(): JsonValue {
    const parse = /\d{16}/.test(this.text) ? parseExact : JSON.parse;
    this.#value ??= parse(replaceLoneSurrogates(this.text)) as JsonValue;
    return this.#value;
  }

  /** One level of it: what an object or list holds is raw again, but for null. Shared. */
  get opened(): JsonValue {
    this.#opened ??= open(this);
    return this.#opened;
  }

  /** For those who write it without knowing: the value, in which numbers may be spelt otherwise. */
  toJSON(): JsonValue {
    return this.value;
  }
}

function open(raw: RawJson): JsonValue {
  const { text } = raw;
  const start = skipSpace(text, 0);
  const valueAt = (from: number): { to: number; value: JsonValue } => {
    const to = endOfValue(text, from);
    return { to, value: RawJson.of(text.slice(from, to)) };
  };
  if (isObjectAt(text, start)) {
    const members = newRecord();
    visitMembers(text, start, (key, from) => {
      const { to, value } = valueAt(from);
      members[key] = value;
      return to;
    });
    return members;
  }
  if (!isListAt(text, start)) return raw as unknown as JsonObject;
  const elements: JsonValue[] = [];
  visitElements(text, start, (from) => {
    const { to, value } = valueAt(from);
    elements.push(value);
    return to;
  });
  return elements;
}

/** The value with its first level open, if it is raw. Not to be changed. */
export const opened = (value: JsonValue): JsonValue =>
  value instanceof RawJson ? value.opened : value;

/** The value itself, if it is raw. Not to be changed. */
export const parsed = (value: JsonValue): JsonValue =>
  value instanceof RawJson ? value.value : value;

/**
 * Raw JSON of a value that has no text of its own: members in the order of their names' bytes, as
 * Go's encoder writes maps. What is raw in it keeps its text.
 */
export const rawJsonOf = (value: JsonValue): JsonValue =>
  value instanceof RawJson ? value : RawJson.of(sortedText(value));

export const sortedText = (value: JsonValue): string =>
  jsonText(value, { keysOf: (object) => sortUtf8(Object.keys(object)), quoted, rawText });
const quoted = (text: string): string => escapeMarkup(JSON.stringify(text));
const rawText = ({ text }: RawJson): string => text;

export interface JsonWriting {
  readonly keysOf: (object: JsonObject) => readonly string[];
  readonly quoted: (text: string) => string;
  readonly rawText: (raw: RawJson) => string;
}

/** JSON of a value that may hold raw JSON: JSON.stringify takes no text as it is. */
export function jsonText(value: JsonValue, writing: JsonWriting): string {
  if (typeof value === 'string') return writing.quoted(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof RawJson) return writing.rawText(value);
  if (Array.isArray(value)) return `[${value.map((one) => jsonText(one, writing)).join()}]`;
  const members: string[] = [];
  for (const key of writing.keysOf(value)) {
    const member = value[key];
    if (member !== undefined) members.push(`${writing.quoted(key)}:${jsonText(member, writing)}`);
  }
  return `{${members.join()}}`;
}
