// An item over an object in memory: in another version than the stored one, or never stored (dry
// run). It encodes on demand; bytes of a stored item's versions, and of events that show them, are
// kept with the stored item or event, so that all readers and watchers of one version share them.
import { selectableFields } from '../api/selectable-fields.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { Encoded } from '../cacher/memory-budget.ts';
import type { Item, WatchEvent } from '../cacher/resource-view.ts';
import { decodeCanonical, jsonCodec } from '../codec/json.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { Revision } from '../storage-etcd/storage.ts';

const openBrace = '{'.charCodeAt(0);

/** `object` is complete: kind, apiVersion and, when it is stored, resourceVersion. */
export function objectItem(
  object: Readonly<ApiObject>,
  resource: ResourceInfo,
  revision: Revision,
): Item {
  return lazyItem(
    { ...identityOf(object), revision },
    resource,
    encodedOf(() => object, resource),
  );
}

/** What items and events are shown in. */
export interface ShownIn {
  readonly resource: ResourceInfo;
  /**
   * Of the way to convert (`Converter`): bytes that were made in another one are not used.
   */
  readonly generation: string;
  /** Conversion may change labels; not given: they are those of the stored item. */
  readonly hasOwnLabels?: boolean;
}

/**
 * `item` in another version; nothing is decoded or converted before somebody needs it.
 */
export function convertedItem(
  item: Item,
  shown: ShownIn,
  convert: (object: Readonly<ApiObject>) => ApiObject,
): Item {
  const { resource } = shown;
  let converted: Readonly<ApiObject> | undefined;
  const object = (): Readonly<ApiObject> => (converted ??= convert(item.object()));
  return lazyItem(item, resource, encodedOf(object, resource), keptWith(item, shown));
}

/** The same from bytes that an earlier conversion made; undefined: there are none. */
export function keptConversion(item: Item, shown: ShownIn): Item | undefined {
  const { resource } = shown;
  const kept = keptWith(item, shown);
  const json = item.keptEncoding(kept.variantOf('json'));
  if (json === undefined) return undefined;
  let decoded: Readonly<ApiObject> | undefined;
  const object = (): Readonly<ApiObject> => (decoded ??= decodeCanonical(json, resource.type));
  return lazyItem(item, resource, { object, json: () => json }, kept);
}

/** `event` with its item in another version. */
export function convertedEvent(event: WatchEvent, item: Item, shown: ShownIn): WatchEvent {
  const { type, revision } = event;
  const converted: WatchEvent = {
    type,
    revision,
    item,
    memo: (variant, make) => event.memo(variantIn(shown, variant), () => make(converted)),
  };
  return converted;
}

type Identity = Pick<Item, 'namespace' | 'name' | 'labels' | 'revision'>;

/** What is asked of an item, made when it is. */
interface Content {
  readonly object: () => Readonly<ApiObject>;
  readonly json: () => Uint8Array;
}

const encodedOf = (object: () => Readonly<ApiObject>, { type }: ResourceInfo): Content => ({
  object,
  json: () => jsonCodec.encode(object(), type),
});

/** Names bytes of a version among those that are kept with the stored item or event. */
const variantIn = ({ resource, generation }: ShownIn, variant: string): string =>
  `${apiVersionOf(resource.kind)} ${generation} ${variant}`;

/** Where bytes of an item are kept. */
interface KeptWith {
  readonly stored: Item;
  readonly hasOwnLabels: boolean;
  /** Their name there. */
  readonly variantOf: (variant: string) => string;
}

const keptWith = (stored: Item, shown: ShownIn): KeptWith => ({
  stored,
  hasOwnLabels: shown.hasOwnLabels === true,
  variantOf: (variant) => variantIn(shown, variant),
});

function lazyItem(
  identity: Identity,
  resource: ResourceInfo,
  { object, json }: Content,
  keptAt?: KeptWith,
): Item {
  const stored = keptAt?.stored;
  const own = new Map<string, Encoded>();
  const kept = <T extends Encoded>(variant: string, make: () => T): T => {
    if (keptAt !== undefined) return keptAt.stored.encoded(keptAt.variantOf(variant), make);
    const made = (own.get(variant) as T | undefined) ?? make();
    own.set(variant, made);
    return made;
  };
  let read: Selected | undefined;
  const selected = (): Selected =>
    (read ??= parseSelected(kept('selected', () => selectedText(object(), resource))));
  const item: Item = {
    resource,
    namespace: identity.namespace,
    name: identity.name,
    get labels() {
      return keptAt?.hasOwnLabels === true ? selected().labels : identity.labels;
    },
    revision: identity.revision,
    corrupted: stored?.corrupted ?? false,
    object,
    objectOnce: object,
    ...(stored === undefined ? {} : { stored: () => stored.object() }),
    field(path) {
      if (path === 'metadata.name') return identity.name;
      if (path === 'metadata.namespace') return identity.namespace;
      return selected().fields[path] ?? '';
    },
    json: () => kept('json', json),
    listJson: () => listEntry(item.listTail()),
    listTail: () => withoutTypeMembers(item.json(), resource),
    encoded: (variant, make) => kept(variant, () => make(item)),
    keptEncoding: (variant) =>
      keptAt === undefined
        ? (own.get(variant) as Uint8Array | undefined)
        : keptAt.stored.keptEncoding(keptAt.variantOf(variant)),
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

/** What selectors look at: kept, so that nothing is decoded for them. */
interface Selected {
  readonly labels: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

const selectedText = (object: Readonly<ApiObject>, resource: ResourceInfo): Uint8Array =>
  Buffer.from(
    JSON.stringify({
      labels: object.metadata?.labels ?? {},
      fields: selectableFields(object, resource),
    }),
  );

function parseSelected(text: Uint8Array): Selected {
  const { labels, fields } = JSON.parse(Buffer.from(text).toString('utf8')) as Selected;
  return { labels: asMap(labels), fields: asMap(fields) };
}

/** Users choose the keys. */
const asMap = (of: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.assign(Object.create(null) as Record<string, string>, of);
