// One version of one object: a Buffer of ready-to-send JSON, offsets into it, and its encodings so
// far. Labels are parsed when first asked for and shared between items; the object is decoded on
// demand.
import { limits } from '../base/limits.ts';
import { internalError } from '../base/status.ts';
import type { StatusError } from '../base/status.ts';
import { utf8SortKey } from '../base/utf8-order.ts';
import type { ApiObject } from '../codec/codec.ts';
import { withResourceVersion } from '../codec/stored-form.ts';
import type { EncodedStored, OpenedStored } from '../codec/stored-form.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import { objectBytesPerJsonByte } from './memory-budget.ts';
import type { Encoded, Memo, MemoOwner, MemoryBudget } from './memory-budget.ts';
import type { Item } from './resource-view.ts';
import { noLabels, parseLabels } from './shared-values.ts';
import type { Fields, Labels, SharedValues } from './shared-values.ts';
import type { Transcoder } from './transcoder.ts';

/**
 * Heap of one item beside its bytes: the instance, its path, the Buffer's own objects, index slots.
 */
const itemOverheadBytes = 480;
const openingBrace = 0x7b;
const closingBrace = 0x7d;
const quote = 0x22;

/** What items of one resource share that were made by one record, or by others of its form. */
export interface ItemSource {
  /** Another record with the same `schema` takes its place. */
  resource: ResourceInfo;
  /** etcd key up to the item's path. */
  readonly keyPrefix: string;
  /** Changes with `resource` while no item is foreign. */
  transcoder: Transcoder;
  readonly budget: MemoryBudget;
  readonly freezeObjects: boolean;
  readonly schema: string;
  /** Values stored in another encoding are kept as stored, for another record of the resource. */
  readonly keepsStored: boolean;
  readonly shared: SharedValues;
  /** Of items that stay in another version, by the schema generation of that (`schema`). */
  readonly versions?: ReadonlyMap<string, ItemSource>;
}

export class CachedItem implements Item, MemoOwner {
  #source: ItemSource;
  /** Key below the resource's prefix: `namespace/name`, or `name` in cluster scope. */
  readonly path: string;
  /** Sort key of `path`: the order of items is that of their keys in etcd. */
  readonly sortKey: string;
  readonly namespace: string;
  readonly revision: Revision;
  /** Why the stored bytes cannot be read; undefined when they can. */
  readonly problem: string | undefined;
  kept: Memo | undefined = undefined;
  readonly data: Buffer;
  /** The stored JSON of `data`, where raw JSON in it is spelt otherwise than answers show it. */
  readonly #stored: OpenedStored | undefined;
  readonly #fields: Fields | undefined;
  readonly #versionAt: number;
  readonly #bodyAt: number;
  readonly #labelsStart: number;
  readonly #labelsEnd: number;
  #labels: Labels | undefined;
  readonly #foreign: Uint8Array | undefined;

  constructor(source: ItemSource, path: string, revision: Revision, content: ItemContent) {
    this.#source = source;
    this.path = path;
    this.sortKey = utf8SortKey(path);
    this.namespace = namespaceOf(source, path);
    this.revision = revision;
    this.problem = content.problem;
    this.data = content.data;
    this.#stored = content.stored;
    this.#fields = content.fields;
    this.#versionAt = content.versionAt;
    this.#bodyAt = content.bodyAt;
    this.#labelsStart = content.labelsStart;
    this.#labelsEnd = content.labelsEnd;
    this.#foreign = content.foreign;
  }

  get resource(): ResourceInfo {
    return this.source.resource;
  }

  get source(): ItemSource {
    return this.#source;
  }

  /** It was stored in another form than that of its source, and is kept as it was stored. */
  get isForeign(): boolean {
    return this.#foreign !== undefined;
  }

  /** Passes to another source where that makes the same of it. False: it must be made anew. */
  joins(source: ItemSource): boolean {
    const own = this.isForeign ? undefined : sourceOf(source, this.source.schema);
    if (own === undefined) return false;
    this.#source = own;
    return true;
  }

  get name(): string {
    return this.namespace === '' ? this.path : this.path.slice(this.namespace.length + 1);
  }

  get etcdKey(): string {
    return this.source.keyPrefix + this.path;
  }

  get corrupted(): boolean {
    return this.problem !== undefined;
  }

  /** What this item costs in memory, memos aside; labels of its own as if they were parsed. */
  get bytes(): number {
    const keptBytes = (this.#stored?.payload.byteLength ?? 0) + (this.#foreign?.byteLength ?? 0);
    const labelsLength = this.#labelsEnd - this.#labelsStart;
    const ownLabelsBytes =
      labelsLength > limits.sharedTextLengthMax ? labelsLength * objectBytesPerJsonByte : 0;
    return this.data.byteLength + keptBytes + itemOverheadBytes + ownLabelsBytes;
  }

  get labels(): Labels {
    return (this.#labels ??= this.#readLabels());
  }

  field(path: string): string {
    if (path === 'metadata.name') return this.name;
    if (path === 'metadata.namespace') return this.namespace;
    return this.#fields?.[path] ?? '';
  }

  object(): Readonly<ApiObject> {
    if (this.problem !== undefined) throw unreadable(this, this.problem);
    return this.source.budget.object(this, this.data.byteLength, () => this.#decode());
  }

  objectOnce(): Readonly<ApiObject> {
    if (this.problem !== undefined) throw unreadable(this, this.problem);
    return this.kept?.object ?? this.#decode();
  }

  forgetObject(): void {
    this.source.budget.forgetObject(this);
  }

  json(): Uint8Array {
    if (this.problem !== undefined) throw unreadable(this, this.problem);
    return this.data;
  }

  listJson(): Uint8Array {
    const tail = this.listTail();
    const copy = Buffer.allocUnsafe(tail.byteLength + 1);
    copy[0] = openingBrace;
    copy.set(tail, 1);
    return copy;
  }

  listTail(): Uint8Array {
    if (this.problem !== undefined) throw unreadable(this, this.problem);
    return this.data.subarray(this.#bodyAt);
  }

  get listTailBytes(): number {
    if (this.problem !== undefined) throw unreadable(this, this.problem);
    return this.data.byteLength - this.#bodyAt;
  }

  copyListTail(target: Buffer, at: number): void {
    this.data.copy(target, at, this.#bodyAt);
  }

  /** The value that the item was made of; only where the source keeps it. */
  storedValue(): Uint8Array {
    const { transcoder } = this.source;
    if (this.#foreign !== undefined) return this.#foreign;
    if (this.#stored !== undefined) return transcoder.close(this.#stored);
    const { length } = versionMember(this.revision);
    const at = this.#versionAt;
    const payload = spliced(this.data, { at, removed: length, member: '' });
    const shift = (offset: number): number => (offset > at ? offset - length : offset);
    const header = {
      media: 'json',
      schema: this.source.schema,
      size: payload.byteLength,
      versionAt: at,
      bodyAt: this.#bodyAt,
      ...(this.#labelsStart === 0
        ? {}
        : { labels: [shift(this.#labelsStart), shift(this.#labelsEnd)] as const }),
      ...(this.#fields === undefined ? {} : { fields: this.#fields }),
    } as const;
    return transcoder.close({ header, payload });
  }

  encoded<T extends Encoded>(variant: string, make: (item: Item) => T): T {
    return this.source.budget.encoding(this, variant, make);
  }

  keptEncoding(variant: string): Uint8Array | undefined {
    return this.source.budget.keptEncoding(this, variant) as Uint8Array | undefined;
  }

  /** The same content showing another revision: what a DELETED event carries. */
  atRevision(revision: Revision): CachedItem {
    if (this.problem !== undefined) {
      const none = noContent(this.source, this.problem, undefined);
      return new CachedItem(this.source, this.path, revision, none);
    }
    const old = versionMember(this.revision).length;
    const at = this.#versionAt;
    const data = spliced(this.data, { at, removed: old, member: versionMember(revision) });
    const moved = data.byteLength - this.data.byteLength;
    const labelsMove = this.#labelsStart > at ? moved : 0;
    const copy = new CachedItem(this.source, this.path, revision, {
      source: this.source,
      problem: undefined,
      data,
      stored: this.#stored,
      fields: this.#fields,
      versionAt: at,
      bodyAt: this.#bodyAt,
      labelsStart: this.#labelsStart === 0 ? 0 : this.#labelsStart + labelsMove,
      labelsEnd: this.#labelsEnd + labelsMove,
      foreign: undefined,
    });
    copy.#labels = this.#labels;
    return copy;
  }

  #readLabels(): Labels {
    if (this.#labelsStart === 0) return noLabels;
    const text = utf8(this.data.subarray(this.#labelsStart, this.#labelsEnd));
    return this.source.shared.labels.of(text, parseLabels);
  }

  #decode(): ApiObject {
    const stored = this.#stored;
    try {
      const json = stored === undefined ? this.data : withResourceVersion(stored, this.revision);
      const object = this.source.transcoder.decode(json, this.source.resource);
      return this.source.freezeObjects ? deepFreeze(object) : object;
    } catch (error) {
      throw unreadable(this, error instanceof Error ? error.message : String(error));
    }
  }
}

interface ItemContent {
  /** Of the version that the content is in. */
  readonly source: ItemSource;
  readonly problem: string | undefined;
  readonly data: Buffer;
  readonly stored: OpenedStored | undefined;
  readonly fields: Fields | undefined;
  readonly versionAt: number;
  readonly bodyAt: number;
  /** 0: no labels. */
  readonly labelsStart: number;
  readonly labelsEnd: number;
  /** The stored bytes, where they are of another encoding and kept. */
  readonly foreign: Uint8Array | undefined;
}

/**
 * An item from stored bytes. Bytes of another generation or encoding are converted here, once, and
 * those of another version unless they stay in it (`ItemSource.versions`); unreadable ones make a
 * corrupted item. `encoded`: what `value` was made from, where it is known.
 */
export function makeItem(
  source: ItemSource,
  path: string,
  value: Uint8Array,
  revision: Revision,
  encoded?: EncodedStored,
): CachedItem {
  const content = contentOf(source, value, revision, encoded);
  return new CachedItem(content.source, path, revision, content);
}

/** Of a schema generation; undefined: not one of those that are served as they are stored. */
const sourceOf = (source: ItemSource, schema: string | undefined): ItemSource | undefined =>
  schema === source.schema ? source : source.versions?.get(schema ?? '');

function contentOf(
  asked: ItemSource,
  value: Uint8Array,
  revision: Revision,
  encoded: EncodedStored | undefined,
): ItemContent {
  let foreign: Uint8Array | undefined;
  try {
    const { transcoder, keepsStored } = asked;
    const opened = encoded ?? transcoder.open(value);
    const current = sourceOf(asked, opened?.header.schema);
    const isForeign = current === undefined || (encoded !== undefined && encoded.value !== value);
    // Storage's bytes may be a view into a whole page.
    if (isForeign && keepsStored) foreign = Uint8Array.from(value);
    const isAtHand = current !== undefined && opened !== undefined;
    const stored = isAtHand ? opened : transcoder.decodeForeign(value, asked.resource);
    const source = current ?? sourceOf(asked, stored.header.schema) ?? asked;
    const isSent = stored.header.rawAsSent !== false;
    const { header, payload } = isSent ? stored : transcoder.asSent(stored, source.resource);
    requireShape(header.versionAt, header.bodyAt, payload);
    const member = versionMember(revision);
    const data = spliced(payload, { at: header.versionAt, removed: 0, member });
    const moved = data.byteLength - payload.byteLength;
    const shift = (at: number): number => (at >= header.versionAt ? at + moved : at);
    return {
      source,
      problem: undefined,
      data,
      stored: isSent
        ? undefined
        : { header: stored.header, payload: new Uint8Array(stored.payload) },
      fields: header.fields === undefined ? undefined : sharedFields(source, header.fields),
      versionAt: header.versionAt,
      bodyAt: header.bodyAt,
      labelsStart: header.labels === undefined ? 0 : shift(header.labels[0]),
      labelsEnd: header.labels === undefined ? 0 : shift(header.labels[1]),
      foreign,
    };
  } catch (error) {
    foreign ??= asked.keepsStored ? Uint8Array.from(value) : undefined;
    return noContent(asked, error instanceof Error ? error.message : String(error), foreign);
  }
}

function noContent(
  source: ItemSource,
  problem: string | undefined,
  foreign: Uint8Array | undefined,
): ItemContent {
  const offsets = { versionAt: 0, bodyAt: 0, labelsStart: 0, labelsEnd: 0 };
  const none = { stored: undefined, fields: undefined, ...offsets };
  return { source, problem, data: Buffer.alloc(0), ...none, foreign };
}

/** Catches truncated and overwritten values without reading all of them. */
function requireShape(versionAt: number, bodyAt: number, payload: Uint8Array): void {
  const isWhole =
    payload[0] === openingBrace &&
    payload[payload.length - 1] === closingBrace &&
    payload[versionAt] === quote &&
    payload[bodyAt] === quote &&
    versionAt > bodyAt;
  if (!isWhole) throw new Error('the stored bytes do not fit their header');
}

/** 500 that names the key. */
const unreadable = ({ etcdKey }: CachedItem, problem: string): StatusError =>
  internalError(`the stored object at key "${etcdKey}" cannot be read: ${problem}`);

const versionMember = (revision: Revision): string => `"resourceVersion":"${String(revision)}",`;

/**
 * A copy of the bytes with another member at `at`. Memory of its own, not of Buffer's pool: an item
 * that stays would hold the pool's page for all that left.
 */
function spliced(
  bytes: Uint8Array,
  change: { readonly at: number; readonly removed: number; readonly member: string },
): Buffer {
  const { at, removed, member } = change;
  const rest = bytes.subarray(at + removed);
  const copy = Buffer.allocUnsafeSlow(at + member.length + rest.length);
  copy.set(bytes.subarray(0, at), 0);
  copy.write(member, at, 'latin1');
  copy.set(rest, at + member.length);
  return copy;
}

function namespaceOf(source: ItemSource, path: string): string {
  if (!source.resource.namespaced) return '';
  return source.shared.namespaces.of(path.slice(0, path.indexOf('/')), itself);
}

const itself = (text: string): string => text;

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function sharedFields({ shared }: ItemSource, fields: Fields): Fields | undefined {
  let text = '';
  for (const path in fields) text += `${path}\0${fields[path] ?? ''}\0`;
  return text === '' ? undefined : shared.fields.of(text, () => fields);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
