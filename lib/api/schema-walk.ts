// Walks a value along its schema to the parts that something is to be said of, and nowhere else: a
// schema is searched for them once. Large values are walked in several turns.
import { eachInTurns } from '../base/each-in-turns.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Yielder } from '../base/yielder.ts';
import type { FailureList } from './failure-list.ts';
import { childPath } from './field-errors.ts';
import { isObject, ownMember } from './json-value.ts';
import type { JsonValue, ValueInfo } from './type-info.ts';
import { elementOf, memberOf } from './value-info.ts';

export interface WalkRun {
  readonly errors: FailureList;
  /** undefined: all of it in one turn. */
  readonly pace: Yielder | undefined;
}

/** `path` ends with `[key]` for entries of maps. */
export type Walk = (value: JsonValue, path: string, run: WalkRun) => MaybePromise<void>;

/** What is to be said of one part. */
export interface PartVisit {
  /** Of which values of the schema. */
  has(info: ValueInfo): boolean;
  visit(value: JsonValue, info: ValueInfo, path: string, run: WalkRun): MaybePromise<void>;
}

/** Parts come before what they hold. undefined: the schema has no such part. */
export function walkTo(root: ValueInfo, visit: PartVisit): Walk | undefined {
  const reaching = valuesReaching(root, (info) => visit.has(info));
  return reaching.has(root) ? walkAlong(root, visit, reaching) : undefined;
}

/** `reaching`: the values of the schema that are such a part, or hold one. */
export const walkAlong =
  (root: ValueInfo, visit: PartVisit, reaching: ReadonlySet<ValueInfo>): Walk =>
  (value, path, run) =>
    walk(value, { info: root, path, visit, reaching }, run);

interface Place {
  readonly info: ValueInfo;
  readonly path: string;
  readonly visit: PartVisit;
  readonly reaching: ReadonlySet<ValueInfo>;
}

function walk(value: JsonValue, place: Place, run: WalkRun): MaybePromise<void> {
  const { info, path, visit } = place;
  const own = visit.has(info) ? visit.visit(value, info, path, run) : undefined;
  if (own === undefined) return walkBelow(value, place, run);
  return own.then(() => walkBelow(value, place, run));
}

function walkBelow(value: JsonValue, place: Place, run: WalkRun): MaybePromise<void> {
  const { info, path, reaching } = place;
  if (Array.isArray(value)) {
    const element = info.cardinality === 'map' ? undefined : elementOf(info);
    if (element === undefined || !reaching.has(element)) return undefined;
    const below = { ...place, info: element };
    return eachInTurns(
      value,
      (item, at) => walk(item, { ...below, path: `${path}[${String(at)}]` }, run),
      run.pace,
    );
  }
  if (!isObject(value)) return undefined;
  const isMap = info.cardinality === 'map';
  return eachInTurns(
    Object.keys(value),
    (key) => {
      const member = memberOf(info, key);
      const below = ownMember(value, key);
      if (member === undefined || below === undefined || !reaching.has(member)) return undefined;
      const at = isMap ? `${path}[${key}]` : childPath(path, key);
      return walk(below, { ...place, info: member, path: at }, run);
    },
    run.pace,
  );
}

/**
 * The values of a schema that are wanted, and those that hold one. `isBelowAllOf`: parts of allOf
 * count as what they are about.
 */
export function valuesReaching(
  root: ValueInfo,
  isWanted: (info: ValueInfo) => boolean,
  { isBelowAllOf = false }: { readonly isBelowAllOf?: boolean } = {},
): ReadonlySet<ValueInfo> {
  const found = new Set<ValueInfo>();
  const reaches = (info: ValueInfo): boolean => {
    let isFound = isWanted(info);
    const look = (part: ValueInfo): void => {
      if (reaches(part)) isFound = true;
    };
    // Built-in kinds have their own rules.
    if (info.element !== undefined) look(info.element);
    const { open } = info.message ?? {};
    if (info.cardinality === 'single' && open !== undefined) {
      for (const member of open.typeMeta?.values() ?? []) look(member);
      for (const member of info.message?.fields ?? []) look(member);
    }
    if (isBelowAllOf) for (const part of info.schema?.allOf ?? []) look(part);
    if (isFound) found.add(info);
    return isFound;
  };
  reaches(root);
  return found;
}
