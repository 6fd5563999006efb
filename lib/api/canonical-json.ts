// Forms of JSON that do not depend on the order of members: a text to compare by, and the order in
// which failures show values.
import { isObject } from './json-value.ts';
import { newRecord } from './record.ts';
import type { JsonValue } from './type-info.ts';

/** One text for all JSON that is the same, numbers as numbers. */
export function canonicalText(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'undefined';
  const entries = Object.keys(value).sort();
  return `{${entries.map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`).join()}}`;
}

/** The same with the members of objects by name, at every depth. */
export function sortedJson<T extends JsonValue>(value: T): T {
  // The result has the shape of the argument; TypeScript cannot follow that through the branches.
  if (Array.isArray(value)) return value.map((item) => sortedJson(item)) as T;
  if (!isObject(value)) return value;
  const sorted = newRecord();
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) sorted[key] = sortedJson(member);
  }
  return sorted as T;
}
