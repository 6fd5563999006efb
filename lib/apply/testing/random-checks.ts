// What holds for any sets of fields and any values, over random ones: laws of sets against sets of
// paths, FieldsV1, comparing and merging. Each check gives what is wrong, or undefined.
import { cloneJson, jsonEqual } from '../../api/json-value.ts';
import { typeOf } from '../../api/testing/schema-types.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { Random } from '../../../scripts/fuzz/random.ts';
import { appliedFields } from '../applied-fields.ts';
import { compare } from '../compare.ts';
import { UnidentifiedElement } from '../elements.ts';
import { difference, intersection, isSameSet, memberPaths, setOf } from '../field-set.ts';
import type { FieldSet } from '../field-set.ts';
import { union, without } from '../field-set.ts';
import { readFieldsV1, writeFieldsV1 } from '../fields-v1.ts';
import { mergeApplied } from '../merge-applied.ts';
import { keyElement, keyLabel, keyText, valueElement } from '../path-element.ts';
import { shapeOf } from '../shape.ts';
import type { Shape } from '../shape.ts';
import { differenceOf, flatten, pathOf } from './ownership-model.ts';
import { frozen, withPrototypes } from './random-history.ts';
import { RandomValues } from './random-values.ts';
import { textOf } from './schemas.ts';

type Finding = string | undefined;

const steps = [
  ...['a', 'b', '__proto__', 'constructor', '', '.', 'f:x', 'ü😀'].map((name) => `f:${name}`),
  keyElement(keyText(keyLabel('__proto__'), 'x')),
  keyElement(`${keyText(keyLabel('a'), 9007199254740993n)},${keyText(keyLabel('b'), true)}`),
  valueElement('k:{}'),
  valueElement(9007199254740993n),
  'i:3',
];

/** Two sets that share some of their paths, and parts of their trees. */
function randomSets(random: Random): readonly (readonly string[])[][] {
  const path = (): string[] =>
    Array.from({ length: 1 + random.below(3) }, () =>
      random.of(steps.slice(0, 8 + random.below(6))),
    );
  const shared = Array.from({ length: random.below(4) }, path);
  return [0, 1].map(() => [...shared, ...Array.from({ length: random.below(5) }, path)]);
}

export function findInSets(seed: number): Finding {
  const [ofLeft = [], ofRight = []] = randomSets(new Random(seed));
  const [left, right] = [setOf(...ofLeft), setOf(...ofRight)];
  const [one, other] = [ofLeft, ofRight].map((paths) => new Set(paths.map(pathOf)));
  if (one === undefined || other === undefined) return undefined;
  const isUnder = (path: string): boolean =>
    [...other].some((above) => path === above || path.startsWith(`${above}\0`));
  const cases: readonly (readonly [name: string, set: FieldSet, paths: ReadonlySet<string>])[] = [
    ['left', left, one],
    ['union', union(left, right), one.union(other)],
    ['intersection', intersection(left, right), one.intersection(other)],
    ['difference', difference(left, right), one.difference(other)],
    ['without', without(left, right), new Set([...one].filter((path) => !isUnder(path)))],
  ];
  for (const [name, set, paths] of cases) {
    const found = new Set([...memberPaths(set)].map(pathOf));
    if (!isSame(found, paths)) return `${name}: ${told(found)} instead of ${told(paths)}`;
    if (hasEmptyNodes(set)) return `${name}: holds an empty set`;
    const finding = sharing(name, set, [left, right]) ?? inJson(name, set);
    if (finding !== undefined) return finding;
  }
  if (isSameSet(left, right) !== isSame(one, other)) return 'isSameSet is wrong';
  const rest = union(difference(left, right), intersection(left, right));
  return isSameSet(rest, left) ? undefined : 'difference and intersection are not the whole';
}

const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && one.isSubsetOf(other);
const told = (paths: ReadonlySet<string>): string => JSON.stringify([...paths].sort());

function hasEmptyNodes(set: FieldSet): boolean {
  return [...set.children.values()].some((below) => below.isEmpty || hasEmptyNodes(below));
}

/** What is the same as the left argument is that argument; without members it is the empty set. */
function sharing(name: string, set: FieldSet, [left]: readonly FieldSet[]): Finding {
  if ([...memberPaths(set)].length === 0 && !set.isEmpty) return `${name}: empty, and another set`;
  const mayBeNew = name === 'intersection';
  if (left === undefined || mayBeNew || !isSameSet(set, left) || set === left) return undefined;
  return `${name}: the same as the left one, and another set`;
}

function inJson(name: string, set: FieldSet): Finding {
  const text = JSON.stringify(writeFieldsV1(set));
  const again = readFieldsV1(JSON.parse(text) as JsonValue);
  if (again === undefined || !isSameSet(again, set)) return `${name}: ${text} is read otherwise`;
  return JSON.stringify(writeFieldsV1(again)) === text ? undefined : `${name}: written otherwise`;
}

const varied = { absentShare: 10, freshShare: 20, nullShare: 2, twinShare: 5 };
const stated = { ...varied, twinShare: 0 };

/** Values of one schema: what differs, and what merging makes of them. */
export function findInValues(seed: number, depth: number): Finding {
  const random = new Random(seed);
  const values = new RandomValues(random);
  const schema = values.resourceSchema(depth);
  const shape = shapeOf(typeOf(schema));
  const before = frozen(values.value(schema) as JsonObject);
  const after = frozen(withPrototypes(values.variedObject(before, schema, varied)));
  const finding = comparing(shape, { before, after, schema });
  if (finding !== undefined)
    return `${finding}\n  ${[schema, before, after].map(textOf).join('\n  ')}`;
  const applied = frozen(values.variedObject(before, schema, stated));
  const merged = frozen(mergeApplied(before, applied, shape) ?? null);
  const again = mergeApplied(merged, applied, shape);
  const texts = [schema, before, applied, merged].map(textOf).join('\n  ');
  if (!jsonEqual(merged, again)) return `merged twice is ${textOf(again)}\n  ${texts}`;
  if (!jsonEqual(mergeApplied(before, before, shape), before) && !texts.includes('null')) {
    return `merged with itself it is another\n  ${texts}`;
  }
  const kept = flatten(merged, schema);
  const lost = [...flatten(applied, schema)].find(
    ([path, { text }]) => text !== 'null' && kept.get(path)?.text !== text,
  )?.[0];
  return lost === undefined ? undefined : `${lost} is another than what is applied\n  ${texts}`;
}

function comparing(
  shape: Shape,
  { before, after, schema }: Readonly<Record<'before' | 'after' | 'schema', JsonObject>>,
): Finding {
  const found = compare(before, after, shape);
  const [old, now] = [before, after].map((value) => flatten(value, schema));
  if (old === undefined || now === undefined) return undefined;
  // Null and an object or list are two forms of one declared field, which the model keeps apart.
  if (`${textOf(before)}${textOf(after)}`.includes('null')) return undefined;
  const { changed, removed } = differenceOf(old, now);
  if (found === undefined) return changed.size + removed.size === 0 ? undefined : 'nothing differs';
  for (const [name, set, paths] of [
    ['changed', found.changed, changed],
    ['removed', found.removed, removed],
  ] as const) {
    const members = new Set([...memberPaths(set)].map(pathOf));
    // What gives way to several with one identity, or comes in their place, is in both.
    const more = members.difference(paths);
    const areSeveral = (path: string): boolean =>
      [old, now].some((flat) => flat.get(path)?.text.startsWith('several') === true);
    const isBoth = [...more].every(areSeveral);
    if (!paths.isSubsetOf(members) || !isBoth)
      return `${name}: ${told(members)}, not ${told(paths)}`;
  }
  return undefined;
}

/** Values of another schema than theirs are taken, or have no identity; nothing is changed. */
export function findInMistyped(seed: number, depth: number): Finding {
  const random = new Random(seed);
  const values = new RandomValues(random);
  const schema = values.resourceSchema(depth);
  const shape = shapeOf(typeOf(schema));
  const names = Object.keys(schema['properties'] as JsonObject);
  const [one, other] = [0, 1].map(() => {
    const value = cloneJson(values.value(schema)) as JsonObject;
    for (const name of names) if (random.below(2) === 0) value[name] = values.any();
    return frozen(value);
  });
  if (one === undefined || other === undefined) return undefined;
  try {
    if (compare(one, cloneJson(one), shape) !== undefined) return 'differs from its copy';
    const fields = appliedFields(other, shape);
    const merged = mergeApplied(one, other, shape) ?? null;
    const again = mergeApplied(frozen(merged), other, shape);
    if (!jsonEqual(again, merged)) return `merged twice is ${textOf(again)}, not ${textOf(merged)}`;
    return fields.isMember ? 'the root is a field' : undefined;
  } catch (error) {
    if (error instanceof UnidentifiedElement) return undefined;
    throw error;
  }
}
