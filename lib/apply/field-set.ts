// Sets of fields of an object, as trees that are never changed: operations share what both sides
// have, and a field that holds no others is the same node everywhere.

export type Children = ReadonlyMap<string, FieldSet>;

const none: Children = new Map();

/**
 * The keys of the tree are the path elements of FieldsV1 (specification 2, managedFields entry);
 * ● is a member:
 *
 *     { f:spec: { f:replicas: ●, f:ports: { k:{"port":80}: ● { f:port: ● } } } }
 */
export class FieldSet {
  static readonly empty = new FieldSet(false, none);
  /** A member that holds no others. */
  static readonly leaf = new FieldSet(true, none);

  /** Whether the field itself is in the set; the children are fields below it. */
  readonly isMember: boolean;
  readonly children: Children;

  private constructor(isMember: boolean, children: Children) {
    this.isMember = isMember;
    this.children = children;
  }

  /** `children` are not empty sets, and belong to the new set. */
  static of(isMember: boolean, children: Children): FieldSet {
    if (children.size > 0) return new FieldSet(isMember, children);
    return isMember ? FieldSet.leaf : FieldSet.empty;
  }

  get isEmpty(): boolean {
    return this === FieldSet.empty;
  }

  /** The same below, and itself a member. */
  get asMember(): FieldSet {
    return this.isMember ? this : FieldSet.of(true, this.children);
  }

  below(element: string): FieldSet {
    return this.children.get(element) ?? FieldSet.empty;
  }
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || right.isEmpty) return left;
  if (left.isEmpty) return right;
  let children: Map<string, FieldSet> | undefined;
  for (const [element, added] of right.children) {
    const known = left.children.get(element);
    const joined = known === undefined ? added : union(known, added);
    if (joined === known) continue;
    children ??= new Map(left.children);
    children.set(element, joined);
  }
  if (children === undefined && (left.isMember || !right.isMember)) return left;
  return FieldSet.of(left.isMember || right.isMember, children ?? left.children);
}

/** All of them, in a time that grows with what they hold. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  let left = sets;
  while (left.length > 1) {
    const pairs: FieldSet[] = [];
    for (let at = 0; at < left.length; at += 2) {
      pairs.push(union(left[at] ?? FieldSet.empty, left[at + 1] ?? FieldSet.empty));
    }
    left = pairs;
  }
  return left[0] ?? FieldSet.empty;
}

/** What is in both. */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  if (right.children.size < left.children.size) return intersection(right, left);
  let children: Map<string, FieldSet> | undefined;
  for (const [element, below] of left.children) {
    const other = right.children.get(element);
    if (other === undefined) continue;
    const both = intersection(below, other);
    if (!both.isEmpty) (children ??= new Map<string, FieldSet>()).set(element, both);
  }
  return FieldSet.of(left.isMember && right.isMember, children ?? none);
}

/** `left` without the members of `right`; what lies below them stays, unless it is named, too. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return subtract(left, right, false);
}

/** `left` without the members of `right` and all that lies below them. */
export function without(left: FieldSet, right: FieldSet): FieldSet {
  return subtract(left, right, true);
}

/** In the paths of `within`: any element. */
export const anyElement = '*';

/** What of `left` lies at or below a member of `paths`, and what holds that. */
export function within(left: FieldSet, paths: FieldSet): FieldSet {
  if (paths.isMember) return left;
  const children = new Map<string, FieldSet>();
  let isAll = true;
  for (const [element, below] of left.children) {
    const next = paths.children.get(element) ?? paths.children.get(anyElement);
    const kept = next === undefined ? FieldSet.empty : within(below, next);
    if (kept !== below) isAll = false;
    if (!kept.isEmpty) children.set(element, kept);
  }
  return isAll ? left : FieldSet.of(left.isMember, children);
}

function subtract(left: FieldSet, right: FieldSet, takesAllBelow: boolean): FieldSet {
  if (left === right || left.isEmpty) return FieldSet.empty;
  if (right.isMember && takesAllBelow) return FieldSet.empty;
  let children: Map<string, FieldSet> | undefined;
  // Many small sets may meet a large one, on either side.
  const fewer = left.children.size < right.children.size ? left.children : right.children;
  for (const element of fewer.keys()) {
    const below = left.children.get(element);
    const gone = right.children.get(element);
    if (below === undefined || gone === undefined) continue;
    const rest = subtract(below, gone, takesAllBelow);
    if (rest === below) continue;
    children ??= new Map(left.children);
    if (rest.isEmpty) children.delete(element);
    else children.set(element, rest);
  }
  if (children === undefined && !(left.isMember && right.isMember)) return left;
  return FieldSet.of(left.isMember && !right.isMember, children ?? left.children);
}

export function isSameSet(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true;
  if (left.isMember !== right.isMember || left.children.size !== right.children.size) return false;
  for (const [element, below] of left.children) {
    const other = right.children.get(element);
    if (other === undefined || !isSameSet(below, other)) return false;
  }
  return true;
}

/** Paths of the members: those of one object before those of the objects in it. */
export function* memberPaths(
  set: FieldSet,
  path: readonly string[] = [],
): Generator<readonly string[]> {
  for (const [element, below] of set.children) if (below.isMember) yield [...path, element];
  for (const [element, below] of set.children) yield* memberPaths(below, [...path, element]);
}

/** The set of some members by their paths. */
export function setOf(...paths: readonly (readonly string[])[]): FieldSet {
  let set = FieldSet.empty;
  for (const path of paths) {
    const one = path.reduceRight(
      (below, element) => FieldSet.of(false, new Map([[element, below]])),
      FieldSet.leaf,
    );
    set = union(set, one);
  }
  return set;
}
