// The state of one walk over an object: where it is, what it counted, what it found wrong. One
// instance serves all walks (they are synchronous and do not nest), so that the hot path allocates
// nothing of its own.
import { RawJson } from '../api/raw-json.ts';
import { newRecord } from '../api/record.ts';
import type { JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { badRequest } from '../base/status.ts';
import type { StatusError } from '../base/status.ts';
import type { FieldProblem } from './codec.ts';

export type PathSegment = string | number;

export interface WalkMode {
  /** The values came from a parser and belong to the walk: they may be changed in place. */
  readonly owned: boolean;
  /** Unknown fields are reported; otherwise they are dropped without a word. */
  readonly reporting: boolean;
  /**
   * What is stored is shown as far as it can be: malformed members of the metadata of open types
   * are dropped, each as a whole, without a word.
   */
  readonly lenient?: boolean;
  /**
   * A canonical object of the same type, up to the order of members: what the value shares with it
   * is as it should be, and is not looked into.
   */
  readonly base?: JsonValue | undefined;
  /** Raw values that were set aside: the values hold numbers in their places (raw-fields.ts). */
  readonly raws?: readonly JsonValue[] | undefined;
}

export const tooDeep = (): StatusError =>
  badRequest(`the body nests deeper than ${String(limits.bodyDepthMax)} levels`);

export class Walk {
  /** Members of objects seen so far: fewer than the text has means that it held duplicates. */
  members = 0;
  owned = false;
  /** Somebody asks for `members`. */
  counts = false;
  raws: readonly JsonValue[] | undefined = undefined;
  /** What lies at the current path in the base of the walk. */
  base: JsonValue | undefined = undefined;
  depth = 0;
  readonly path: PathSegment[] = [];
  problems: FieldProblem[] = [];
  lenient = false;
  /** Metadata of the embedded object that is being read, and the depth of its path. */
  embedded: { readonly metadata: JsonValue; readonly depth: number } | undefined = undefined;
  #reporting = false;
  #intro = '';

  /** `intro`: what every failure begins with. */
  start(intro: string, mode: WalkMode): void {
    this.members = 0;
    this.depth = 0;
    this.owned = mode.owned;
    this.counts = mode.owned && mode.reporting;
    this.lenient = mode.lenient ?? false;
    this.embedded = undefined;
    this.raws = mode.raws;
    this.base = mode.base;
    this.#reporting = mode.reporting;
    this.#intro = intro;
    this.problems = [];
  }

  /** The value at the current path is not what its field takes. */
  fail(expected: string, value: JsonValue | undefined): never {
    throw this.#failure(`must be ${expected}, not ${nounOf(value)}`);
  }

  /** The text at the current path has the right type, but not the form of its field. */
  failText(expected: string, text: string): never {
    const shown = text.length > 64 ? `${text.slice(0, 64)}…` : text;
    throw this.#failure(`must be ${expected}, not ${JSON.stringify(shown)}`);
  }

  /** As `failText`, for fields whose values may be secret. */
  failHidden(expected: string): never {
    throw this.#failure(`must be ${expected}`);
  }

  /** The value at the current path breaks a rule of validation that is checked while reading. */
  failInvalid(value: JsonValue, detail: string): never {
    throw badRequest(
      `${this.#intro}${this.#pathText()}: Invalid value: ${shown(value)}: ${detail}`,
    );
  }

  unknown(key: string, value: JsonValue | undefined): void {
    if (!this.#reporting) return;
    if (this.owned) this.members += countMembers(value);
    if (this.problems.length >= limits.fieldProblemsMax) return;
    const path = pathText([...this.path.slice(0, this.depth), key]);
    this.problems.push({ kind: 'unknown', path });
  }

  #failure(detail: string): StatusError {
    const { embedded } = this;
    if (embedded === undefined) {
      return badRequest(`${this.#intro}${this.#pathText() || 'it'} ${detail}`);
    }
    const outer = this.#pathText(0, embedded.depth);
    const inner = this.#pathText(embedded.depth) || 'it';
    const value = shown(embedded.metadata);
    return badRequest(`${this.#intro}${outer}: Invalid value: ${value}: ${inner} ${detail}`);
  }

  #pathText(from = 0, to = this.depth): string {
    return pathText(this.path.slice(from, to));
  }
}

/** `spec.containers[0].name`; a text longer than any honest path is cut. */
export function pathText(path: readonly PathSegment[]): string {
  let text = '';
  for (const segment of path) {
    if (text.length > limits.fieldPathLengthMax) break;
    if (typeof segment === 'number') text += `[${String(segment)}]`;
    else text += text === '' ? segment : `.${segment}`;
  }
  return text.length > limits.fieldPathLengthMax
    ? `${text.slice(0, limits.fieldPathLengthMax)}…`
    : text;
}

/** A value as JSON, cut where it is long. */
function shown(value: JsonValue): string {
  const text = stringify(value);
  const { quotedBodyBytesMax: lengthMax } = limits;
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}

const stringify = (value: JsonValue): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? String(member) : member,
  );

function nounOf(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'object':
      return 'an object';
    case 'boolean':
      return 'a boolean';
    case 'string':
      return 'a string';
    default:
      return Number.isInteger(value) ? 'an integer' : 'a number';
  }
}

export function countMembers(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) count += countMembers(element);
    return count;
  }
  for (const key in value) count += 1 + countMembers(value[key]);
  return count;
}

/** A copy whose objects have no prototype: any key is plain data. Raw JSON stays as it is. */
export function toData(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || value instanceof RawJson) return value;
  if (Array.isArray(value)) return value.map(toData);
  const copy = newRecord();
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member !== undefined) copy[key] = toData(member);
  }
  return copy;
}
