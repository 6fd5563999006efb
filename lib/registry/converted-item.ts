// An item over an object in memory: in another version than the stored one, or never stored (dry
// run). It encodes on demand; bytes of a stored item's versions, and of events that show them, are
// kept with the stored item or event, so that all readers and watchers of one version share them.
import { newRecord } from '../api/record.ts';
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
  return new LazyItem(
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
  return new LazyItem(item, resource, encodedOf(object, resource), keptWith(item, shown));
}

/** The same from bytes that an earlier conversion made; undefined: there are none. */
export function keptConversion(item: Item, shown: ShownIn): Item | undefined {
  const { resource } = shown;
  const kept = keptWith(item, shown);
  const json = item.keptEncoding(kept.variantOf('json'));
  if (json === undefined) return undefined;
  let decoded: Readonly<ApiObject> | undefined;
  const object = (): Readonly<ApiObject> => (decoded ??= decodeCanonical(json, resource.type));
  return new LazyItem(item, resource, { object, json: () => json }, kept);
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

/** A class: an object literal with a getter costs every collection (docs/adr/0069). */
class LazyItem implements Item {
  readonly resource: ResourceInfo;
  readonly namespace: string;
  readonly name: string;
  readonly revision: Revision;
  readonly corrupted: boolean;
  readonly object: () => Readonly<ApiObject>;
  readonly objectOnce: () => Readonly<ApiObject>;
  readonly stored: (() => Readonly<ApiObject>) | undefined;
  readonly #identity: Identity;
  readonly #content: Content;
  readonly #keptAt: KeptWith | undefined;
  /** Of an item that is kept with none. */
  #own: Map<string, Encoded> | undefined;
  #selected: Selected | undefined;

  constructor(identity: Identity, resource: ResourceInfo, content: Content, keptAt?: KeptWith) {
    const stored = keptAt?.stored;
    this.resource = resource;
    this.namespace = identity.namespace;
    this.name = identity.name;
    this.revision = identity.revision;
    this.corrupted = stored?.corrupted ?? false;
    this.object = content.object;
    this.objectOnce = content.object;
    this.stored = stored && (() => stored.object());
    this.#identity = identity;
    this.#content = content;
    this.#keptAt = keptAt;
  }

  get labels(): Item['labels'] {
    return this.#keptAt?.hasOwnLabels === true ? this.#read().labels : this.#identity.labels;
  }

  field(path: string): string {
    if (path === 'metadata.name') return this.name;
    if (path === 'metadata.namespace') return this.namespace;
    return this.#read().fields[path] ?? '';
  }

  forgetObject(): void {
    this.#keptAt?.stored.forgetObject();
  }

  json(): Uint8Array {
    return this.#kept('json', this.#content.json);
  }

  listJson(): Uint8Array {
    return listEntry(this.listTail());
  }

  listTail(): Uint8Array {
    return withoutTypeMembers(this.json(), this.resource);
  }

  encoded<T extends Encoded>(variant: string, make: (item: Item) => T): T {
    return this.#kept(variant, () => make(this));
  }

  keptEncoding(variant: string): Uint8Array | undefined {
    const at = this.#keptAt;
    if (at === undefined) return this.#own?.get(variant) as Uint8Array | undefined;
    return at.stored.keptEncoding(at.variantOf(variant));
  }

  #kept<T extends Encoded>(variant: string, make: () => T): T {
    const at = this.#keptAt;
    if (at !== undefined) return at.stored.encoded(at.variantOf(variant), make);
    this.#own ??= new Map();
    const made = (this.#own.get(variant) as T | undefined) ?? make();
    this.#own.set(variant, made);
    return made;
  }

  #read(): Selected {
    return (this.#selected ??= parseSelected(
      this.#kept('selected', () => selectedText(this.object(), this.resource)),
    ));
  }
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
  Object.assign(newRecord() as Record<string, string>, of);
