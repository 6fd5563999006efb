// The forms an answer can have: objects as they are stored, metadata only, Table. Here they are
// JSON, made at most once per item; lists are concatenations.
import { limits } from '../base/limits.ts';
import { setImmediate } from 'node:timers/promises';
import type { ResourceInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ObjectMeta } from '../codec/codec.ts';
import type { KindName, Rewrite } from '../codec/encodings.ts';
import { listClose, listOpen, listSeparator } from '../codec/frame.ts';
import type { ListMeta } from '../codec/frame.ts';
import {
  closedRow,
  openRow,
  partialListOpen,
  partialObjectBytes,
  tableBytes,
  tableOpen,
} from '../codec/table.ts';
import type { RowForm } from '../codec/table.ts';
import type { Pieces } from './representation.ts';

const { answerTurnMsMax } = limits;

export interface Form {
  /** Names encoding and form among what is memoised of items and events. */
  readonly variant: string;
  /** Shows ages: what was made of an event once does not hold later. */
  readonly isTimed?: boolean;
  object(item: Item): Uint8Array;
  /**
   * `object` of an event after the first of a watch, where that differs (Tables send their columns
   * once).
   */
  laterObject(item: Item): Uint8Array;
  list(items: readonly Item[], meta: ListMeta): Promise<Pieces>;
  /** Its lists as entries in JSON, for encodings that are made from them; Tables have none. */
  readonly listed?: { readonly of: KindName; readonly entry: (item: Item) => Uint8Array };
  /** The object of a bookmark, whose metadata is given. */
  bookmark(metadata: ObjectMeta, resource: ResourceInfo): Uint8Array;
}

export interface TableOptions extends RowForm {
  readonly headers: boolean;
  readonly nowMs: () => number;
}

/** The forms in one encoding. */
export interface Forms {
  object(resource: ResourceInfo): Form;
  partial(): Form;
  table(options: TableOptions): Form;
}

export function jsonForms(naming: NamingProfile): Forms {
  return {
    object: objectForm,
    partial: () => partialForm(naming),
    table: (options) => tableForm(naming, options),
  };
}

/** The same forms, made from JSON: lists from their entries where the encoding has such. */
export function rewrittenForms(name: string, forms: Forms, rewrite: Rewrite): Forms {
  const rewritten = (form: Form): Form => ({
    variant: `${name} ${form.variant}`,
    isTimed: form.isTimed === true,
    object: (item) => rewrite.whole(form.object(item)),
    laterObject: (item) => rewrite.whole(form.laterObject(item)),
    list: (items, meta) => rewrittenList(name, form, rewrite, items, meta),
    bookmark: (metadata, resource) => rewrite.whole(form.bookmark(metadata, resource)),
  });
  return {
    object: (resource) => rewritten(forms.object(resource)),
    partial: () => rewritten(forms.partial()),
    table: (options) => rewritten(forms.table(options)),
  };
}

async function rewrittenList(
  name: string,
  form: Form,
  { whole, lists }: Rewrite,
  items: readonly Item[],
  meta: ListMeta,
): Promise<Pieces> {
  const { listed } = form;
  if (listed === undefined || lists === undefined) {
    return onePiece(whole(Buffer.concat([...(await form.list(items, meta))])));
  }
  const variant = `${name} entry ${form.variant}`;
  const make = (item: Item): Uint8Array => lists.entry(listed.entry(item));
  const entries = await entriesOf(items, (item) => item.encoded(variant, make));
  const ends = lists.ends(listed.of, meta, entries.length);
  return piecesOf(entries, { ...ends, first: nothing, between: lists.between });
}

/** Entries made before the time is looked at again. */
const entriesPerLook = 16;

/** What `make` makes of each item: in turns of a few milliseconds, for those that are not kept. */
export async function entriesOf(
  items: readonly Item[],
  make: (item: Item) => Uint8Array,
): Promise<readonly Uint8Array[]> {
  const entries: Uint8Array[] = [];
  let turnStart = performance.now();
  for (const item of items) {
    entries.push(make(item));
    if (entries.length % entriesPerLook !== 0 || performance.now() - turnStart < answerTurnMsMax)
      continue;
    await setImmediate();
    turnStart = performance.now();
  }
  return entries;
}

export const onePiece = (body: Uint8Array): Pieces => ({
  totalBytes: body.length,
  [Symbol.iterator]: () => [body].values(),
});

/** Between two entries, with the opening brace that `listTail` leaves out. */
const betweenTails = Buffer.from(',{');
const firstBrace = Buffer.from('{');
const nothing = new Uint8Array();

function objectForm(resource: ResourceInfo): Form {
  const { kind } = resource.kind;
  const apiVersion = apiVersionOf(resource.kind);
  const object = (item: Item): Uint8Array => item.json();
  return {
    variant: 'json',
    object,
    laterObject: object,
    listed: {
      of: { kind: resource.listKind, apiVersion },
      entry: (item) => item.listJson(),
    },
    async list(items, meta) {
      const tails = await entriesOf(items, (item) => item.listTail());
      const open = listOpen(resource.listKind, apiVersion, meta);
      return piecesOf(tails, { open, first: firstBrace, between: betweenTails, close: listClose });
    },
    bookmark: (metadata) => Buffer.from(JSON.stringify({ kind, apiVersion, metadata })),
  };
}

function partialForm(naming: NamingProfile): Form {
  const object = (item: Item): Uint8Array =>
    item.encoded('partial', (one) => partialObjectBytes(one.object(), naming));
  return {
    variant: 'partial',
    object,
    laterObject: object,
    listed: {
      of: { kind: 'PartialObjectMetadataList', apiVersion: `${naming.metaGroup}/v1` },
      entry: object,
    },
    list: async (items, meta) =>
      piecesOf(await entriesOf(items, object), { open: partialListOpen(meta, naming), ...plain }),
    bookmark: (metadata) => partialObjectBytes({ metadata }, naming),
  };
}

function tableForm(naming: NamingProfile, options: TableOptions): Form {
  const { columns, include, headers, nowMs } = options;
  const open = (item: Item): Uint8Array =>
    item.encoded(`table-${include}`, (one) => openRow(one.object(), options, naming));
  const row = (item: Item): Uint8Array => closedRow(open(item), nowMs());
  const table = (item: Item, withHeaders: boolean): Uint8Array => {
    const meta = { resourceVersion: String(item.revision) };
    return tableBytes(row(item), meta, { columns, headers: withHeaders }, naming);
  };
  return {
    variant: `table-${include}`,
    isTimed: true,
    object: (item) => table(item, headers),
    laterObject: (item) => table(item, false),
    async list(items, meta) {
      const now = nowMs();
      const rows = await entriesOf(items, (item) => closedRow(open(item), now));
      return piecesOf(rows, { open: tableOpen(meta, { columns, headers }, naming), ...plain });
    },
    bookmark: (metadata) => {
      const bytes = closedRow(openRow({ metadata }, options, naming), nowMs());
      const meta = { resourceVersion: metadata.resourceVersion ?? '' };
      return tableBytes(bytes, meta, { columns, headers: false }, naming);
    },
  };
}

/**
 * What stands before, between and after the entries of a list; `first` comes right before the first
 * one.
 */
export interface ListFrame {
  readonly open: Uint8Array;
  readonly first: Uint8Array;
  readonly between: Uint8Array;
  readonly close: Uint8Array;
}
const plain = { first: nothing, between: listSeparator, close: listClose };

export function piecesOf(entries: readonly Uint8Array[], frame: ListFrame): Pieces {
  const { open, first, between, close } = frame;
  let totalBytes = open.length + close.length;
  for (const entry of entries) totalBytes += entry.length;
  if (entries.length > 0) totalBytes += first.length + between.length * (entries.length - 1);
  return {
    totalBytes,
    *[Symbol.iterator]() {
      yield open;
      let separator = first;
      for (const entry of entries) {
        if (separator.length > 0) yield separator;
        yield entry;
        separator = between;
      }
      yield close;
    },
  };
}
