// What answers show of objects: the objects as they are, their metadata alone, or a Table; as JSON,
// made at most once per item. Lists are concatenations.
import type { Scheme } from '../api/scheme.ts';
import type { ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject, ObjectMeta } from '../codec/codec.ts';
import type { KindName } from '../codec/encodings.ts';
import { listClose, listOpen, listSeparator } from '../codec/frame.ts';
import type { ListMeta } from '../codec/frame.ts';
import type { OfferedTransform } from '../codec/negotiate.ts';
import {
  parseIncludeObject,
  partialListOpen,
  partialObject,
  partialObjectBytes,
  tableBytes,
  tableOpen,
  tableRow,
} from '../codec/table.ts';
import type { RowForm, TableRow } from '../codec/table.ts';
import { kindColumns, kindFieldAnnotations } from '../kinds/built-in-kinds.ts';
import { tailEntries } from './pieces.ts';
import type { Entries, ListFrame } from './pieces.ts';

export interface Transform {
  /** Names it among what is memoised of items and events. */
  readonly variant: string;
  /** Of what it shows of one object. */
  readonly type: TypeInfo;
  readonly object: (item: Item) => Uint8Array;
  /** `object` in a watch's events after the first: Tables send their columns once. */
  readonly laterObject: (item: Item) => Uint8Array;
  /** The object of a bookmark, whose metadata is given. */
  readonly bookmark: (metadata: ObjectMeta) => Uint8Array;
  readonly list: (meta: ListMeta) => ListParts;
  /**
   * What it shows is objects, each by itself; undefined: a Table, whose ages hold for one answer
   * alone.
   */
  readonly objects: ShownObjects | undefined;
}

export interface ListParts extends ListFrame {
  /** The entries of all, where they are not made one by one; undefined: they are. */
  readonly entries?: (items: readonly Item[]) => Entries | undefined | Promise<Entries | undefined>;
  readonly entry: (item: Item) => Uint8Array;
}

/** For encodings that write objects otherwise than from their JSON, and lists from entries. */
export interface ShownObjects {
  readonly kind: KindName;
  readonly listKind: KindName;
  /** Entries of its lists name their kind. */
  readonly isNamed: boolean;
  readonly shown: (object: Readonly<ApiObject>) => Readonly<ApiObject>;
  /** An entry of a list, in JSON. */
  readonly entry: (item: Item) => Uint8Array;
}

/** A form, in a version of the group of metadata. */
export type AskedTransform = Pick<OfferedTransform, 'as' | 'version'>;

export interface Transforms {
  /**
   * What is asked for by `as` of the Accept header; undefined: the objects as they are.
   * @throws StatusError 400 for a query that no Table can answer.
   */
  of(resource: ResourceInfo, as: AskedTransform | undefined, query: URLSearchParams): Transform;
}

export function createTransforms(options: {
  readonly scheme: Scheme;
  /** For ages in Tables. */
  readonly nowMs: () => number;
}): Transforms {
  const { scheme, nowMs } = options;
  const naming = scheme.profile;
  const columnsOf = kindColumns(naming);
  const tableType = scheme.type('meta/v1.Table');
  const hiddenOf = kindFieldAnnotations(naming);
  const partials = new Map<string, Transform>();
  const partialOf = ({ type }: ResourceInfo, apiVersion: string): Transform => {
    const hidden = hiddenOf(type);
    const key = [apiVersion, ...hidden].join();
    const partial = partials.get(key) ?? asPartialObjectMetadata(scheme, hidden, apiVersion);
    partials.set(key, partial);
    return partial;
  };
  return {
    of(resource, as, query) {
      if (as === undefined) return asItIs(resource);
      const apiVersion = apiVersionOf({ group: naming.metaGroup, version: as.version });
      if (as.as !== 'Table') return partialOf(resource, apiVersion);
      return asTable({
        apiVersion,
        nowMs,
        type: tableType,
        columns: resource.columns ?? columnsOf(resource.type),
        showsStored: resource.columns === undefined,
        include: parseIncludeObject(query.get('includeObject')),
        hidden: hiddenOf(resource.type),
        headers: query.get('noHeaders') !== 'true',
      });
    },
  };
}

/** Before and between entries, with the opening brace that `listTail` leaves out. */
const tails = { first: Buffer.from('{'), between: Buffer.from(',{'), close: listClose };

function asItIs({ type, kind: of, listKind, namesItself = false }: ResourceInfo): Transform {
  const { kind } = of;
  const apiVersion = apiVersionOf(of);
  const object = (item: Item): Uint8Array => item.json();
  return {
    variant: 'json',
    type,
    object,
    laterObject: object,
    bookmark: (metadata) => Buffer.from(JSON.stringify({ kind, apiVersion, metadata })),
    list(meta) {
      const open = listOpen(listKind, apiVersion, meta);
      return namesItself
        ? { entry: object, open, ...plain }
        : { entry: (item) => item.listTail(), entries: tailEntries, open, ...tails };
    },
    objects: {
      kind: { kind, apiVersion },
      listKind: { kind: listKind, apiVersion },
      isNamed: namesItself,
      shown: (one) => one,
      entry: namesItself ? object : (item) => item.listJson(),
    },
  };
}

const plain = { first: new Uint8Array(), between: listSeparator, close: listClose };

function asPartialObjectMetadata(
  scheme: Scheme,
  hidden: readonly string[],
  apiVersion: string,
): Transform {
  const variant = `partial ${apiVersion}`;
  const make = (item: Item): Uint8Array => partialObjectBytes(item.object(), apiVersion, hidden);
  const object = (item: Item): Uint8Array => item.encoded(variant, make);
  return {
    variant,
    type: scheme.type('meta/v1.PartialObjectMetadata'),
    object,
    laterObject: object,
    bookmark: (metadata) => partialObjectBytes({ metadata }, apiVersion),
    list: (meta) => ({ entry: object, open: partialListOpen(meta, apiVersion), ...plain }),
    objects: {
      kind: { kind: 'PartialObjectMetadata', apiVersion },
      listKind: { kind: 'PartialObjectMetadataList', apiVersion },
      isNamed: true,
      shown: (one) => partialObject(one, apiVersion, hidden),
      entry: object,
    },
  };
}

interface TableOptions extends RowForm {
  readonly apiVersion: string;
  /** Cells show the stored object, in whichever version it is asked for. */
  readonly showsStored: boolean;
  readonly type: TypeInfo;
  readonly headers: boolean;
  readonly nowMs: () => number;
}

function asTable(options: TableOptions): Transform {
  const { apiVersion, type, columns, include, headers, nowMs, showsStored } = options;
  // Rows that are kept with items are those of these columns.
  const variant = `table-${include} ${apiVersion} ${columns.variant ?? ''}`;
  const make = (item: Item): TableRow => {
    const stored = showsStored ? item.stored?.() : undefined;
    const source = { stored: stored ?? item.object(), json: () => item.json() };
    return tableRow(item.object(), options, apiVersion, source);
  };
  const rowOf = (item: Item): TableRow => item.encoded(variant, make);
  const table = (row: TableRow, revision: string, withHeaders: boolean): Uint8Array => {
    const shown = { columns, headers: withHeaders };
    return tableBytes(row.bytesAt(nowMs()), { resourceVersion: revision }, shown, apiVersion);
  };
  return {
    variant,
    type,
    object: (item) => table(rowOf(item), String(item.revision), headers),
    laterObject: (item) => table(rowOf(item), String(item.revision), false),
    bookmark: (metadata) =>
      table(tableRow({ metadata }, options, apiVersion), metadata.resourceVersion ?? '', false),
    list(meta) {
      const now = nowMs();
      return {
        entry: (item) => rowOf(item).bytesAt(now),
        open: tableOpen(meta, { columns, headers }, apiVersion),
        ...plain,
      };
    },
    objects: undefined,
  };
}
