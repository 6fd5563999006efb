// Fields that were stated by an older schema, by the one of today: what was owned part by part and
// is a whole now belongs to whoever owned a part of it (specification 2, Topology change). What was
// a whole and has parts now needs nothing: its owner has the whole and none of the parts.
import { FieldSet } from './field-set.ts';
import { elementShape } from './elements.ts';
import { memberShape } from './members.ts';
import { leafShape } from './shape.ts';
import type { Shape } from './shape.ts';

const fitting = new WeakMap<Shape, WeakSet<FieldSet>>();

export function fittingFields(fields: FieldSet, shape: Shape): FieldSet {
  let known = fitting.get(shape);
  if (known === undefined) fitting.set(shape, (known = new WeakSet()));
  if (known.has(fields)) return fields;
  const fitted = fit(fields, shape);
  known.add(fitted);
  return fitted;
}

function fit(fields: FieldSet, shape: Shape): FieldSet {
  if (fields.children.size === 0 || shape.kind === 'open') return fields;
  if (shape.kind === 'leaf') return FieldSet.leaf;
  let children: Map<string, FieldSet> | undefined;
  for (const [element, below] of fields.children) {
    const part = partShape(shape, element);
    const fitted = part === undefined ? below : fit(below, part);
    if (fitted === below) continue;
    children ??= new Map(fields.children);
    children.set(element, fitted);
  }
  return children === undefined ? fields : FieldSet.of(fields.isMember, children);
}

function partShape(
  shape: Exclude<Shape, { kind: 'leaf' | 'open' }>,
  element: string,
): Shape | undefined {
  if (shape.kind === 'object') return memberShape(shape, element.slice(2));
  return shape.kind === 'set' ? leafShape : elementShape(shape);
}
