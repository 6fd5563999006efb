// One claim about defaults: an object as a client writes it and all that it gains. For suites.
import type { JsonObject, JsonValue, TypeInfo } from '../../api/type-info.ts';
import type { Defaults } from '../../api/defaults.ts';
import { cloneJson, isObject } from '../../api/json-value.ts';
import { isAbsent } from '../../api/presence.ts';

export interface DefaultCase {
  readonly claim: string;
  /** Type id: `core/v1.Pod`. */
  readonly type: string;
  readonly given: JsonObject;
  /** Every value that is new or changed, by path; `undefined`: it is gone. */
  readonly adds: Readonly<Record<string, JsonValue | undefined>>;
  /** Below these paths anything may be added: other cases say what. */
  readonly except?: readonly string[];
  /** Gates other than their defaults. */
  readonly gates?: Readonly<Record<string, boolean>>;
}

export type Change = readonly [path: string, value: JsonValue | undefined];

/** What completing a canonical object changes. Lists and maps that are new count as one value. */
export function changesOf(object: JsonObject, type: TypeInfo, defaults: Defaults): Change[] {
  const before = cloneJson(object);
  defaults.apply(object, type);
  const changes: Change[] = [];
  compare(before, object, '', changes);
  return changes;
}

function compare(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
  changes: Change[],
): void {
  if (isObject(after) && (isObject(before) || isAbsent(before))) {
    const names = new Set([...Object.keys(isObject(before) ? before : {}), ...Object.keys(after)]);
    if (names.size === 0 && isAbsent(before)) changes.push([path, {}]);
    for (const name of names) {
      const inner = isObject(before) ? before[name] : undefined;
      compare(inner, after[name], memberPath(path, name), changes);
    }
    return;
  }
  if (Array.isArray(after) && Array.isArray(before) && after.length === before.length) {
    for (const [index, element] of after.entries()) {
      compare(before[index], element, `${path}[${String(index)}]`, changes);
    }
    return;
  }
  if (JSON.stringify(before) !== JSON.stringify(after)) changes.push([path, after]);
}

function memberPath(path: string, name: string): string {
  if (/[^\w-]/.test(name)) return `${path}["${name}"]`;
  return path === '' ? name : `${path}.${name}`;
}
