// Lists of documents that are no objects of a store: put together from items that are encoded once
// in each encoding, so that a change costs what changed.
import type { JsonObject, TypeInfo } from '../api/type-info.ts';
import { isObject } from '../api/json-value.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import { Yielder } from '../base/yielder.ts';
import type { Encoding } from '../codec/encodings.ts';
import { listClose, listOpen, listSeparator } from '../codec/frame.ts';
import type { Negotiated } from '../codec/negotiate.ts';
import { jsonCodec } from '../codec/json.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { piecesOf } from './pieces.ts';
import type { ListFrame, Pieces } from './pieces.ts';

/** By item, what it is in each encoding. */
const encoded = new WeakMap<JsonObject, Map<string, Uint8Array>>();

/** `object` has kind, apiVersion and items, and says nothing else; its items never change. */
export async function encodeItems(
  object: Readonly<JsonObject>,
  type: TypeInfo,
  encoding: Encoding,
  { pretty: isPretty }: Pick<Negotiated, 'pretty'>,
): Promise<Pieces> {
  const { kind, apiVersion, items } = object;
  const itemType = type.fieldByJsonName.get('items')?.message;
  invariant(
    typeof kind === 'string' && typeof apiVersion === 'string' && Array.isArray(items),
    'a list has kind, apiVersion and items',
  );
  invariant(itemType !== undefined, 'the items of a list have a type');
  const form = formOf({ kind, apiVersion }, encoding, isPretty);
  const name = `${encoding.mediaType} ${String(form.isPretty)}`;
  const yielder = new Yielder(limits.answerTurnMsMax);
  const entries: Uint8Array[] = [];
  for (const item of items) {
    invariant(isObject(item), 'items are objects');
    entries.push(entryOf(item, name, (one) => form.entry(one, itemType)));
    if (yielder.isDue()) await yielder.yield();
  }
  return piecesOf(entries, form.frame(entries));
}

function entryOf(
  item: JsonObject,
  name: string,
  make: (item: JsonObject) => Uint8Array,
): Uint8Array {
  let forms = encoded.get(item);
  if (forms === undefined) {
    forms = new Map();
    encoded.set(item, forms);
  }
  let entry = forms.get(name);
  if (entry === undefined) {
    entry = make(item);
    forms.set(name, entry);
  }
  return entry;
}

interface ListForm {
  readonly isPretty: boolean;
  readonly entry: (item: JsonObject, type: TypeInfo) => Uint8Array;
  readonly frame: (entries: readonly Uint8Array[]) => ListFrame;
}

const nothing = new Uint8Array();
const noVersion = { resourceVersion: '' };

function formOf(
  of: { readonly kind: string; readonly apiVersion: string },
  { codec, elements, rewrite, pretty }: Encoding,
  isPretty: boolean,
): ListForm {
  const lists = isPretty && pretty !== undefined ? pretty.lists : rewrite?.lists;
  if (lists !== undefined) {
    return {
      isPretty,
      entry: (item, type) => lists.entry(jsonCodec.encode(item, type)),
      frame: ({ length }) => ({
        ...lists.ends(of, noVersion, length),
        first: nothing,
        between: lists.between,
      }),
    };
  }
  if (elements !== undefined) {
    return {
      isPretty: false,
      entry: (item, type) => elements.element(canonicalObject(item, type), type),
      frame(entries) {
        const totalBytes = entries.reduce((sum, { length }) => sum + length, 0);
        const ends = elements.list(of, noVersion, { count: entries.length, totalBytes });
        return { ...ends, first: nothing, between: nothing };
      },
    };
  }
  return {
    isPretty: false,
    entry: (item, type) => codec.encode(item, type),
    frame: () => ({
      open: listOpen(of.kind, of.apiVersion, noVersion),
      first: nothing,
      between: listSeparator,
      close: listClose,
    }),
  };
}
