// Which representation answers a request, and how each is made: by the form that was asked for, in
// the encoding that was agreed on. Encodings are rows (lib/codec/encodings.ts): nothing here knows
// one of them.
import { kindColumns } from '../api/columns/kind-columns.ts';
import type { Scheme } from '../api/scheme.ts';
import type { JsonObject, TypeInfo } from '../api/type-info.ts';
import { systemClock } from '../base/clock.ts';
import type { StatusBody, StatusError } from '../base/status.ts';
import type { ApiObject, Decoded } from '../codec/codec.ts';
import { jsonEncoding } from '../codec/encodings.ts';
import type { Encoding, StreamFraming } from '../codec/encodings.ts';
import type { ListMeta } from '../codec/frame.ts';
import { parseData, stringify } from '../codec/json.ts';
import {
  contentTypeOf,
  negotiateBody,
  negotiateError,
  negotiateResponse,
  negotiateStream,
  resourceTransforms,
} from '../codec/negotiate.ts';
import type { Negotiated, OfferedTransform } from '../codec/negotiate.ts';
import { parseIncludeObject } from '../codec/table.ts';
import type { ListAnswer } from '../registry/requests.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { elementForms } from './element-forms.ts';
import { jsonForms, rewrittenForms } from './forms.ts';
import type { Form, Forms } from './forms.ts';
import type { HttpRequest } from './request-context.ts';
import type { Representation, WatchRepresentation } from './representation.ts';
import { formWatch } from './watch-frames.ts';

export interface EncodedDocument {
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface Representations {
  /** @throws StatusError 406. */
  of(request: HttpRequest, store: ResourceStore, shape: 'object' | 'list'): Representation;
  /** @throws StatusError 406. */
  ofWatch(request: HttpRequest, store: ResourceStore): WatchRepresentation;
  /** Never fails: what cannot be had is answered in JSON. */
  ofStatus(error: StatusError, request: HttpRequest): EncodedDocument;
  /** How a document that is no resource is answered. @throws StatusError 406. */
  negotiate(request: HttpRequest, transforms: readonly OfferedTransform[]): Negotiated;
  encode(object: Readonly<JsonObject>, type: TypeInfo, as: Negotiated): EncodedDocument;
  /** The object of a request's body. @throws StatusError 400, 415. */
  decode(request: HttpRequest, body: Uint8Array, type: TypeInfo): Decoded;
}

const prettyPrint = (json: Uint8Array): Uint8Array =>
  Buffer.from(`${stringify(parseData(json), 2)}\n`);

export function createRepresentations(options: {
  readonly scheme: Scheme;
  /** What is offered, in the order in which refusals name them. */
  readonly encodings: readonly Encoding[];
  /** For ages in Tables. */
  readonly nowMs?: () => number;
}): Representations {
  const { scheme, encodings, nowMs = () => systemClock.nowMs() } = options;
  const naming = scheme.profile;
  const columnsOf = kindColumns(naming);
  const statusType = scheme.type('meta/v1.Status');
  const json = jsonForms(naming);
  const pretty = rewrittenForms('pretty', json, prettyPrint);
  const byMediaType = new Map(encodings.map((encoding) => [encoding.mediaType, encoding]));
  const forms = new Map(encodings.map((encoding) => [encoding, formsOf(encoding, json, scheme)]));
  const transforms = {
    object: resourceTransforms(naming, 'object'),
    list: resourceTransforms(naming, 'list'),
    watch: resourceTransforms(naming, 'watch'),
  };
  const encodingOf = (mediaType: string): Encoding => byMediaType.get(mediaType) ?? jsonEncoding;
  const holding = encodingsByType(encodings);
  const formOf = (request: HttpRequest, store: ResourceStore, as: Negotiated): Form => {
    const encoding = encodingOf(as.mediaType);
    const prettily = as.pretty && encoding === jsonEncoding;
    const choice = prettily ? pretty : (forms.get(encoding) ?? json);
    if (as.transform === undefined) return choice.object(store.resource);
    if (as.transform.as !== 'Table') return choice.partial();
    const { query } = request.context.info;
    const include = parseIncludeObject(query.get('includeObject'));
    const headers = query.get('noHeaders') !== 'true';
    return choice.table({ columns: columnsOf(store.resource.type), include, headers, nowMs });
  };
  const statusBytes = (encoding: Encoding, status: StatusBody): Uint8Array =>
    encoding.codec.encode(status as unknown as ApiObject, statusType);
  const prettyQuery = (request: HttpRequest): string | null =>
    request.context.info.query.get('pretty');
  return {
    of(request, store, shape) {
      const media = holding(store.resource.type);
      const offers = { media, transforms: transforms[shape] };
      const as = negotiateResponse(request.headers.accept, offers, prettyQuery(request));
      const form = formOf(request, store, as);
      return {
        contentType: as.mediaType,
        object: (item) => form.object(item),
        list: (answer) => form.list(answer.items, listMeta(answer)),
        status: (status) => statusBytes(encodingOf(as.mediaType), status),
      };
    },
    ofWatch(request, store) {
      const media = holding(store.resource.type);
      const offers = { media, transforms: transforms.watch };
      const as = negotiateStream(request.headers.accept, offers, null);
      const encoding = encodingOf(as.mediaType);
      return formWatch(formOf(request, store, as), {
        resource: store.resource,
        naming,
        stream: streamOf(encoding),
        errorObject: (error) => statusBytes(encoding, error.toBody()),
      });
    },
    ofStatus(error, request) {
      const contentType = negotiateError(request.headers.accept, encodings);
      return { contentType, body: statusBytes(encodingOf(contentType), error.toBody()) };
    },
    negotiate: (request, offered) =>
      negotiateResponse(
        request.headers.accept,
        { media: encodings, transforms: offered },
        prettyQuery(request),
      ),
    encode(object, type, as) {
      const encoding = encodingOf(as.mediaType);
      const body = encoding.codec.encode(object, type);
      const prettily = as.pretty && encoding === jsonEncoding;
      return { contentType: contentTypeOf(as), body: prettily ? prettyPrint(body) : body };
    },
    decode(request, body, type) {
      const offered = holding(type).map(({ mediaType }) => mediaType);
      const mediaType = negotiateBody(request.headers['content-type'], offered);
      return encodingOf(mediaType).codec.decode(body, type);
    },
  };
}

function formsOf(encoding: Encoding, json: Forms, scheme: Scheme): Forms {
  const { elements, rewrite, mediaType } = encoding;
  if (elements !== undefined) return elementForms(encoding, elements, scheme);
  return rewrite === undefined ? json : rewrittenForms(mediaType, json, rewrite);
}

/** The encodings that a type has; found once per type. */
function encodingsByType(encodings: readonly Encoding[]): (type: TypeInfo) => readonly Encoding[] {
  const found = new WeakMap<TypeInfo, readonly Encoding[]>();
  return (type) => {
    const known = found.get(type);
    if (known !== undefined) return known;
    const holding = encodings.filter((encoding) => encoding.holds(type));
    found.set(type, holding);
    return holding;
  };
}

function streamOf({ stream, mediaType }: Encoding): StreamFraming {
  if (stream === undefined) throw new Error(`${mediaType} is offered for watches`);
  return stream;
}

const listMeta = (answer: ListAnswer): ListMeta => ({
  // What is not stored has no version.
  resourceVersion: answer.revision === 0 ? '' : String(answer.revision),
  continue: answer.continueToken,
  remainingItemCount: answer.remainingItemCount,
});
