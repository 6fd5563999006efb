// Which encodings bodies have, the one that a request asks for, and how objects, lists and watch
// events are written in each: once per item or event, and shared. Encodings are rows
// (lib/codec/encodings.ts): nothing here knows one of them.
import type { Scheme } from '../api/scheme.ts';
import type { JsonObject, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { StatusBody, StatusError } from '../base/status.ts';
import { TextMemo } from '../base/text-memo.ts';
import type { Item, WatchEvent } from '../cacher/resource-view.ts';
import type { ApiObject, Decoded, NamedKind, ObjectMeta } from '../codec/codec.ts';
import type { Elements, Encoding, Rewrite, StreamFraming } from '../codec/encodings.ts';
import type { ListMeta } from '../codec/frame.ts';
import { parseCanonical, parseData } from '../codec/json.ts';
import {
  contentTypeOf,
  negotiateBody,
  negotiateError,
  negotiateResponse,
  negotiateStream,
  resourceTransforms,
} from '../codec/negotiate.ts';
import type {
  Negotiated,
  OfferedMedia,
  OfferedTransform,
  ResponseOffers,
} from '../codec/negotiate.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { holdsRaw } from '../codec/raw-fields.ts';
import { objectAtVersion } from '../codec/stored-form.ts';
import type { InHand, ListAnswer } from '../registry/requests.ts';
import { entriesOf, framedPieces, onePiece, piecesOf } from './pieces.ts';
import type { Pieces } from './pieces.ts';
import type { HttpRequest } from './request-context.ts';
import { encodeItems } from './item-encoding.ts';
import { createTransforms } from './transforms.ts';
import type { ShownObjects, Transform } from './transforms.ts';
import { wantsPretty } from './wants-pretty.ts';

export interface Serializers {
  /** For answers that show the resource. @throws StatusError 406, 400. */
  of(request: HttpRequest, resource: ResourceInfo, shape: 'object' | 'list'): Serializer;
  /** @throws StatusError 406, 400. */
  ofWatch(request: HttpRequest, resource: ResourceInfo): StreamSerializer;
  /** Never fails: what cannot be had is answered in JSON. */
  ofStatus(error: StatusError, request: HttpRequest): EncodedDocument;
  /** How a document that is no resource is answered. @throws StatusError 406. */
  negotiate(request: HttpRequest, transforms: readonly OfferedTransform[]): Negotiated;
  encode(object: Readonly<JsonObject>, type: TypeInfo, as: Negotiated): EncodedDocument;
  /** A list that is no answer of a store: each of its items is encoded once, and never changes. */
  encodeList(object: Readonly<JsonObject>, type: TypeInfo, as: Negotiated): Promise<Pieces>;
  /** Object of a request's body; `mustBe` as the codecs take it. @throws StatusError 400, 415. */
  decode(
    request: HttpRequest,
    body: Uint8Array,
    type: TypeInfo,
    mustBe?: (named: NamedKind) => void,
  ): Decoded;
}

export interface Serializer {
  readonly contentType: string;
  /** `written`: of a written object, where it may be at hand. */
  readonly object: (item: Item, written?: InHand) => Uint8Array;
  list(answer: ListAnswer): Promise<Pieces>;
  status(status: StatusBody): Uint8Array;
  /** The same in plain JSON. */
  readonly plain: Pick<Serializer, 'object' | 'list'>;
}

export interface StreamSerializer {
  readonly contentType: string;
  /**
   * Whose frames of an event are the same as these; undefined: a frame depends on who asks, or on
   * what was asked for before.
   */
  readonly variant: string | undefined;
  /** One framed event, shared among all watchers that ask for the same. */
  frame(event: WatchEvent): Uint8Array;
  /** A frame as one message of a WebSocket, which needs no separation of its own. */
  message(frame: Uint8Array): Uint8Array;
  /** A bookmark at `revision`, for the end of a stream. */
  bookmark(revision: number): Uint8Array;
  /** An ERROR event. */
  error(error: StatusError): Uint8Array;
}

export interface EncodedDocument {
  readonly contentType: string;
  readonly body: Uint8Array;
}

export function createSerializers(options: {
  readonly scheme: Scheme;
  /** What is offered, in the order in which refusals name them. */
  readonly encodings: readonly Encoding[];
  /** For ages in Tables. */
  readonly nowMs?: () => number;
}): Serializers {
  const { scheme, encodings, nowMs = () => systemClock.nowMs() } = options;
  const naming = scheme.profile;
  const transforms = createTransforms({ scheme, nowMs });
  const encodingOf = encodingByMediaType(encodings);
  const mediaOf = mediaByType(encodings, scheme);
  const offered = transformsOf(naming);
  const statusType = scheme.type('meta/v1.Status');
  const encode: Serializers['encode'] = (object, type, as) => {
    const { codec, pretty } = encodingOf(as.mediaType);
    const body = codec.encode(object, type);
    const shown = as.pretty && pretty !== undefined ? pretty.whole(body) : body;
    return { contentType: contentTypeOf(as), body: shown };
  };
  const encodeStatus = (status: StatusBody, as: Negotiated): EncodedDocument =>
    encode(status as unknown as JsonObject, statusType, as);
  const transformFor = (request: HttpRequest, resource: ResourceInfo, as: Negotiated): Transform =>
    transforms.of(resource, as.transform, request.context.info.query);
  const make: Serializers['of'] = (request, resource, shape) => {
    const offers = { media: mediaOf(resource.type), transforms: offered[shape] };
    const as = agreedOn(request, offers);
    const transform = transformFor(request, resource, as);
    const { object, list } = writerOf(transform, encodingOf(as.mediaType), as);
    const plain = jsonWriter(transform);
    return {
      contentType: as.mediaType,
      object,
      list: (answer) => list(answer.items, listMeta(answer)),
      status: (status) => encodeStatus(status, as).body,
      plain: { object: plain.object, list: (answer) => plain.list(answer.items, listMeta(answer)) },
    };
  };
  const usual = { object: new UsualSerializers(), list: new UsualSerializers() };
  return {
    of: (request, resource, shape) =>
      usual[shape].of(request, resource, () => make(request, resource, shape)),
    ofWatch(request, resource) {
      const offers = { media: mediaOf(resource.type), transforms: offered.watch };
      const as = negotiateStream(request.headers.accept, offers);
      const encoding = encodingOf(as.mediaType);
      const writer = writerOf(transformFor(request, resource, as), encoding, as);
      return streamSerializer(writer, {
        stream: streamOf(encoding),
        initialEventsEnd: naming.initialEventsEndAnnotation,
        errorObject: (error) => encodeStatus(error.toBody(), as).body,
      });
    },
    ofStatus(error, request) {
      const as = negotiateError(request.headers.accept, encodings, wantsPretty(request));
      return encodeStatus(error.toBody(), as);
    },
    negotiate: (request, to) => agreedOn(request, { media: encodings, transforms: to }),
    encode,
    encodeList: (object, type, as) => encodeItems(object, type, encodingOf(as.mediaType), as),
    decode(request, body, type, mustBe) {
      const mediaType = negotiateBody(request.headers['content-type'], wholeMedia(mediaOf(type)));
      return encodingOf(mediaType).codec.decode(body, type, mustBe);
    },
  };
}

const transformsOf = (naming: NamingProfile) => ({
  object: resourceTransforms(naming, 'object'),
  list: resourceTransforms(naming, 'list'),
  watch: resourceTransforms(naming, 'watch'),
});

const agreedOn = (request: HttpRequest, offers: ResponseOffers): Negotiated =>
  negotiateResponse(request.headers.accept, offers, wantsPretty(request));

/** The row of a media type that is offered. */
function encodingByMediaType(encodings: readonly Encoding[]): (mediaType: string) => Encoding {
  const byMediaType = new Map(encodings.map((encoding) => [encoding.mediaType, encoding]));
  return (mediaType) => {
    const found = byMediaType.get(mediaType);
    if (found === undefined) throw new Error(`${mediaType} is not offered`);
    return found;
  };
}

/** What answers about objects of a type may have: some encodings hold their metadata alone. */
function mediaByType(
  encodings: readonly Encoding[],
  scheme: Scheme,
): (type: TypeInfo) => readonly OfferedMedia[] {
  const partial = scheme.type('meta/v1.PartialObjectMetadata');
  const found = new WeakMap<TypeInfo, readonly OfferedMedia[]>();
  return (type) => {
    const known = found.get(type);
    if (known !== undefined) return known;
    const media = encodings
      .filter((encoding) => encoding.holds(type) || encoding.holds(partial))
      .map((encoding) => (encoding.holds(type) ? encoding : { ...encoding, whole: false }));
    found.set(type, media);
    return media;
  };
}

/** Those that hold the objects themselves. */
const wholeMedia = (media: readonly OfferedMedia[]): readonly string[] =>
  media.flatMap(({ mediaType, whole }) => (whole === false ? [] : [mediaType]));

/** Query parameters that choose an answer besides the Accept header and `wantsPretty`. */
const transformParameters: readonly string[] = ['includeObject', 'noHeaders'];
const acceptBounds = { countMax: limits.knownAcceptsMax, lengthMax: limits.knownAcceptLengthMax };

/** What each Accept header comes to, by resource: clients send few different ones. */
class UsualSerializers {
  readonly #byResource = new WeakMap<ResourceInfo, TextMemo<Serializer>>();

  of(request: HttpRequest, resource: ResourceInfo, make: () => Serializer): Serializer {
    const { query } = request.context.info;
    if (wantsPretty(request)) return make();
    if (query.size > 0 && transformParameters.some((name) => query.has(name))) return make();
    let byAccept = this.#byResource.get(resource);
    if (byAccept === undefined) {
      byAccept = new TextMemo(acceptBounds);
      this.#byResource.set(resource, byAccept);
    }
    return byAccept.of(request.headers.accept ?? '', make);
  }
}

const listMeta = (answer: ListAnswer): ListMeta => ({
  // What is not stored has no version.
  resourceVersion: answer.revision === 0 ? '' : String(answer.revision),
  continue: answer.continueToken,
  remainingItemCount: answer.remainingItemCount,
});

/** A transform in an encoding. */
interface Writer extends Pick<Transform, 'variant' | 'laterObject' | 'bookmark'> {
  readonly object: (item: Item, written?: InHand) => Uint8Array;
  /** What is made of an event holds for one watch alone. */
  readonly isTable: boolean;
  readonly list: (items: readonly Item[], meta: ListMeta) => Promise<Pieces>;
}

function writerOf(
  transform: Transform,
  encoding: Encoding,
  { pretty: isPretty }: Pick<Negotiated, 'pretty'>,
): Writer {
  const { mediaType, elements, rewrite, pretty, codec } = encoding;
  const { objects, type } = transform;
  if (isPretty && pretty !== undefined) return rewriting(transform, 'pretty', pretty);
  if (rewrite !== undefined) return rewriting(transform, mediaType, rewrite);
  if (elements === undefined) return jsonWriter(transform);
  if (objects !== undefined) return elementWriter(transform, objects, { mediaType, elements });
  const whole = (json: Uint8Array): Uint8Array => codec.encode(parseData(json) as JsonObject, type);
  return rewriting(transform, mediaType, { whole, lists: undefined });
}

const jsonWriter = (transform: Transform): Writer => ({
  ...transform,
  isTable: transform.objects === undefined,
  async list(items, meta) {
    const parts = transform.list(meta);
    const entries = await parts.entries?.(items);
    if (entries !== undefined) return framedPieces(entries, parts);
    return piecesOf(await entriesOf(items, parts.entry), parts);
  },
});

/** Made from JSON: lists from their entries where the encoding has such. */
function rewriting(transform: Transform, name: string, { whole, lists }: Rewrite): Writer {
  const { objects } = transform;
  return {
    variant: `${name} ${transform.variant}`,
    isTable: objects === undefined,
    object: (item) => whole(transform.object(item)),
    laterObject: (item) => whole(transform.laterObject(item)),
    bookmark: (metadata) => whole(transform.bookmark(metadata)),
    async list(items, meta) {
      if (objects === undefined || lists === undefined) {
        return onePiece(whole(Buffer.concat([...(await jsonWriter(transform).list(items, meta))])));
      }
      const variant = `${name} entry ${transform.variant}`;
      const make = (item: Item): Uint8Array => lists.entry(objects.entry(item));
      const entries = await entriesOf(items, (item) => item.encoded(variant, make));
      const ends = lists.ends(objects.listKind, meta, entries.length);
      return piecesOf(entries, { ...ends, first: nothing, between: lists.between });
    },
  };
}

const nothing = new Uint8Array();

/** Objects and lists are copies of elements, of which each item makes one at most once. */
function elementWriter(
  { variant: of, type }: Transform,
  { kind, listKind, isNamed, shown }: ShownObjects,
  { mediaType, elements }: { readonly mediaType: string; readonly elements: Elements },
): Writer {
  const variant = `${mediaType} ${of}`;
  // From the JSON, not from the decoded object: that would stay in memory beside the element.
  // Raw JSON is kept by the object alone.
  const objectOf = holdsRaw(type)
    ? (item: Item): Readonly<ApiObject> => canonicalObject(item.object(), type)
    : (item: Item): Readonly<ApiObject> => parseCanonical(item.json());
  const make = (item: Item): Uint8Array => elements.element(shown(objectOf(item)), type);
  const element = (item: Item): Uint8Array => item.encoded(variant, make);
  const entry = isNamed ? (item: Item) => elements.named(element(item), kind) : element;
  const object = (item: Item, written?: InHand): Uint8Array => {
    const isAtHand = written?.item === item && !holdsRaw(type);
    const own = isAtHand ? objectAtVersion(written.canonical, item.revision) : undefined;
    const makeOwn = own === undefined ? make : () => elements.element(shown(own), type);
    return elements.document(item.encoded(variant, makeOwn), kind);
  };
  return {
    variant,
    isTable: false,
    object,
    laterObject: (item) => object(item),
    bookmark(metadata) {
      const bare = canonicalObject(shown({ metadata }), type);
      return elements.document(elements.element(bare, type), kind);
    },
    async list(items, meta) {
      const entries = await entriesOf(items, entry);
      let totalBytes = 0;
      for (const { length } of entries) totalBytes += length;
      const ends = elements.list(listKind, meta, { count: entries.length, totalBytes });
      return piecesOf(entries, { ...ends, first: nothing, between: nothing });
    },
  };
}

function streamOf({ stream, mediaType }: Encoding): StreamFraming {
  if (stream === undefined) throw new Error(`${mediaType} is offered for watches`);
  return stream;
}

/** Events are framed once for all watchers; those of Tables show ages, and are each watcher's. */
function streamSerializer(
  writer: Writer,
  options: {
    readonly stream: StreamFraming;
    /** The annotation that marks a bookmark as the end of the initial events. */
    readonly initialEventsEnd: string;
    readonly errorObject: (error: StatusError) => Uint8Array;
  },
): StreamSerializer {
  const { stream, initialEventsEnd, errorObject } = options;
  const bookmark = (revision: number, isInitialEnd: boolean): Uint8Array => {
    const annotations = { [initialEventsEnd]: 'true' };
    const metadata: ObjectMeta = {
      resourceVersion: String(revision),
      ...(isInitialEnd ? { annotations } : {}),
    };
    return stream.event('BOOKMARK', writer.bookmark(metadata));
  };
  const later = ({ type, revision, item, initialEventsEnd: isEnd }: WatchEvent): Uint8Array =>
    item === undefined
      ? bookmark(revision, isEnd === true)
      : stream.event(type, writer.laterObject(item));
  let isFirst = true;
  return {
    contentType: stream.contentType,
    variant: writer.isTable ? undefined : writer.variant,
    frame(event) {
      if (!writer.isTable) return event.memo(writer.variant, later);
      if (!isFirst || event.item === undefined) return later(event);
      isFirst = false;
      return stream.event(event.type, writer.object(event.item));
    },
    message: (frame) => stream.message(frame),
    bookmark: (revision) => bookmark(revision, false),
    error: (error) => stream.event('ERROR', errorObject(error)),
  };
}
