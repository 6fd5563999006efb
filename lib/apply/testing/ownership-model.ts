// The rules of ownership over flat maps from paths to values: slow, and simple enough to be read
// beside the rules. It shares no code with what it is compared with, and knows nothing of order.
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { identityIn, memberSchema } from './random-values.ts';
import { extension, textOf } from './schemas.ts';

/** Steps of FieldsV1, each behind a NUL, which no name has. */
type Path = string;

interface Node {
  /** Of the value; of what holds others, that it does. */
  readonly text: string;
  /** The schema declares the field by its name. */
  readonly isDeclared: boolean;
}

export type Flat = ReadonlyMap<Path, Node>;

export const pathOf = (steps: readonly string[]): Path => steps.map((step) => `\0${step}`).join('');
const parentOf = (path: Path): Path => path.slice(0, path.lastIndexOf('\0'));
const isBelow = (path: Path, above: Path): boolean => path.startsWith(`${above}\0`);

/** The path with all that lead to it, but for the root. */
function linesOf(path: Path): Path[] {
  const lines: Path[] = [];
  for (let at = path; at !== ''; at = parentOf(at)) lines.push(at);
  return lines;
}

const holdsOthers = '(holds others)';

interface Part {
  readonly step: string;
  readonly value: JsonValue;
  readonly schema: JsonObject;
  readonly isDeclared: boolean;
}

/** undefined: the value is a whole. */
function partsOf(value: JsonValue, schema: JsonObject): readonly Part[] | undefined {
  if (Array.isArray(value)) {
    if (schema[extension('list-type')] === undefined) return undefined;
    const isKeyed = schema[extension('list-type')] === 'map';
    const items = isKeyed ? (schema['items'] as JsonObject) : { type: 'string' };
    return value.map((element) => {
      const step = identityIn(element, schema);
      return { step, value: element, schema: items, isDeclared: false };
    });
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, properties = {} } = schema;
  const holds = type === 'object' || (type === undefined && !schema[extension('int-or-string')]);
  if (!holds || schema[extension('map-type')] === 'atomic') return undefined;
  const isDeclared = (name: string): boolean => Object.hasOwn(properties as JsonObject, name);
  return Object.entries(value).flatMap(([name, member]) => {
    const of = memberSchema(schema, name);
    if (of === undefined || member === undefined) return [];
    return [{ step: `f:${name}`, value: member, schema: of, isDeclared: isDeclared(name) }];
  });
}

export function flatten(value: JsonValue, schema: JsonObject): Flat {
  const flat = new Map<Path, Node>();
  const add = (path: Path, part: Omit<Part, 'step'>): void => {
    const parts = partsOf(part.value, part.schema);
    const { isDeclared } = part;
    if (path !== '') flat.set(path, { text: nodeText(part.value, parts), isDeclared });
    const twins = new Map<string, Part[]>();
    for (const one of parts ?? []) twins.set(one.step, [...(twins.get(one.step) ?? []), one]);
    for (const [step, [first, ...more]] of twins) {
      if (first === undefined) continue;
      const all = [first, ...more].map((one) => one.value);
      const at = path + pathOf([step]);
      if (more.length === 0) add(at, first);
      else flat.set(at, { text: `several ${textOf(all)}`, isDeclared: false });
    }
  };
  add('', { value, schema, isDeclared: false });
  return flat;
}

const nodeText = (value: JsonValue, parts: readonly Part[] | undefined): string =>
  parts === undefined ? textOf(value) : holdsOthers;

/** What differs: fields that came or have another value, and fields that went. */
export function differenceOf(
  before: Flat,
  after: Flat,
): { changed: Set<Path>; removed: Set<Path> } {
  const changed = [...after].filter(([path, { text }]) => before.get(path)?.text !== text);
  const removed = [...before.keys()].filter((path) => !after.has(path));
  return { changed: new Set(changed.map(([path]) => path)), removed: new Set(removed) };
}

/** What a configuration states. */
export function statedIn(configuration: JsonObject, schema: JsonObject): Set<Path> {
  const stated = new Set<Path>();
  const visit = (path: Path, part: Omit<Part, 'step'>): void => {
    const { value, isDeclared } = part;
    const parts = partsOf(value, part.schema);
    const isEmptyObject = !Array.isArray(value) && Object.keys(value ?? {}).length === 0;
    if (path !== '' && (parts === undefined || !isDeclared || isEmptyObject)) stated.add(path);
    for (const one of parts ?? []) visit(path + pathOf([one.step]), one);
  };
  visit('', { value: configuration, schema, isDeclared: false });
  return stated;
}

const nobodys = new Set(
  [['f:apiVersion'], ['f:kind'], ['f:metadata'], ['f:metadata', 'f:name']].map(pathOf),
);

export interface Ownership {
  readonly fields: ReadonlySet<Path>;
  readonly time: string;
}

export interface State {
  readonly flat: Flat;
  readonly owners: ReadonlyMap<string, Ownership>;
}

export interface ModelWrite {
  readonly owner: string;
  readonly time: string;
}

export function modelUpdate({ flat, owners }: State, after: Flat, by: ModelWrite): State {
  const { changed, removed } = differenceOf(flat, after);
  if (changed.size === 0 && removed.size === 0) return { flat, owners };
  const left = new Map<string, Ownership>();
  for (const [owner, { fields, time }] of owners) {
    const kept = [...fields].filter((path) => !changed.has(path) && !removed.has(path));
    if (kept.length > 0) left.set(owner, { fields: new Set(kept), time });
  }
  const taken = [...changed].filter((path) => !nobodys.has(path));
  if (taken.length > 0) {
    const fields = new Set([...(left.get(by.owner)?.fields ?? []), ...taken]);
    left.set(by.owner, { fields, time: by.time });
  }
  return { flat: after, owners: left };
}

export interface ModelApply extends ModelWrite {
  readonly force: boolean;
  readonly configuration: JsonObject;
  readonly schema: JsonObject;
  /** Lists of the object come in another order: it is changed, though no field is. */
  readonly isReordered: boolean;
}

/** Conflicts: `owner path`. */
export function modelApply(state: State, by: ModelApply): State | readonly string[] {
  const stated = statedIn(by.configuration, by.schema);
  const last = state.owners.get(by.owner);
  const others = new Map(state.owners);
  others.delete(by.owner);
  const flat = new Map(state.flat);
  merge(flat, by.configuration, by.schema);
  if (last !== undefined) {
    const owned = [stated, ...[...others.values()].map(({ fields }) => fields)];
    prune(flat, last.fields, new Set(owned.flatMap((fields) => [...fields])));
    // What is stated without members is there, also when it has lost them.
    merge(flat, by.configuration, by.schema);
  }
  const { changed, removed } = differenceOf(state.flat, flat);
  const owners = new Map<string, Ownership>();
  const conflicts: string[] = [];
  for (const [owner, { fields, time }] of others) {
    const kept = [...fields].filter((path) => !changed.has(path) && !removed.has(path));
    for (const path of fields) if (changed.has(path)) conflicts.push(`${owner} ${path}`);
    if (kept.length > 0) owners.set(owner, { fields: new Set(kept), time });
  }
  if (conflicts.length > 0 && !by.force) return conflicts;
  const fields = new Set([...stated].filter((path) => !nobodys.has(path)));
  const isSame = changed.size === 0 && removed.size === 0 && !by.isReordered;
  const isOldNews = isSame && last !== undefined && isEqual(last.fields, fields);
  if (fields.size > 0) owners.set(by.owner, { fields, time: isOldNews ? last.time : by.time });
  return { flat, owners };
}

const isEqual = (one: ReadonlySet<Path>, other: ReadonlySet<Path>): boolean =>
  one.size === other.size && [...one].every((path) => other.has(path));

function cutBelow(flat: Map<Path, Node>, path: Path): void {
  for (const other of [...flat.keys()]) if (isBelow(other, path)) flat.delete(other);
}

/** What is stated comes in the place of what is there. */
function merge(flat: Map<Path, Node>, configuration: JsonObject, schema: JsonObject): void {
  const visit = (path: Path, part: Omit<Part, 'step'>, dropsNull: boolean): void => {
    const { value, isDeclared } = part;
    const parts = partsOf(value, part.schema);
    // Null says nothing of what is there.
    if (value === null && [...flat.keys()].some((other) => isBelow(other, path))) return;
    if (parts === undefined) cutBelow(flat, path);
    if (value === null && dropsNull) flat.delete(path);
    else if (path !== '') flat.set(path, { text: nodeText(value, parts), isDeclared });
    // Entries of what has no schema keep nulls.
    const isFree = (one: Part): boolean => !one.isDeclared && !part.schema['additionalProperties'];
    for (const one of parts ?? []) visit(path + pathOf([one.step]), one, !isFree(one));
  };
  visit('', { value: configuration, schema, isDeclared: false }, false);
}

/**
 * What was stated last and nobody owns goes, with all below. A declared field counts with what is
 * below it, both for who stated it and for who owns it, and goes when it has lost all it held.
 */
function prune(flat: Map<Path, Node>, last: ReadonlySet<Path>, owned: ReadonlySet<Path>): void {
  const withDeclared = (paths: ReadonlySet<Path>): Set<Path> => {
    const lines = [...paths].flatMap((path) => linesOf(parentOf(path)));
    return new Set([...paths, ...lines.filter((path) => flat.get(path)?.isDeclared)]);
  };
  const stated = withDeclared(last);
  const kept = withDeclared(owned);
  const isUnder = (path: Path, paths: ReadonlySet<Path>): boolean =>
    linesOf(path).some((line) => paths.has(line));
  const gone = new Set(
    [...flat.keys()].filter((path) => {
      const lost = linesOf(path).filter((line) => isUnder(line, stated) && !kept.has(line));
      return lost.length > 0 && stated.has(path);
    }),
  );
  const held = new Set([...flat.keys()].map(parentOf));
  for (const path of [...flat.keys()]) if (isUnder(path, gone)) flat.delete(path);
  const holding = new Set([...flat.keys()].map(parentOf));
  for (const [path, { isDeclared }] of [...flat]) {
    if (isDeclared && held.has(path) && !holding.has(path)) flat.delete(path);
  }
}
