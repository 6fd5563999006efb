// What answers show of objects: the objects as they are, their metadata alone, or a Table; as JSON,
// made at most once per item. Lists are concatenations.
import type { Scheme } from '../api/scheme.ts';
import type { ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject, ObjectMeta } from '../codec/codec.ts';
import type { KindName } from '../codec/encodings.ts';
import { listClose, listOpen, listSeparator } from '../codec/frame.ts';
import type { ListMeta } from '../codec/frame.ts';
import type { TransformName } from '../codec/negotiate.ts';
import {
  closedRow,
  openRow,
  parseIncludeObject,
  partialListOpen,
  partialObject,
  partialObjectBytes,
  tableBytes,
  tableOpen,
} from '../codec/table.ts';
import type { RowForm } from '../codec/table.ts';
import { kindColumns, kindFieldAnnotations } from '../kinds/built-in-kinds.ts';
import type { ListFrame } from './pieces.ts';

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

export interface Transforms {
  /**
   * What is asked for by `as` of the Accept header; undefined: the objects as they are.
   * @throws StatusError 400 for a query that no Table can answer.
   */
  of(resource: ResourceInfo, as: TransformName | undefined, query: URLSearchParams): Transform;
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
  const partialOf = ({ type }: ResourceInfo): Transform => {
    const hidden = hiddenOf(type);
    const key = hidden.join();
    const partial = partials.get(key) ?? asPartialObjectMetadata(scheme, hidden);
    partials.set(key, partial);
    return partial;
  };
  return {
    of(resource, as, query) {
      if (as === undefined) return asItIs(resource);
      if (as !== 'Table') return partialOf(resource);
      return asTable({
        naming,
        nowMs,
        type: tableType,
        columns: columnsOf(resource.type),
        include: parseIncludeObject(query.get('includeObject')),
        hidden: hiddenOf(resource.type),
        headers: query.get('noHeaders') !== 'true',
      });
    },
  };
}

/** Between two entries, with the opening brace that `listTail` leaves out. */
const betweenTails = Buffer.from(',{');
const firstBrace = Buffer.from('{');

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
    list: (meta) => ({
      open: listOpen(listKind, apiVersion, meta),
      ...(namesItself ? whole : tails),
    }),
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
/** Entries say what they are. */
const whole = { entry: (item: Item): Uint8Array => item.json(), ...plain };
/** The list says what they are. */
const tails = {
  entry: (item: Item): Uint8Array => item.listTail(),
  first: firstBrace,
  between: betweenTails,
  close: listClose,
};

function asPartialObjectMetadata(scheme: Scheme, hidden: readonly string[]): Transform {
  const naming = scheme.profile;
  const apiVersion = `${naming.metaGroup}/v1`;
  const object = (item: Item): Uint8Array =>
    item.encoded('partial', (one) => partialObjectBytes(one.object(), naming, hidden));
  return {
    variant: 'partial',
    type: scheme.type('meta/v1.PartialObjectMetadata'),
    object,
    laterObject: object,
    bookmark: (metadata) => partialObjectBytes({ metadata }, naming),
    list: (meta) => ({ entry: object, open: partialListOpen(meta, naming), ...plain }),
    objects: {
      kind: { kind: 'PartialObjectMetadata', apiVersion },
      listKind: { kind: 'PartialObjectMetadataList', apiVersion },
      isNamed: true,
      shown: (one) => partialObject(one, naming, hidden),
      entry: object,
    },
  };
}

interface TableOptions extends RowForm {
  readonly naming: NamingProfile;
  readonly type: TypeInfo;
  readonly headers: boolean;
  readonly nowMs: () => number;
}

function asTable(options: TableOptions): Transform {
  const { naming, type, columns, include, headers, nowMs } = options;
  const variant = `table-${include}`;
  const open = (item: Item): Uint8Array =>
    item.encoded(variant, (one) => {
      const stored = item.stored?.() ?? one.object();
      return openRow(one.object(), options, naming, { stored, json: () => one.json() });
    });
  const table = (row: Uint8Array, revision: string, withHeaders: boolean): Uint8Array => {
    const shown = { columns, headers: withHeaders };
    return tableBytes(closedRow(row, nowMs()), { resourceVersion: revision }, shown, naming);
  };
  return {
    variant,
    type,
    object: (item) => table(open(item), String(item.revision), headers),
    laterObject: (item) => table(open(item), String(item.revision), false),
    bookmark: (metadata) =>
      table(openRow({ metadata }, options, naming), metadata.resourceVersion ?? '', false),
    list(meta) {
      const now = nowMs();
      return {
        entry: (item) => closedRow(open(item), now),
        open: tableOpen(meta, { columns, headers }, naming),
        ...plain,
      };
    },
    objects: undefined,
  };
}
