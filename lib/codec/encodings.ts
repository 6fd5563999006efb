// Every media type that objects come and go in: one row each, in the order in which refusals name
// them. A row says how its lists and watches are put together from what is encoded once.
import type { TypeInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import {
  cborCodec,
  cborDocument,
  cborElement,
  cborEvent,
  cborListEnds,
  cborSequence,
  namedCborElement,
} from './cbor.ts';
import type { ApiObject, Codec, WatchEventType } from './codec.ts';
import { watchEvent } from './frame.ts';
import type { ListMeta } from './frame.ts';
import { jsonCodec, parseData } from './json.ts';
import type { OfferedMedia } from './negotiate.ts';
import { prettyJson, prettyListEnds, prettyListEntry, prettyListSeparator } from './pretty-json.ts';
import {
  createProtobufCodec,
  envelope,
  hasProtobufForm,
  listEnds,
  listEntry,
  messageOfEntry,
  watchFrame,
} from './protobuf.ts';
import { encodeYaml, yamlCodec, yamlListEnds, yamlListEntry } from './yaml.ts';

/** Kind and apiVersion of an object that stands alone. */
export interface KindName {
  readonly kind: string;
  readonly apiVersion: string;
}

/** Objects and lists from elements: objects encoded once, without kind and apiVersion. */
export interface Elements {
  /** Of a canonical object. */
  element(object: Readonly<ApiObject>, type: TypeInfo): Uint8Array;
  /** An element of a list whose elements name their kind. */
  named(element: Uint8Array, of: KindName): Uint8Array;
  /** A body of its own. */
  document(element: Uint8Array, of: KindName): Uint8Array;
  /** What stands before and after a list's elements. */
  list(
    of: KindName,
    metadata: ListMeta,
    elements: { readonly count: number; readonly totalBytes: number },
  ): { readonly open: Uint8Array; readonly close: Uint8Array };
}

/** How events follow one another. */
export interface StreamFraming {
  readonly contentType: string;
  event(type: WatchEventType, object: Uint8Array): Uint8Array;
  /** An event without its delimiter: one message of a WebSocket. */
  message(event: Uint8Array): Uint8Array;
}

export interface Encoding extends OfferedMedia {
  readonly codec: Codec;
  /** undefined: a watch cannot be sent in it. */
  readonly stream: StreamFraming | undefined;
  /** Whether objects of this type can be encoded so. */
  holds(type: TypeInfo): boolean;
  /** undefined: lists are not put together from elements. */
  readonly elements: Elements | undefined;
  /** From JSON bytes to this encoding, where that is how it is made. */
  readonly rewrite: Rewrite | undefined;
  /** From JSON bytes to what people read (`pretty`); undefined: it has no such form. */
  readonly pretty: Rewrite | undefined;
}

/** From JSON to another encoding. */
export interface Rewrite {
  readonly whole: (json: Uint8Array) => Uint8Array;
  /** How lists are put together from entries; undefined: they are made as a whole. */
  readonly lists:
    | {
        entry(json: Uint8Array): Uint8Array;
        /** Stands between two entries. */
        readonly between: Uint8Array;
        ends(
          of: KindName,
          metadata: ListMeta,
          count: number,
        ): { readonly open: Uint8Array; readonly close: Uint8Array };
      }
    | undefined;
}

export function createEncodings(
  naming: NamingProfile,
  { cbor }: { readonly cbor: boolean } = { cbor: false },
): readonly Encoding[] {
  const always = [jsonEncoding, yamlEncoding, protobufEncoding(naming)];
  return cbor ? [...always, cborEncoding] : always;
}

const nothing = new Uint8Array();
const holdsAll = (): boolean => true;

export const jsonStream: StreamFraming = {
  contentType: jsonCodec.mediaType,
  event: watchEvent,
  message: (event) => event.subarray(0, -1), // without its newline
};

const jsonEncoding: Encoding = {
  mediaType: jsonCodec.mediaType,
  streams: true,
  codec: jsonCodec,
  stream: jsonStream,
  holds: holdsAll,
  elements: undefined,
  rewrite: undefined,
  pretty: {
    whole: prettyJson,
    lists: { entry: prettyListEntry, between: prettyListSeparator, ends: prettyListEnds },
  },
};

const yamlEncoding: Encoding = {
  mediaType: yamlCodec.mediaType,
  streams: false,
  codec: yamlCodec,
  stream: undefined,
  holds: holdsAll,
  elements: undefined,
  rewrite: {
    whole: (json) => encodeYaml(parseData(json)),
    lists: {
      entry: (json) => yamlListEntry(parseData(json)),
      between: nothing,
      ends: yamlListEnds,
    },
  },
  pretty: undefined,
};

const cborEncoding: Encoding = {
  mediaType: cborCodec.mediaType,
  streams: true,
  codec: cborCodec,
  stream: { contentType: cborSequence, event: cborEvent, message: (event) => event },
  holds: holdsAll,
  elements: {
    element: cborElement,
    named: namedCborElement,
    document: cborDocument,
    list: (of, metadata, { count }) => cborListEnds(of, metadata, count),
  },
  rewrite: undefined,
  pretty: undefined,
};

function protobufEncoding(naming: NamingProfile): Encoding {
  const mediaType = naming.protobufMediaType;
  return {
    mediaType,
    streams: true,
    tables: false,
    codec: createProtobufCodec(mediaType),
    stream: {
      contentType: `${mediaType};stream=watch`,
      event: watchFrame,
      message: (event) => event.subarray(4), // without its length
    },
    holds: hasProtobufForm,
    elements: {
      element: listEntry,
      named: (element) => element, // Its envelope alone names a kind.
      document: (element, of) => envelope(messageOfEntry(element), of),
      list: (of, metadata, { totalBytes }) => listEnds(of, metadata, totalBytes),
    },
    rewrite: undefined,
    pretty: undefined,
  };
}
