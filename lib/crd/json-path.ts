// The JSONPath of columns: what stands between the braces of a kubectl template. Parsed once;
// values are found step by step, so that no path can cost more than its limit.
import { isObject, ownMember } from '../api/json-value.ts';
import type { JsonValue } from '../api/type-info.ts';
import { comparison } from './json-path-compare.ts';

/**
 * A step maps the values that the steps before have found to those below them:
 *
 *     .spec.items[?(@.on==true)].name  →  field spec, field items, filter, field name
 */
export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' | 'recursive' }
  | { readonly kind: 'slice'; readonly slice: Slice }
  | { readonly kind: 'union'; readonly paths: readonly JsonPath[] }
  | { readonly kind: 'filter'; readonly filter: Filter }
  | { readonly kind: 'value'; readonly value: JsonValue }
  /** A word that is no value: nothing can be found. */
  | { readonly kind: 'unknown' };

export type JsonPath = readonly Step[];

/** undefined: not stated. */
export interface Slice {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly step: number | undefined;
  /** `[i]`: one element. */
  readonly isIndex: boolean;
}

export interface Filter {
  readonly left: JsonPath;
  /** '' asks whether there is something on the left. */
  readonly operator: string;
  readonly right: JsonPath;
}

/** How many values may still be looked at. */
export interface PathBudget {
  steps: number;
}

/** Why a path leads nowhere: it does not fit the object, or its budget is used up. */
class NoResult extends Error {
  override readonly name = 'NoResult';
}

/** undefined: the path does not fit the object. */
export function findValues(
  path: JsonPath,
  value: JsonValue,
  budget: PathBudget,
): readonly JsonValue[] | undefined {
  try {
    return walk([value], path, budget);
  } catch (error) {
    if (error instanceof NoResult) return undefined;
    throw error;
  }
}

function walk(from: readonly JsonValue[], path: JsonPath, budget: PathBudget): JsonValue[] {
  let values = [...from];
  for (const step of path) values = taken(values, step, budget);
  return values;
}

function taken(values: readonly JsonValue[], step: Step, budget: PathBudget): JsonValue[] {
  spend(budget, values.length);
  switch (step.kind) {
    case 'field':
      return membersOf(values, step.name);
    case 'wildcard':
      return values.flatMap((value) => spent(elementsOf(value), budget));
    case 'recursive':
      return values.flatMap((value) => holdersIn(value, budget));
    case 'slice':
      return values.flatMap((value) => spent(slice(value, step.slice), budget));
    case 'union':
      return step.paths.flatMap((path) => walk(values, path, budget));
    case 'filter':
      return values.flatMap((value) => filtered(value, step.filter, budget));
    case 'value':
      return values.map(() => step.value);
    case 'unknown':
      throw new NoResult();
  }
}

function spend(budget: PathBudget, count: number): void {
  budget.steps -= count + 1;
  if (budget.steps < 0) throw new NoResult();
}

function spent(values: readonly JsonValue[], budget: PathBudget): readonly JsonValue[] {
  spend(budget, values.length);
  return values;
}

function membersOf(values: readonly JsonValue[], name: string): JsonValue[] {
  const found: JsonValue[] = [];
  for (const value of values) {
    const member = isObject(value) ? ownMember(value, name) : undefined;
    if (member !== undefined) found.push(member);
  }
  return found;
}

function elementsOf(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return [];
  return Object.values(value).filter((member) => member !== undefined);
}

/** The value and all below it that hold others; texts hold their characters. */
function holdersIn(value: JsonValue, budget: PathBudget): JsonValue[] {
  const found: JsonValue[] = [];
  const left = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const below = elementsOf(next);
    spend(budget, below.length);
    if (below.length === 0 && (typeof next !== 'string' || next === '')) continue;
    found.push(next);
    for (let index = below.length - 1; index >= 0; index -= 1) left.push(below[index] ?? null);
  }
  return found;
}

function slice(value: JsonValue, { from = 0, to, step, isIndex }: Slice): JsonValue[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new NoResult();
  const { length } = value;
  const start = from < 0 ? from + length : from;
  let end = isIndex ? from + 1 : (to ?? length);
  if (end < 0 || (isIndex && end === 0)) end += length;
  if (start === end) return [];
  if (start < 0 || start >= length || end < 0 || end > length || start > end) throw new NoResult();
  if (step === undefined) return value.slice(start, end);
  if (step <= 0) throw new NoResult();
  return value.slice(start, end).filter((_, index) => index % step === 0);
}

function filtered(
  value: JsonValue,
  { left, operator, right }: Filter,
  budget: PathBudget,
): JsonValue[] {
  if (!Array.isArray(value)) throw new NoResult();
  return value.filter((element) => {
    const lefts = operandsOf(element, left, operator === '', budget);
    if (operator === '') return lefts.length > 0;
    const rights = walk([element], right, budget);
    if (lefts.length > 1 || rights.length > 1) throw new NoResult();
    const [one, other] = [lefts[0], rights[0]];
    if (one === undefined || other === undefined) return false;
    const holds = comparison(operator, one, other);
    if (holds === undefined) throw new NoResult();
    return holds;
  });
}

/** What does not fit is not there where only that is asked. */
function operandsOf(
  element: JsonValue,
  path: JsonPath,
  isOptional: boolean,
  budget: PathBudget,
): readonly JsonValue[] {
  if (!isOptional) return walk([element], path, budget);
  return findValues(path, element, budget) ?? [];
}
