// Who owns what after a write: the rules of specification 2, Field ownership, over one object in
// the version of its request. Fields that were stated in another version are compared in that one.
// Pure: the object and its owners are given, new ones are returned.
import { jsonEqual } from '../api/json-value.ts';
import type { JsonObject } from '../api/type-info.ts';
import { invariant } from '../base/invariant.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { limits } from '../base/limits.ts';
import { isLongTurn, nextTurn } from '../base/turn.ts';
import { appliedFields } from './applied-fields.ts';
import { compare } from './compare.ts';
import type { Difference } from './compare.ts';
import {
  FieldSet,
  difference,
  intersection,
  isSameSet,
  memberPaths,
  setOf,
  union,
  unionOf,
} from './field-set.ts';
import { fittingFields } from './fitting-fields.ts';
import { capped, ownerIdentity } from './owners.ts';
import type { Entry, Owners, Writer } from './owners.ts';
import { mergeApplied } from './merge-applied.ts';
import { newFields } from './new-fields.ts';
import { dropStated, removeFields, restoreOwned } from './prune.ts';
import type { Shape } from './shape.ts';

/** The versions of a kind. */
export interface ObjectVersions {
  /** That of the request: the objects that are given have it. */
  readonly apiVersion: string;
  /** undefined: the version is gone, with all that was said in it. */
  shapeIn(apiVersion: string): Shape | undefined;
  /** Canonical, in another version, which has a shape. */
  to(object: Readonly<JsonObject>, apiVersion: string): MaybePromise<Readonly<JsonObject>>;
}

/** What the rules need to know of a write, but for the owners before it. */
export interface Writing {
  readonly writer: Writer;
  readonly versions: ObjectVersions;
  /** Those of the fields that it states which it can set: nobody comes to own the others. */
  readonly settable: (fields: FieldSet) => FieldSet;
  /** Members of the object in which it can set nothing. */
  readonly unsettable?: ReadonlySet<string> | undefined;
  readonly time: string;
}

export interface Write extends Writing {
  readonly owners: Owners;
}

/** A field that an applier would take from another manager. */
export interface Conflict {
  readonly owner: Entry;
  readonly path: readonly string[];
}

const { writeTurnMsMax } = limits;

/** Part of every object, and nobody's. */
const nobodys: FieldSet = setOf(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
);

/**
 * The owners after a write that is no apply; undefined: as they were. It takes what it changes,
 * from whoever has it. Where nothing changes the owners before it are not asked for.
 * @throws UnidentifiedElement
 */
export function ownUpdate(
  change: Change,
  write: Writing,
  ownersBefore: () => Owners,
): MaybePromise<Owners | undefined> {
  const { apiVersion } = write.versions;
  const shape = shapeIn(apiVersion, write.versions);
  if (change.isNew === true && ownersBefore().size === 0) return ownNew(change, shape, write);
  const found = differenceOf(change, shape, write);
  if (found === undefined) return undefined;
  const known = { ...write, owners: fittingOwners(ownersBefore(), write.versions) };
  const identity = ownerIdentity(write.writer);
  return whenThere(differencesOf(change, known, found), (differences) => {
    const others = ownersAfter(differences, known.owners, identity).owners;
    return withUpdate(others, found, identity, write);
  });
}

/** The same where nobody owns anything yet. */
function ownNew({ before, after }: Change, shape: Shape, write: Writing): Owners | undefined {
  const { writer, time } = write;
  const fields = newFields(before, after, shape, ownableBy(write.settable));
  if (fields.isEmpty) return undefined;
  return new Map([[ownerIdentity(writer), { ...writer, time, fields }]]);
}

type Narrow = Write['settable'];
const ownable = new WeakMap<Narrow, Narrow>();

/** Of those that it can set, the ones that are not nobody's. */
function ownableBy(settable: Narrow): Narrow {
  let narrow = ownable.get(settable);
  if (narrow === undefined) {
    narrow = (fields) => difference(settable(fields), nobodys);
    ownable.set(settable, narrow);
  }
  return narrow;
}

/** Who changes the same fields again has the same set of them: nothing is made anew of it. */
function withUpdate(
  owners: Map<string, Entry>,
  { changed, removed }: Difference,
  identity: string,
  { writer, time }: Writing,
): Owners {
  const taken = difference(changed, nobodys);
  const known = owners.get(identity);
  const lost = taken === changed ? removed : union(removed, difference(changed, taken));
  const left = difference(known?.fields ?? FieldSet.empty, lost);
  const fields = union(left, taken);
  if (fields.isEmpty) owners.delete(identity);
  else if (!taken.isEmpty) owners.set(identity, { ...writer, time, fields });
  else if (known !== undefined) owners.set(identity, { ...known, fields });
  return capped(owners);
}

export interface Applied {
  /** As it was given where the configuration changes nothing; it may share parts with it. */
  readonly object: Readonly<JsonObject>;
  readonly owners: Owners;
}

export interface ApplyWrite extends Write {
  /** Takes what others own. */
  readonly force: boolean;
  /** The form in which the schema has an object that was put together from parts. */
  canonical(object: JsonObject): JsonObject;
}

/**
 * The object with what the configuration states, and without what its manager stated before and
 * nobody else owns; or the fields that others own with another value.
 * @throws UnidentifiedElement
 */
export async function applyConfiguration(
  live: Readonly<JsonObject>,
  configuration: Readonly<JsonObject>,
  write: ApplyWrite,
): Promise<Applied | readonly Conflict[]> {
  const { writer, versions, time } = write;
  const shape = shapeIn(versions.apiVersion, versions);
  const identity = ownerIdentity(writer);
  const known = fittingOwners(write.owners, versions);
  const last = known.get(identity);
  const stated = write.settable(appliedFields(configuration, shape));
  // What is nobody's, too, keeps what holds it in the object.
  const owners = new Map(known).set(identity, { ...writer, time: last?.time, fields: stated });
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const merged = mergeApplied(live, configuration, shape) as JsonObject;
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const fields = difference(stated, nobodys);
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const isRepeated = last?.apiVersion === versions.apiVersion && isSameSet(last.fields, fields);
  const left = isRepeated ? merged : await prune(merged, last, { ...write, owners });
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  let object = left === live ? live : write.canonical(left);
  if (left !== merged) {
    // What lost all it held is stated again where it is stated without members.
    object = write.canonical(mergeApplied(object, configuration, shape) as JsonObject);
  }
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const change = { before: live, after: object };
  const here = object === live ? undefined : differenceOf(change, shape, write);
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const differences = await differencesOf(change, { ...write, owners }, here);
  const others = ownersAfter(differences, owners, identity);
  if (!write.force && others.losses.length > 0) return others.losses.flatMap(conflictsOf);
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const isSame = object === live || jsonEqual(object, live);
  const isOldNews = isSame && isRepeated;
  const result = others.owners;
  if (fields.isEmpty) result.delete(identity);
  else if (isOldNews) result.set(identity, last);
  else result.set(identity, { ...writer, time, fields: isRepeated ? last.fields : fields });
  return { object: isSame ? live : object, owners: result };
}

/** What `last` stated and nobody owns is dropped. */
async function prune(
  merged: JsonObject,
  last: Entry | undefined,
  write: Write,
): Promise<JsonObject> {
  const { owners, versions } = write;
  if (last === undefined) return merged;
  const { apiVersion } = last;
  const stated = write.settable(last.fields);
  const owned = ownedByVersion(owners);
  // What converts an object may ask for its name.
  const here = union(owned.get(apiVersion) ?? FieldSet.empty, nobodys);
  const shape = versions.shapeIn(apiVersion);
  if (shape === undefined || difference(stated, here).isEmpty) return merged;
  const whole = await inVersion(apiVersion, merged, versions);
  let left = restoreOwned(whole, removeFields(whole, stated, shape), here, shape);
  for (const [version, fields] of owned) {
    const other = versions.shapeIn(version);
    if (version === apiVersion || other === undefined) continue;
    const all = await inVersion(version, merged, versions);
    const some = await versions.to(left as JsonObject, version);
    const kept = restoreOwned(all, some, fields, other);
    left = await versions.to(kept as JsonObject, apiVersion);
  }
  const result = dropStated(whole, left, stated, shape) as JsonObject;
  // A way through another version may bring lists back in another order.
  if (jsonEqual(result, whole)) return merged;
  return apiVersion === versions.apiVersion
    ? result
    : await versions.to(result, versions.apiVersion);
}

function ownedByVersion(owners: Owners): ReadonlyMap<string, FieldSet> {
  const owned = new Map<string, FieldSet[]>();
  for (const { apiVersion, fields } of owners.values()) {
    const known = owned.get(apiVersion);
    if (known === undefined) owned.set(apiVersion, [fields]);
    else known.push(fields);
  }
  return new Map([...owned].map(([apiVersion, sets]) => [apiVersion, unionOf(sets)]));
}

/** Those whose versions there are still, with fields that fit today's schema. */
function fittingOwners(owners: Owners, versions: ObjectVersions): Owners {
  const fitting = new Map<string, Entry>();
  for (const [identity, entry] of owners) {
    const shape = versions.shapeIn(entry.apiVersion);
    if (shape === undefined) continue;
    const fields = fittingFields(entry.fields, shape);
    fitting.set(identity, fields === entry.fields ? entry : { ...entry, fields });
  }
  return fitting;
}

export interface Change {
  readonly before: Readonly<JsonObject>;
  readonly after: Readonly<JsonObject>;
  /** `before` stands for nothing: it is the empty object of its resource, always the same. */
  readonly isNew?: boolean;
}

/** What a change is in each version; undefined: nothing. */
type Differences = ReadonlyMap<string, Difference | undefined>;

interface Loss {
  readonly owner: Entry;
  /** What it has, and another one changes. */
  readonly fields: FieldSet;
}

const conflictsOf = ({ owner, fields }: Loss): Conflict[] =>
  Array.from(memberPaths(fields), (path) => ({ owner, path }));

/** All owners without what the change takes from them; `keeper` keeps what it has. */
function ownersAfter(
  differences: Differences,
  owners: Owners,
  keeper: string,
): { readonly owners: Map<string, Entry>; readonly losses: readonly Loss[] } {
  const left = new Map<string, Entry>();
  const losses: Loss[] = [];
  for (const [identity, owner] of owners) {
    const { apiVersion, fields } = owner;
    const found = identity === keeper ? undefined : differences.get(apiVersion);
    if (found === undefined) {
      left.set(identity, owner);
      continue;
    }
    const lost = intersection(fields, found.changed);
    if (!lost.isEmpty) losses.push({ owner, fields: lost });
    const kept = difference(difference(fields, lost), found.removed);
    if (!kept.isEmpty) left.set(identity, kept === fields ? owner : { ...owner, fields: kept });
  }
  return { owners: left, losses };
}

/** `here`: in the version of the request. Waits only where an owner has another one. */
function differencesOf(
  change: Change,
  write: Write,
  here: Difference | undefined,
): MaybePromise<Differences> {
  const { owners, versions } = write;
  const differences = new Map([[versions.apiVersion, here]]);
  const others = new Set([...owners.values()].map(({ apiVersion }) => apiVersion));
  others.delete(versions.apiVersion);
  if (others.size === 0) return differences;
  const elsewhere = async (): Promise<Differences> => {
    for (const apiVersion of others) {
      const before = await versions.to(change.before, apiVersion);
      const after = await versions.to(change.after, apiVersion);
      const shape = shapeIn(apiVersion, versions);
      differences.set(apiVersion, differenceOf({ before, after }, shape, write));
    }
    return differences;
  };
  return elsewhere();
}

/** But for what the write does not set. undefined: nothing differs. */
function differenceOf(
  { before, after }: Change,
  shape: Shape,
  write: Pick<Write, 'settable' | 'unsettable'>,
): Difference | undefined {
  const found = compare(before, after, shape, write.unsettable);
  if (found === undefined) return undefined;
  const changed = write.settable(found.changed);
  const removed = write.settable(found.removed);
  return changed.isEmpty && removed.isEmpty ? undefined : { changed, removed };
}

/** Without a conversion in the version of the request. */
async function inVersion(
  apiVersion: string,
  object: Readonly<JsonObject>,
  versions: ObjectVersions,
): Promise<JsonObject> {
  const isHere = apiVersion === versions.apiVersion;
  return isHere ? object : await versions.to(object, apiVersion);
}

function shapeIn(apiVersion: string, versions: ObjectVersions): Shape {
  const shape = versions.shapeIn(apiVersion);
  invariant(shape !== undefined, 'a version that is asked for is there');
  return shape;
}
