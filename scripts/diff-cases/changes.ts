// How cases say what differs from a base object: a change of what is sent, and the difference of
// what came back. Neither touches what it is given.
import { cloneJson } from '../../lib/api/json-value.ts';
import type { JsonObject, JsonValue } from '../../lib/api/type-info.ts';

type Key = string | number;

export type Change =
  | { readonly op: 'many'; readonly sets: readonly Change[] }
  | {
      readonly op: 'set' | 'delete' | 'insert';
      readonly path: readonly Key[];
      readonly value?: JsonValue;
    };

/** `[path, value]` sets, `[path]` removes, `[path, length, 'len']` cuts a list. */
export type Delta = readonly (readonly [path: readonly Key[], value?: JsonValue, cut?: 'len'])[];

type Holder = Record<Key, JsonValue | undefined>;

export function changed(object: JsonValue, change: Change | undefined): JsonValue {
  if (change === undefined) return cloneJson(object);
  if (change.op === 'many') return change.sets.reduce<JsonValue>(changed, object);
  const copy = cloneJson(object);
  const { op, path } = change;
  const [steps, last] = op === 'insert' ? [path, undefined] : [path.slice(0, -1), path.at(-1)];
  let at = copy as Holder;
  for (const step of steps) {
    if (!isHolder(at[step])) {
      if (op === 'delete') return copy;
      at[step] = {};
    }
    at = at[step] as Holder;
  }
  if (last === undefined) {
    if (Array.isArray(at)) at.push(cloneJson(change.value));
  } else if (op === 'delete') remove(at, last);
  else at[last] = cloneJson(change.value);
  return copy;
}

export function applyDelta(object: JsonValue, delta: Delta = []): JsonValue {
  let root = cloneJson(object);
  for (const [path, value, cut] of delta) {
    const last = path.at(-1);
    if (last === undefined && cut === undefined) {
      root = cloneJson(value ?? null);
      continue;
    }
    const steps = cut === undefined ? path.slice(0, -1) : path;
    const at = steps.reduce<Holder>((holder, step) => holder[step] as Holder, root as Holder);
    if (cut !== undefined) (at as unknown as JsonValue[]).length = Number(value);
    else if (value === undefined) Reflect.deleteProperty(at, last ?? '');
    else at[last ?? ''] = cloneJson(value);
  }
  return root;
}

const isHolder = (value: unknown): value is JsonObject | JsonValue[] =>
  typeof value === 'object' && value !== null;

function remove(at: Holder, key: Key): void {
  if (Array.isArray(at)) at.splice(Number(key), 1);
  else Reflect.deleteProperty(at, key);
}
