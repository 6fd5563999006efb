// The contract of conversions that are more than another apiVersion, and their small steps.
// Steps copy what they change and share the rest; absent members stay absent.
import { asRecord, listAt, recordAt, valueAt, valueIn } from './json-access.ts';
import { without } from './json-value.ts';
import { isAbsent, isEmpty } from './presence.ts';
import type { JsonObject, JsonValue } from './type-info.ts';
import type { NamingProfile } from './vendor.ts';

export type Data = Readonly<JsonObject>;

/** Gives the content in the other version; kind and apiVersion are set by the caller. */
export type Conversion = (object: Data, profile: NamingProfile) => JsonObject;

/** By `from type > to type`. */
export type Conversions = Readonly<Record<string, Conversion>>;

export type Step = (object: Data) => JsonObject;

/** Only the members that are set. */
export const compact = (members: Data): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => !isAbsent(value)));

/** `object` with members under other names. */
export function renamed(object: Data, names: Readonly<Record<string, string>>): JsonObject {
  const renames = new Map(Object.entries(names));
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [renames.get(name) ?? name, value]),
  );
}

export const reversed = (names: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(names).map(([from, to]) => [to, from]));

/** `object` with `step` done to the message at a path, when there is one. */
export function within(object: Data, path: readonly string[], step: Step): JsonObject {
  const [name = '', ...rest] = path;
  const below = recordAt(object, name);
  if (below === undefined) return { ...object };
  return { ...object, [name]: rest.length === 0 ? step(below) : within(below, rest, step) };
}

/** `object` with `step` done to every message of a list, when there is one. */
export function eachIn(object: Data, name: string, step: Step): JsonObject {
  if (!Array.isArray(valueAt(object, name))) return { ...object };
  const convert = (element: JsonValue): JsonValue => {
    const record = asRecord(element);
    return record === undefined ? element : step(record);
  };
  return { ...object, [name]: listAt(object, name).map(convert) };
}

/** `object` with changed annotations: an undefined value removes one; an empty map disappears. */
export function annotated(
  object: Data,
  changes: Readonly<Record<string, string | undefined>>,
): JsonObject {
  const metadata = recordAt(object, 'metadata') ?? {};
  const kept = without(recordAt(metadata, 'annotations') ?? {}, ...Object.keys(changes));
  const annotations = { ...kept, ...compact(changes) };
  const rest = without(metadata, 'annotations');
  return { ...object, metadata: isEmpty(annotations) ? rest : { ...rest, annotations } };
}

/** `object` without these annotations; an empty map disappears. */
export const withoutAnnotations = (object: Data, names: readonly string[]): JsonObject =>
  annotated(object, Object.fromEntries(names.map((name) => [name, undefined])));

export function annotationOf(object: Data, name: string): string | undefined {
  const text = valueIn(object, ['metadata', 'annotations', name]);
  return typeof text === 'string' ? text : undefined;
}
