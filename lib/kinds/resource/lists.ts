// Lists and maps whose size is bounded: what is too large is not looked into.
import type { FieldErrors } from '../../api/field-errors.ts';
import { entriesAt, listAt, recordsAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder } from '../validator.ts';

interface Bounded {
  readonly of: Holder;
  readonly name: string;
  /** Of the object that has the member. */
  readonly path: string;
  readonly countMax: number;
}

type Key = string | Readonly<Record<string, string>>;

/** Elements of a list of records, each with its path; `keyOf`: what no two have in common. */
export function eachRecord(
  { of, name, path, countMax }: Bounded,
  errors: FieldErrors,
  rules: {
    readonly validate: (element: JsonObject, path: string) => void;
    readonly keyOf?: (element: JsonObject) => Key;
  },
): void {
  const { length } = listAt(of, name);
  if (length > countMax) {
    errors.tooMany(`${path}.${name}`, length, countMax);
    return;
  }
  const elements = recordsAt(of, name);
  const placeOf = (at: number): string => `${path}.${name}[${String(at)}]`;
  for (const [at, element] of elements.entries()) rules.validate(element, placeOf(at));
  if (rules.keyOf !== undefined) unique(elements.map(rules.keyOf), placeOf, errors);
}

/** Elements of a set of texts. */
export function eachText(
  { of, name, path, countMax }: Bounded,
  errors: FieldErrors,
  validate: (text: string, path: string, errors: FieldErrors) => void,
): void {
  const texts = textsAt(of, name);
  if (texts.length > countMax) {
    errors.tooMany(`${path}.${name}`, texts.length, countMax);
    return;
  }
  const placeOf = (at: number): string => `${path}.${name}[${String(at)}]`;
  for (const [at, text] of texts.entries()) validate(text, placeOf(at), errors);
  unique(texts, placeOf, errors);
}

function unique(keys: readonly Key[], placeOf: (at: number) => string, errors: FieldErrors): void {
  if (keys.length < 2) return;
  const seen = new Set<string>();
  for (const [at, key] of keys.entries()) {
    const text = JSON.stringify(key);
    if (seen.has(text)) errors.duplicate(placeOf(at), key);
    seen.add(text);
  }
}

/** Keys are reported at the map, values at the key, of which the middle may be left out. */
export function eachEntry(
  { of, name, path, countMax }: Bounded,
  errors: FieldErrors,
  rules: {
    readonly keyBytesMax: number;
    readonly validateKey: (key: string, path: string, errors: FieldErrors) => void;
    readonly validate?: (value: JsonObject, path: string) => void;
  },
): void {
  const entries = entriesAt(of, name);
  const where = `${path}.${name}`;
  if (entries.length > countMax) {
    errors.tooMany(where, entries.length, countMax);
    return;
  }
  for (const [key, value] of entries) {
    rules.validateKey(key, where, errors);
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    rules.validate?.(isRecord ? value : {}, `${where}[${shortened(key, rules.keyBytesMax)}]`);
  }
}

const ellipsis = '...';

function shortened(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  const rest = bytesMax - ellipsis.length;
  const first = bytes.subarray(0, Math.ceil(rest / 2)).toString();
  return `${first}${ellipsis}${bytes.subarray(bytes.length - Math.floor(rest / 2)).toString()}`;
}
