// Tracks on each write who owns which fields of the object (lib/apply/ownership.ts has the rules):
// from the request and the stored object to `metadata.managedFields` and back. Ownership is that of
// the versioned object that the request shows, before admission and strategies change it.
import { recordAt } from '../api/json-access.ts';
import { isObject, jsonEqual, ownMember } from '../api/json-value.ts';
import { parseApiVersion } from '../api/resource-records.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonObject, JsonValue, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { UnidentifiedElement } from '../apply/elements.ts';
import { anyElement, setOf, within, without } from '../apply/field-set.ts';
import { readOwners, writeOwners } from '../apply/owners.ts';
import type { Owners, Operation } from '../apply/owners.ts';
import { ownUpdate } from '../apply/ownership.ts';
import type { ObjectVersions, Writing } from '../apply/ownership.ts';
import { fieldElement } from '../apply/path-element.ts';
import { shapeOf } from '../apply/shape.ts';
import { formatTime } from '../base/clock.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { limits } from '../base/limits.ts';
import { afterLongTurn } from '../base/turn.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { metaOf } from '../codec/object-meta.ts';
import type { WriteContext } from '../kinds/strategy.ts';
import { resetPathsOf } from './object-meta.ts';
import type { StoreParts } from './store-parts.ts';

/**
 * Sets the owners of `wanted`, which is to be written in place of `old`; undefined: it is new.
 * Both are in the storage version. Whether no field is known to be another.
 */
export function trackUpdate(
  parts: StoreParts,
  { old, wanted }: { readonly old: Item | undefined; readonly wanted: ApiObject },
  context: WriteContext,
  signal: AbortSignal,
): MaybePromise<boolean> {
  const known = knownOwners(old?.object(), wanted, context);
  const meta = metaOf(wanted);
  if (known.list === undefined) delete meta.managedFields;
  else meta.managedFields = known.list;
  if (known.list === undefined && !known.isTracked) return true;
  const by = { ...context, operation: 'Update' } as const;
  const write = ownershipWrite(parts, old?.object() ?? wanted, by, signal);
  const ownersBefore = (): Owners => known.owners ?? storedOwners(old?.object());
  const track = (before: Readonly<ApiObject>, after: Readonly<ApiObject>): MaybePromise<boolean> =>
    whenThere(
      ownedAfter({ before, after, isNew: old === undefined }, write, ownersBefore),
      (owners) => {
        if (owners === undefined) return true;
        return whenThere(afterLongTurn(limits.writeTurnMsMax), () => {
          setOwners(wanted, owners);
          return false;
        });
      },
    );
  return whenThere(shownObject(parts, old, signal), (before) =>
    whenThere(served(parts, wanted, signal), (after) => track(before, after)),
  );
}

function ownedAfter(...of: Parameters<typeof ownUpdate>): MaybePromise<Owners | undefined> {
  try {
    const owners = ownUpdate(...of);
    return owners instanceof Promise ? owners.catch(asBefore) : owners;
  } catch (error) {
    asBefore(error);
    return;
  }
}

/** Elements that cannot be told apart: nobody comes to own anything, nobody loses anything. */
function asBefore(error: unknown): undefined {
  if (!(error instanceof UnidentifiedElement)) throw error;
  return undefined;
}

interface KnownOwners {
  /** `metadata.managedFields` before the write; undefined: nobody owns anything. */
  readonly list: JsonValue[] | undefined;
  /** An object that nobody manages stays so, unless it is new or has been reset. */
  readonly isTracked: boolean;
  /** undefined: as they are stored, which is not read before somebody needs it. */
  readonly owners: Owners | undefined;
}

/**
 * Those of the request, which may change them; what is no such list, and an empty one, say nothing.
 * `[{}]` forgets them all (specification 2, Clearing managedFields).
 */
function knownOwners(
  old: Readonly<ApiObject> | undefined,
  wanted: Readonly<ApiObject>,
  { subresource }: Pick<WriteContext, 'subresource'>,
): KnownOwners {
  const stored = old?.metadata?.managedFields;
  const kept: KnownOwners = { list: stored, isTracked: old === undefined, owners: undefined };
  const given = wanted.metadata?.managedFields;
  if (subresource !== '' || !Array.isArray(given) || given.length === 0) return kept;
  if (isReset(given)) return { list: undefined, isTracked: true, owners: noOwners };
  if (jsonEqual(given, stored)) return kept;
  const sent = readOwners(given);
  if (sent === undefined) return kept;
  return { list: writeOwners(sent), isTracked: kept.isTracked, owners: sent };
}

/** A list that cannot be read says nothing, as if nobody had managed the object. */
export const storedOwners = (stored: Readonly<ApiObject> | undefined): Owners =>
  readOwners(stored?.metadata?.managedFields) ?? noOwners;

const noOwners: Owners = new Map();

const isReset = ([first, ...more]: readonly JsonValue[]): boolean =>
  more.length === 0 && isObject(first) && Object.keys(first).length === 0;

export function setOwners(object: ApiObject, owners: Owners): void {
  const list = writeOwners(owners);
  const meta = metaOf(object);
  if (list === undefined) delete meta.managedFields;
  else meta.managedFields = list;
}

/** `next` with the owners of `old` when nothing else but the times of them would change. */
export function keepTimes(next: ApiObject, old: Readonly<ApiObject>): void {
  const [now, before] = [next.metadata?.managedFields, old.metadata?.managedFields];
  if (now === before || now === undefined || now.length !== before?.length) return;
  // Most writes change what they are about: that is seen before the field sets are compared.
  if (!isSameContent(next, old)) return;
  if (!now.every((entry, index) => isSameButTime(entry, before[index]))) return;
  metaOf(next).managedFields = before;
}

const isSameButTime = (entry: JsonValue, other: JsonValue | undefined): boolean =>
  isObject(entry) && isObject(other) && equalBut(entry, other, times);

const times: ReadonlySet<string> = new Set(['time']);
const versions: ReadonlySet<string> = new Set(['managedFields', 'resourceVersion']);
const metadataName: ReadonlySet<string> = new Set(['metadata']);

const isSameContent = (next: Readonly<ApiObject>, old: Readonly<ApiObject>): boolean =>
  equalBut(next.metadata ?? {}, old.metadata ?? {}, versions) && equalBut(next, old, metadataName);

/**
 * `jsonEqual` of all but the named members. The last come first: what a status says changes more
 * often than the spec before it.
 */
function equalBut(
  left: Readonly<JsonObject>,
  right: Readonly<JsonObject>,
  names: ReadonlySet<string>,
): boolean {
  const keys = Object.keys(left);
  for (let at = keys.length - 1; at >= 0; at -= 1) {
    const key = keys[at] ?? '';
    if (!names.has(key) && !jsonEqual(left[key], ownMember(right, key))) return false;
  }
  for (const key of Object.keys(right)) {
    if (!names.has(key) && right[key] !== undefined && !Object.hasOwn(left, key)) return false;
  }
  return true;
}

interface OwnerContext extends Pick<WriteContext, 'fieldManager' | 'subresource' | 'nowMs'> {
  readonly operation: Operation;
}

/**
 * What the rules need to know of a write through a resource. `object`: the stored one, or the one
 * that is to be stored.
 */
export function ownershipWrite(
  parts: StoreParts,
  object: Readonly<JsonObject> | undefined,
  context: OwnerContext,
  signal: AbortSignal,
): Writing {
  const apiVersion = apiVersionOf(parts.resource.kind);
  const { fieldManager, operation, subresource } = context;
  return {
    writer: {
      manager: fieldManager || 'unknown',
      operation,
      apiVersion,
      subresource,
    },
    versions: versionsOf(parts, object, signal),
    ...settableFields(parts.resource, subresource),
    time: formatTime(context.nowMs),
  };
}

function versionsOf(
  parts: StoreParts,
  whole: Readonly<JsonObject> | undefined,
  signal: AbortSignal,
): ObjectVersions {
  const { resource } = parts;
  const apiVersion = apiVersionOf(resource.kind);
  const typeIn = (version: string): TypeInfo | undefined =>
    version === apiVersion
      ? resource.type
      : parts.typeOf({ ...parseApiVersion(version), kind: resource.kind.kind });
  return {
    apiVersion,
    shapeIn(version) {
      const type = typeIn(version);
      return type === undefined ? undefined : shapeOf(type);
    },
    to(object, version) {
      const type = typeIn(object['apiVersion'] as string) ?? resource.type;
      const canonical = canonicalObject(identified(object, whole), type);
      return whenThere(parts.convert(canonical, version, signal), (converted) =>
        canonicalObject(converted, typeIn(version) ?? resource.type),
      );
    },
  };
}

/**
 * What converts an object may ask which one it is: parts of one, and what stands for none, say so,
 * too. Nobody owns these fields.
 */
function identified(
  object: Readonly<JsonObject>,
  whole: Readonly<JsonObject> | undefined,
): Readonly<JsonObject> {
  const own = recordAt(whole, 'metadata');
  const { name, namespace, uid = unknownUid } = own ?? {};
  const identity = {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    uid,
  };
  return { ...object, metadata: { ...identity, ...recordAt(object, 'metadata') } };
}

/** Of objects that have none yet. */
const unknownUid = '00000000-0000-0000-0000-000000000000';

/** The stored object as the request's version shows it; an empty one where there is none. */
export function shownObject(
  { conversion, resource }: StoreParts,
  stored: Item | undefined,
  signal: AbortSignal,
): MaybePromise<Readonly<ApiObject>> {
  if (stored === undefined) return emptyObject(resource);
  if (conversion === undefined) return stored.object();
  return whenThere(conversion.item(stored, signal), (item) => item.object());
}

const served = (
  { conversion, convert, resource }: StoreParts,
  object: Readonly<ApiObject>,
  signal: AbortSignal,
): MaybePromise<Readonly<ApiObject>> =>
  conversion === undefined ? object : convert(object, apiVersionOf(resource.kind), signal);

const empty = new WeakMap<ResourceInfo, Readonly<ApiObject>>();

/** An object of which nothing is said: what its type has all the same. Shared. */
export function emptyObject(resource: ResourceInfo): Readonly<ApiObject> {
  let object = empty.get(resource);
  if (object === undefined) {
    const { kind, type } = resource;
    const typeMeta = { kind: kind.kind, apiVersion: apiVersionOf(kind) };
    object = canonicalObject({ ...typeMeta, metadata: {} }, type);
    empty.set(resource, object);
  }
  return object;
}

type Settable = Pick<Writing, 'settable' | 'unsettable'>;
const settable = new WeakMap<ResourceInfo, Map<string, Settable>>();

/** What writes through the (sub)resource can set. */
function settableFields(resource: ResourceInfo, subresource: string): Settable {
  let known = settable.get(resource);
  if (known === undefined) settable.set(resource, (known = new Map<string, Settable>()));
  let fields = known.get(subresource);
  if (fields === undefined) {
    fields = settableBy(resource, subresource);
    known.set(subresource, fields);
  }
  return fields;
}

function settableBy(resource: ResourceInfo, subresource: string): Settable {
  const writable = resource.writableBySubresource?.[subresource];
  const paths = writable ?? resetPathsOf(resource, subresource);
  const named = setOf(...paths.map(elementsOf));
  if (writable !== undefined) return { settable: (fields) => within(fields, named) };
  const members = paths.filter((path) => resource.type.fieldByJsonName.has(path));
  return { settable: (fields) => without(fields, named), unsettable: new Set(members) };
}

const elementsOf = (path: string): string[] =>
  path.split('.').flatMap((name) => {
    const list = name.replace(/\[\*\]$/, '');
    return list === name ? [fieldElement(name)] : [fieldElement(list), anyElement];
  });
