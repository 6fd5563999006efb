// Tracks on each write who owns which fields of the object (lib/apply/ownership.ts has the rules):
// from the request and the stored object to `metadata.managedFields` and back. Ownership is that of
// the versioned object that the request shows, before admission and strategies change it.
import { isObject, jsonEqual, without } from '../api/json-value.ts';
import { parseApiVersion } from '../api/resource-records.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonValue, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { UnidentifiedElement } from '../apply/elements.ts';
import type { FieldSet } from '../apply/field-set.ts';
import { setOf } from '../apply/field-set.ts';
import { isSameButTimes, readOwners, writeOwners } from '../apply/owners.ts';
import type { Owners, Operation } from '../apply/owners.ts';
import { ownUpdate } from '../apply/ownership.ts';
import type { ObjectVersions, Write } from '../apply/ownership.ts';
import { fieldElement } from '../apply/path-element.ts';
import { shapeOf } from '../apply/shape.ts';
import { formatTime } from '../base/clock.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { metaOf } from '../codec/object-meta.ts';
import type { WriteContext } from '../kinds/strategy.ts';
import { resetPathsOf } from './object-meta.ts';
import type { StoreParts } from './store-parts.ts';

/**
 * Sets the owners of `wanted`, which is to be written in place of `old`; undefined: it is new.
 * Both are in the storage version.
 */
export async function trackUpdate(
  parts: StoreParts,
  { old, wanted }: { readonly old: Item | undefined; readonly wanted: ApiObject },
  context: WriteContext,
  signal: AbortSignal,
): Promise<void> {
  const known = ownersFor(old?.object(), wanted, context);
  let { owners } = known;
  if (owners.size > 0 || known.isTracked) {
    const before = await shownObject(parts, old, signal);
    const after = await served(parts, wanted, signal);
    const write = ownershipWrite(parts, { owners, operation: 'Update' }, context, signal);
    owners = await ownedAfter({ before, after }, write);
  }
  setOwners(wanted, owners);
}

/** Elements that cannot be told apart: nobody comes to own anything, nobody loses anything. */
async function ownedAfter(change: Parameters<typeof ownUpdate>[0], write: Write): Promise<Owners> {
  try {
    return await ownUpdate(change, write);
  } catch (error) {
    if (error instanceof UnidentifiedElement) return write.owners;
    throw error;
  }
}

interface KnownOwners {
  readonly owners: Owners;
  /** An object that nobody manages stays so, unless it is new or has been reset. */
  readonly isTracked: boolean;
}

/**
 * Those of the request, which may change them; what is no such list, and an empty one, say nothing.
 * `[{}]` forgets them all (specification 2, Clearing managedFields).
 */
function ownersFor(
  old: Readonly<ApiObject> | undefined,
  wanted: Readonly<ApiObject>,
  { subresource }: Pick<WriteContext, 'subresource'>,
): KnownOwners {
  const stored = readOwners(old?.metadata?.managedFields) ?? noOwners;
  const kept = { owners: stored, isTracked: old === undefined };
  const given = wanted.metadata?.managedFields;
  if (subresource !== '' || !Array.isArray(given) || given.length === 0) return kept;
  if (isReset(given)) return { owners: noOwners, isTracked: true };
  if (given === old?.metadata?.managedFields) return kept;
  const sent = readOwners(given);
  return sent === undefined ? kept : { ...kept, owners: sent };
}

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
  const [now, before] = [next, old].map((object) => object.metadata?.managedFields);
  if (now === before || !Array.isArray(now) || !Array.isArray(before)) return;
  if (now.length !== before.length) return;
  const [owners, known] = [readOwners(now), readOwners(before)];
  if (owners === undefined || known === undefined || !isSameButTimes(owners, known)) return;
  const [content, oldContent] = [next, old].map(({ metadata = {}, ...rest }) => ({
    ...rest,
    metadata: without(metadata, 'managedFields', 'resourceVersion'),
  }));
  if (jsonEqual(content, oldContent)) metaOf(next).managedFields = before;
}

/** What the rules need to know of a write through a resource. */
export function ownershipWrite(
  parts: StoreParts,
  { owners, operation }: { readonly owners: Owners; readonly operation: Operation },
  context: Pick<WriteContext, 'fieldManager' | 'subresource' | 'nowMs'>,
  signal: AbortSignal,
): Write {
  const apiVersion = apiVersionOf(parts.resource.kind);
  const { fieldManager, subresource } = context;
  return {
    writer: { manager: fieldManager || 'unknown', operation, apiVersion, subresource },
    owners,
    versions: versionsOf(parts, signal),
    ignored: ignoredFields(parts.resource, subresource),
    time: formatTime(context.nowMs),
  };
}

function versionsOf(parts: StoreParts, signal: AbortSignal): ObjectVersions {
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
      const canonical = canonicalObject(object, type);
      return whenThere(parts.convert(canonical, version, signal), (converted) =>
        canonicalObject(converted, typeIn(version) ?? resource.type),
      );
    },
  };
}

/** The stored object as the request's version shows it; an empty one where there is none. */
export async function shownObject(
  { conversion, resource }: StoreParts,
  stored: Item | undefined,
  signal: AbortSignal,
): Promise<Readonly<ApiObject>> {
  if (stored === undefined) return emptyObject(resource);
  return (conversion === undefined ? stored : await conversion.item(stored, signal)).object();
}

const served = (
  { conversion, convert, resource }: StoreParts,
  object: Readonly<ApiObject>,
  signal: AbortSignal,
): MaybePromise<Readonly<ApiObject>> =>
  conversion === undefined ? object : convert(object, apiVersionOf(resource.kind), signal);

/** An object of which nothing is said: what its type has all the same. */
export const emptyObject = ({ kind, type }: ResourceInfo): ApiObject =>
  canonicalObject({ kind: kind.kind, apiVersion: apiVersionOf(kind), metadata: {} }, type);

const ignored = new WeakMap<ResourceInfo, Map<string, FieldSet>>();

/** What writes through the (sub)resource leave as it is. */
function ignoredFields(resource: ResourceInfo, subresource: string): FieldSet {
  let known = ignored.get(resource);
  if (known === undefined) ignored.set(resource, (known = new Map<string, FieldSet>()));
  let fields = known.get(subresource);
  if (fields === undefined) {
    const paths = resetPathsOf(resource, subresource).map((path) => path.split('.'));
    fields = setOf(...paths.map((path) => path.map(fieldElement)));
    known.set(subresource, fields);
  }
  return fields;
}
