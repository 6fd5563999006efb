// The forms an answer can have in JSON: objects as they are stored, metadata only, Table. Each makes its bytes per item
// at most once; lists are concatenations.
import type { ResourceInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ObjectMeta } from '../codec/codec.ts';
import { listClose, listOpen, listSeparator } from '../codec/frame.ts';
import type { ListMeta } from '../codec/frame.ts';
import {
  defaultColumns,
  partialListOpen,
  partialObjectBytes,
  tableBytes,
  tableOpen,
  tableRowBytes,
} from '../codec/table.ts';
import type { IncludeObject } from '../codec/table.ts';
import type { Pieces } from './representation.ts';

export interface Form {
  /** Names the form among an event's memoised frames. */
  readonly variant: string;
  object(item: Item): Uint8Array;
  /** `object` of an event after the first of a watch, where that differs (Tables send their columns once). */
  laterObject(item: Item): Uint8Array;
  list(items: readonly Item[], meta: ListMeta): Pieces;
  /** The object of a bookmark, whose metadata is given. */
  bookmark(metadata: ObjectMeta, resource: ResourceInfo): Uint8Array;
}

/** Between two entries, with the opening brace that `listTail` leaves out. */
const betweenTails = Buffer.from(',{');
const firstBrace = Buffer.from('{');
const nothing = new Uint8Array();

export function objectForm(resource: ResourceInfo): Form {
  const { kind } = resource.kind;
  const apiVersion = apiVersionOf(resource.kind);
  const object = (item: Item): Uint8Array => item.json();
  return {
    variant: 'json',
    object,
    laterObject: object,
    list: (items, meta) => {
      const tails = items.map((item) => item.listTail());
      const open = listOpen(resource.listKind, apiVersion, meta);
      return piecesOf(open, tails, { first: firstBrace, between: betweenTails });
    },
    bookmark: (metadata) => Buffer.from(JSON.stringify({ kind, apiVersion, metadata })),
  };
}

export function partialForm(naming: NamingProfile): Form {
  const object = (item: Item): Uint8Array =>
    item.encoded('partial', (one) => partialObjectBytes(one.object(), naming));
  return {
    variant: 'partial',
    object,
    laterObject: object,
    list: (items, meta) => piecesOf(partialListOpen(meta, naming), items.map(object), plain),
    bookmark: (metadata) => partialObjectBytes({ metadata }, naming),
  };
}

export function tableForm(
  naming: NamingProfile,
  options: { readonly include: IncludeObject; readonly headers: boolean },
): Form {
  const { include, headers } = options;
  const columns = defaultColumns;
  const row = (item: Item): Uint8Array =>
    item.encoded(`table-${include}`, (one) =>
      tableRowBytes(one.object(), { columns, include }, naming),
    );
  const table = (item: Item, withHeaders: boolean): Uint8Array => {
    const meta = { resourceVersion: String(item.revision) };
    return tableBytes(row(item), meta, { columns, headers: withHeaders }, naming);
  };
  return {
    variant: `table-${include}`,
    object: (item) => table(item, headers),
    laterObject: (item) => table(item, false),
    list: (items, meta) =>
      piecesOf(tableOpen(meta, { columns, headers }, naming), items.map(row), plain),
    bookmark: (metadata) => {
      const bytes = tableRowBytes({ metadata }, { columns, include }, naming);
      const meta = { resourceVersion: metadata.resourceVersion ?? '' };
      return tableBytes(bytes, meta, { columns, headers: false }, naming);
    },
  };
}

interface Separators {
  readonly first: Uint8Array;
  readonly between: Uint8Array;
}
const plain: Separators = { first: nothing, between: listSeparator };

/** `open`, the entries with their separators, and the end of a list. */
function piecesOf(
  open: Uint8Array,
  entries: readonly Uint8Array[],
  separators: Separators,
): Pieces {
  const { first, between } = separators;
  let totalBytes = open.length + listClose.length;
  for (const entry of entries) totalBytes += entry.length;
  if (entries.length > 0) totalBytes += first.length + between.length * (entries.length - 1);
  return {
    totalBytes,
    *[Symbol.iterator]() {
      yield open;
      let separator = first;
      for (const entry of entries) {
        yield separator;
        yield entry;
        separator = between;
      }
      yield listClose;
    },
  };
}
