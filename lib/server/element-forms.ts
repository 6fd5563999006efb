// The forms of an answer in encodings that put bodies together from elements (Protobuf, CBOR): an
// item's element is made at most once, objects and lists are copies of it.
import type { Scheme } from '../api/scheme.ts';
import type { JsonObject, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject, ObjectMeta } from '../codec/codec.ts';
import type { Elements, Encoding, KindName } from '../codec/encodings.ts';
import type { ListMeta } from '../codec/frame.ts';
import { parseCanonical } from '../codec/json.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { holdsRaw } from '../codec/raw-fields.ts';
import { partialObject, tableObject, tableRow } from '../codec/table.ts';
import { entriesOf, onePiece, piecesOf } from './forms.ts';
import type { Form, Forms, TableOptions } from './forms.ts';

const nothing = new Uint8Array();

export function elementForms(encoding: Encoding, elements: Elements, scheme: Scheme): Forms {
  const { mediaType } = encoding;
  const partialType = scheme.type('meta/v1.PartialObjectMetadata');
  const apiVersion = `${scheme.profile.metaGroup}/v1`;
  return {
    object: (resource) =>
      elementForm(elements, {
        variant: mediaType,
        type: resource.type,
        of: { kind: resource.kind.kind, apiVersion: apiVersionOf(resource.kind) },
        listKind: resource.listKind,
        isNamed: false,
        shown: (object) => object,
      }),
    partial: () =>
      elementForm(elements, {
        variant: `${mediaType} partial`,
        type: partialType,
        of: { kind: 'PartialObjectMetadata', apiVersion },
        listKind: 'PartialObjectMetadataList',
        isNamed: true,
        shown: (object) => partialObject(object, scheme.profile),
      }),
    table: (options) => wholeTableForm(encoding, scheme, options),
  };
}

interface ElementShape {
  readonly variant: string;
  readonly type: TypeInfo;
  readonly of: KindName;
  readonly listKind: string;
  /** Elements of its lists name their kind. */
  readonly isNamed: boolean;
  readonly shown: (object: Readonly<ApiObject>) => Readonly<ApiObject>;
}

function elementForm(elements: Elements, shape: ElementShape): Form {
  const { variant, type, of, shown } = shape;
  const listOf = { kind: shape.listKind, apiVersion: of.apiVersion };
  // From the JSON, not from the decoded object: that would stay in memory beside the element.
  // Raw JSON is kept by the object alone.
  const objectOf = holdsRaw(type)
    ? (item: Item): Readonly<ApiObject> => canonicalObject(item.object(), type)
    : (item: Item): Readonly<ApiObject> => parseCanonical(item.json());
  const make = (item: Item): Uint8Array => elements.element(shown(objectOf(item)), type);
  const element = (item: Item): Uint8Array => item.encoded(variant, make);
  const entry = shape.isNamed
    ? (item: Item): Uint8Array => elements.named(element(item), of)
    : element;
  const object = (item: Item): Uint8Array => elements.document(element(item), of);
  return {
    variant,
    object,
    laterObject: object,
    async list(items, meta) {
      const entries = await entriesOf(items, entry);
      let totalBytes = 0;
      for (const { length } of entries) totalBytes += length;
      const ends = elements.list(listOf, meta, { count: entries.length, totalBytes });
      return piecesOf(entries, { ...ends, first: nothing, between: nothing });
    },
    bookmark(metadata) {
      const bare = canonicalObject(shown({ metadata }), type);
      return elements.document(elements.element(bare, type), of);
    },
  };
}

/** Tables, which are seldom asked for in such an encoding, are written whole. */
function wholeTableForm(
  { mediaType, codec }: Encoding,
  scheme: Scheme,
  options: TableOptions,
): Form {
  const naming = scheme.profile;
  const type = scheme.type('meta/v1.Table');
  const { columns, include, headers, nowMs } = options;
  const row = (object: Readonly<ApiObject>): JsonObject =>
    tableRow(object, options, { profile: naming, nowMs: nowMs() });
  const table = (rows: readonly JsonObject[], meta: ListMeta, withHeaders: boolean): Uint8Array =>
    codec.encode(tableObject(rows, meta, { columns, headers: withHeaders }, naming), type);
  const ofItem = (item: Item, withHeaders: boolean): Uint8Array =>
    table([row(item.object())], { resourceVersion: String(item.revision) }, withHeaders);
  return {
    variant: `${mediaType} table-${include}`,
    isTimed: true,
    object: (item) => ofItem(item, headers),
    laterObject: (item) => ofItem(item, false),
    list: async (items, meta) =>
      onePiece(
        table(
          items.map((item) => row(item.object())),
          meta,
          headers,
        ),
      ),
    bookmark: (metadata: ObjectMeta, _resource: ResourceInfo) =>
      table([row({ metadata })], { resourceVersion: metadata.resourceVersion ?? '' }, false),
  };
}
