// The contract of conversions that are more than another apiVersion, and their small steps.
// Steps copy what they change and share the rest; absent members stay absent.
import { asRecord, isSet, recordAt } from './json-access.ts';
import type { JsonObject, JsonValue } from './type-info.ts';
import type { NamingProfile } from './vendor.ts';

export type Data = Readonly<JsonObject>;

/** Gives the content in the other version; kind and apiVersion are set by the caller. */
export type Conversion = (object: Data, profile: NamingProfile) => JsonObject;

/** By `from type > to type`. */
export type Conversions = Readonly<Record<string, Conversion>>;

export type Step = (object: Data) => JsonObject;

/** `object` without the named members. */
export const without = (object: Data, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

/** Only the members that are set. */
export const compact = (members: Data): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  );

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
  const list = Object.hasOwn(object, name) ? object[name] : undefined;
  if (!Array.isArray(list)) return { ...object };
  const convert = (element: JsonValue): JsonValue => {
    const record = asRecord(element);
    return record === undefined ? element : step(record);
  };
  return { ...object, [name]: list.map(convert) };
}

/** Set, and not the zero value that a field without tracked presence has. */
export const hasValue = (of: Data, name: string): boolean =>
  isSet(of, name) && of[name] !== '' && of[name] !== 0 && of[name] !== false;

/** `object` with changed annotations: an undefined value removes one; an empty map disappears. */
export function annotated(
  object: Data,
  changes: Readonly<Record<string, string | undefined>>,
): JsonObject {
  const metadata = recordAt(object, 'metadata') ?? {};
  const kept = without(recordAt(metadata, 'annotations') ?? {}, ...Object.keys(changes));
  const annotations = { ...kept, ...compact(changes) };
  const rest = without(metadata, 'annotations');
  const isEmpty = Object.keys(annotations).length === 0;
  return { ...object, metadata: isEmpty ? rest : { ...rest, annotations } };
}

export function annotationOf(object: Data, name: string): string | undefined {
  const value = recordAt(recordAt(object, 'metadata'), 'annotations');
  const text = value !== undefined && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof text === 'string' ? text : undefined;
}
