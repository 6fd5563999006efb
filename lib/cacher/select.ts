// Selections as predicates and key ranges: what a list walks and what a watcher lets through.
import type { CachedItem } from './item.ts';
import type { PathRange } from './resource-index.ts';
import type { FieldRequirement, ItemKey, Selection } from './resource-view.ts';

export type Predicate = (item: CachedItem) => boolean;

/** Path of a key below its resource's prefix. */
export const pathOf = (key: ItemKey): string =>
  key.namespace === '' ? key.name : `${key.namespace}/${key.name}`;

/** Path of the object that a selection names; undefined: it may be of several. */
export function onePathOf(
  { namespace, name }: Selection,
  { namespaced }: { readonly namespaced: boolean },
): string | undefined {
  if (name === undefined) return undefined;
  if (!namespaced) return name;
  return namespace === undefined ? undefined : pathOf({ namespace, name });
}

/** The selection without the name, where a bucket has checked it. */
export function unnamed(select: Selection): Selection {
  const { name: _name, ...rest } = select;
  return rest;
}

/** The keys that a list looks at: a namespace or all, after a key when given. */
export function rangeOf(select: Selection, after: ItemKey | undefined): PathRange {
  const prefix = select.namespace === undefined ? '' : `${select.namespace}/`;
  // '0' is the character after '/': the end of everything that starts with `namespace/`.
  const end = prefix === '' ? undefined : `${prefix.slice(0, -1)}0`;
  const afterPath = after === undefined ? '' : pathOf(after);
  if (afterPath > prefix) return { start: afterPath, isAfter: true, end };
  return { start: prefix, isAfter: false, end };
}

/**
 * What must hold of an item; undefined: nothing. Where the range or bucket tells the namespace
 * already, it is not checked again.
 */
export function predicateOf(
  select: Selection,
  { checksNamespace }: { readonly checksNamespace: boolean },
): Predicate | undefined {
  const { namespace, name, labels } = select;
  const checks: Predicate[] = [];
  if (namespace !== undefined && checksNamespace)
    checks.push((item) => item.namespace === namespace);
  if (name !== undefined) checks.push((item) => item.name === name);
  for (const requirement of select.fields ?? []) checks.push(fieldCheck(requirement));
  if (labels !== undefined) checks.push((item) => labels(item.labels));
  const [first, second] = checks;
  if (first === undefined) return undefined;
  if (second === undefined) return first;
  return (item) => checks.every((check) => check(item));
}

function fieldCheck({ path, operator, value }: FieldRequirement): Predicate {
  return operator === '='
    ? (item) => item.field(path) === value
    : (item) => item.field(path) !== value;
}

/**
 * Whether the selection has a part that is checked item by item. Such lists do not know how many
 * items follow.
 */
export const isFiltered = (select: Selection): boolean =>
  select.name !== undefined || select.labels !== undefined || (select.fields?.length ?? 0) > 0;
