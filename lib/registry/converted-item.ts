// An item over an object in memory: in another version than the stored one, or never stored (dry
// run). It encodes on demand and keeps what it encoded for as long as it lives itself.
import type { ResourceInfo } from '../api/type-info.ts';
import type { Item } from '../cacher/resource-view.ts';
import { jsonCodec } from '../codec/json.ts';
import type { ApiObject } from '../codec/codec.ts';

import type { Revision } from '../storage-etcd/storage.ts';
import { isObject, ownMember } from './json-value.ts';

const openBrace = '{'.charCodeAt(0);

/** `object` is complete: kind, apiVersion and, when it is stored, resourceVersion. */
export function objectItem(
  object: Readonly<ApiObject>,
  resource: ResourceInfo,
  revision: Revision,
): Item {
  return lazyItem({ ...identityOf(object), revision }, resource, () => object);
}

/**
 * `item` in the version of `resource`; nothing is decoded or converted before somebody needs it.
 */
export function convertedItem(
  item: Item,
  resource: ResourceInfo,
  convert: (object: Readonly<ApiObject>) => ApiObject,
): Item {
  let converted: Readonly<ApiObject> | undefined;
  return lazyItem(item, resource, () => (converted ??= convert(item.object())), item);
}

type Identity = Pick<Item, 'namespace' | 'name' | 'labels' | 'revision'>;

function lazyItem(
  identity: Identity,
  resource: ResourceInfo,
  object: () => Readonly<ApiObject>,
  stored?: Item,
): Item {
  let bytes: Uint8Array | undefined;
  const variants = new Map<string, Uint8Array>();
  const item: Item = {
    namespace: identity.namespace,
    name: identity.name,
    get labels() {
      return identity.labels;
    },
    revision: identity.revision,
    corrupted: stored?.corrupted ?? false,
    object,
    field: (path) => stored?.field(path) ?? fieldOf(object(), path),
    json: () => (bytes ??= jsonCodec.encode(object(), resource.type)),
    listJson: () => listEntry(item.listTail()),
    listTail: () => withoutTypeMembers(item.json(), object()),
    encoded: (variant, make) => {
      const made = variants.get(variant) ?? make(item);
      variants.set(variant, made);
      return made;
    },
  };
  return item;
}

function identityOf(object: Readonly<ApiObject>): Omit<Identity, 'revision'> {
  const { namespace, name, labels } = object.metadata ?? {};
  return { namespace: namespace ?? '', name: name ?? '', labels: labels ?? {} };
}

/** Canonical JSON starts with kind and apiVersion: a view of what follows them. */
function withoutTypeMembers(json: Uint8Array, object: Readonly<ApiObject>): Uint8Array {
  const { kind, apiVersion } = object;
  const head = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  return json.subarray(Buffer.byteLength(head));
}

function listEntry(tail: Uint8Array): Uint8Array {
  const entry = new Uint8Array(tail.length + 1);
  entry[0] = openBrace;
  entry.set(tail, 1);
  return entry;
}

function fieldOf(object: Readonly<ApiObject>, path: string): string {
  let value: unknown = object;
  for (const segment of path.split('.')) {
    value = isObject(value) ? ownMember(value, segment) : undefined;
  }
  const isScalar = ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
  return isScalar ? String(value) : '';
}
