// An item over an object in memory: in another version than the stored one, or never stored (dry
// run). It encodes on demand; bytes of a stored item's versions, and of events that show them, are
// kept with the stored item or event, so that all readers and watchers of one version share them.
import { apiVersionOf } from '../api/type-info.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { Item, WatchEvent } from '../cacher/resource-view.ts';
import { jsonCodec } from '../codec/json.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import { isObject, ownMember } from '../api/json-value.ts';

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

/** `event` with its item in the version of `resource`. */
export function convertedEvent(event: WatchEvent, item: Item, resource: ResourceInfo): WatchEvent {
  const { type, revision } = event;
  const version = apiVersionOf(resource.kind);
  const converted: WatchEvent = {
    type,
    revision,
    item,
    memo: (variant, make) => event.memo(`${version} ${variant}`, () => make(converted)),
  };
  return converted;
}

type Identity = Pick<Item, 'namespace' | 'name' | 'labels' | 'revision'>;

function lazyItem(
  identity: Identity,
  resource: ResourceInfo,
  object: () => Readonly<ApiObject>,
  stored?: Item,
): Item {
  const version = apiVersionOf(resource.kind);
  const own = new Map<string, Uint8Array>();
  const kept = (variant: string, make: () => Uint8Array): Uint8Array => {
    if (stored !== undefined) return stored.encoded(`${version} ${variant}`, make);
    const made = own.get(variant) ?? make();
    own.set(variant, made);
    return made;
  };
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
    json: () => kept('json', () => jsonCodec.encode(object(), resource.type)),
    listJson: () => listEntry(item.listTail()),
    listTail: () => withoutTypeMembers(item.json(), resource),
    encoded: (variant, make) => kept(variant, () => make(item)),
  };
  return item;
}

function identityOf(object: Readonly<ApiObject>): Omit<Identity, 'revision'> {
  const { namespace, name, labels } = object.metadata ?? {};
  return { namespace: namespace ?? '', name: name ?? '', labels: labels ?? {} };
}

/** Canonical JSON starts with kind and apiVersion: a view of what follows them. */
function withoutTypeMembers(json: Uint8Array, { kind }: ResourceInfo): Uint8Array {
  const apiVersion = JSON.stringify(apiVersionOf(kind));
  const head = `{"kind":${JSON.stringify(kind.kind)},"apiVersion":${apiVersion},`;
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
