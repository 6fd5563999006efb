// Which representation answers a request, and how each is made: plain JSON from the cache's bytes as they are,
// every other form (YAML, Table, metadata only) once per item.
import type { JsonObject, TypeInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { StatusError } from '../base/status.ts';
import type { Decoded } from '../codec/codec.ts';
import { statusBytes } from '../codec/frame.ts';
import type { ListMeta } from '../codec/frame.ts';
import { jsonCodec, parseData, stringify } from '../codec/json.ts';
import {
  contentTypeOf,
  negotiateBody,
  negotiateError,
  negotiateResponse,
  negotiateStream,
  offeredMedia,
  resourceTransforms,
} from '../codec/negotiate.ts';
import type { Negotiated, OfferedTransform } from '../codec/negotiate.ts';
import { parseIncludeObject } from '../codec/table.ts';
import { encodeYaml, yamlCodec } from '../codec/yaml.ts';
import type { ListAnswer } from '../registry/requests.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { objectForm, partialForm, tableForm } from './forms.ts';
import type { Form } from './forms.ts';
import type { HttpRequest } from './request-context.ts';
import type { Representation, WatchRepresentation } from './representation.ts';
import { formWatch } from './watch-frames.ts';

export interface EncodedDocument {
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly transform: OfferedTransform | undefined;
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

const bodyMedia = offeredMedia.map(({ mediaType }) => mediaType);
const yaml = 'application/yaml';

export function createRepresentations(naming: NamingProfile): Representations {
  const offers = {
    object: { media: offeredMedia, transforms: resourceTransforms(naming, 'object') },
    list: { media: offeredMedia, transforms: resourceTransforms(naming, 'list') },
    watch: { media: offeredMedia, transforms: resourceTransforms(naming, 'watch') },
  };
  const pretty = (request: HttpRequest): string | null => request.context.info.query.get('pretty');
  const formOf = (request: HttpRequest, store: ResourceStore, as: Negotiated): Form => {
    if (as.transform === undefined) return objectForm(store.resource);
    if (as.transform.as !== 'Table') return partialForm(naming);
    const { query } = request.context.info;
    const include = parseIncludeObject(query.get('includeObject'));
    return tableForm(naming, { include, headers: query.get('noHeaders') !== 'true' });
  };
  return {
    of(request, store, shape) {
      const as = negotiateResponse(request.headers.accept, offers[shape], pretty(request));
      return textForm(formOf(request, store, as), as);
    },
    ofWatch(request, store) {
      const as = negotiateStream(request.headers.accept, offers.watch, null);
      const form = formOf(request, store, as);
      return formWatch(form, { resource: store.resource, naming, contentType: as.mediaType });
    },
    ofStatus(error, request) {
      const mediaType = negotiateError(request.headers.accept, offeredMedia);
      const object = error.toBody();
      const body =
        mediaType === yaml ? encodeYaml(object as unknown as JsonObject) : statusBytes(object);
      return { contentType: mediaType, body, transform: undefined };
    },
    negotiate: (request, transforms) =>
      negotiateResponse(
        request.headers.accept,
        { media: offeredMedia, transforms },
        pretty(request),
      ),
    encode(object, type, as) {
      const codec = as.mediaType === yaml ? yamlCodec : jsonCodec;
      const body = codec.encode(object, type);
      return { contentType: contentTypeOf(as), body, transform: as.transform };
    },
    decode(request, body, type) {
      const mediaType = negotiateBody(request.headers['content-type'], bodyMedia);
      return (mediaType === yaml ? yamlCodec : jsonCodec).decode(body, type);
    },
  };
}

/** A form as JSON bytes, or re-written for people (`pretty`) or as YAML. */
function textForm(form: Form, as: Negotiated): Representation {
  if (as.mediaType !== yaml && !as.pretty) {
    return {
      contentType: as.mediaType,
      object: (item) => form.object(item),
      list: (answer) => form.list(answer.items, listMeta(answer)),
    };
  }
  const rewrite = (json: Uint8Array): Uint8Array => {
    const value = parseData(json);
    return as.mediaType === yaml ? encodeYaml(value) : Buffer.from(`${stringify(value, 2)}\n`);
  };
  return {
    contentType: as.mediaType,
    object: (item) => rewrite(form.object(item)),
    list(answer) {
      const pieces = form.list(answer.items, listMeta(answer));
      const body = rewrite(Buffer.concat([...pieces]));
      return { totalBytes: body.length, [Symbol.iterator]: () => [body].values() };
    },
  };
}

const listMeta = (answer: ListAnswer): ListMeta => ({
  resourceVersion: String(answer.revision),
  continue: answer.continueToken,
  remainingItemCount: answer.remainingItemCount,
});
