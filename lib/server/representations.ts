// Which representation answers a request, and how each is made: by the form that was asked for, in
// the encoding that was agreed on. Encodings are rows (lib/codec/encodings.ts): nothing here knows
// one of them.
import { limits } from '../base/limits.ts';
import type { Scheme } from '../api/scheme.ts';
import type { JsonObject, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { systemClock } from '../base/clock.ts';
import type { StatusBody, StatusError } from '../base/status.ts';
import type { ApiObject, Decoded, NamedKind } from '../codec/codec.ts';
import { TextMemo } from '../base/text-memo.ts';
import type { Encoding, StreamFraming } from '../codec/encodings.ts';
import type { ListMeta } from '../codec/frame.ts';
import {
  contentTypeOf,
  negotiateBody,
  negotiateError,
  negotiateResponse,
  negotiateStream,
  resourceTransforms,
} from '../codec/negotiate.ts';
import type { Negotiated, OfferedTransform, ResponseOffers } from '../codec/negotiate.ts';
import type { ListAnswer } from '../registry/requests.ts';
import type { VerbTarget } from '../registry/verb-target.ts';
import { createFormChoice, isPretty, prettyPrint } from './form-choice.ts';
import type { HttpRequest } from './request-context.ts';
import type { Representation, WatchRepresentation } from './representation.ts';
import { formWatch } from './watch-frames.ts';

export interface EncodedDocument {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** What an answer shows. */
type Shown = Pick<VerbTarget, 'resource'>;

export interface Representations {
  /** @throws StatusError 406. */
  of(request: HttpRequest, target: Shown, shape: 'object' | 'list'): Representation;
  /** @throws StatusError 406. */
  ofWatch(request: HttpRequest, target: Shown): WatchRepresentation;
  /** Never fails: what cannot be had is answered in JSON. */
  ofStatus(error: StatusError, request: HttpRequest): EncodedDocument;
  /** How a document that is no resource is answered. @throws StatusError 406. */
  negotiate(request: HttpRequest, transforms: readonly OfferedTransform[]): Negotiated;
  encode(object: Readonly<JsonObject>, type: TypeInfo, as: Negotiated): EncodedDocument;
  /** Object of a request's body; `mustBe` as the codecs take it. @throws StatusError 400, 415. */
  decode(
    request: HttpRequest,
    body: Uint8Array,
    type: TypeInfo,
    mustBe?: (named: NamedKind) => void,
  ): Decoded;
}

export function createRepresentations(options: {
  readonly scheme: Scheme;
  /** What is offered, in the order in which refusals name them. */
  readonly encodings: readonly Encoding[];
  /** For ages in Tables. */
  readonly nowMs?: () => number;
}): Representations {
  const { scheme, encodings, nowMs = () => systemClock.nowMs() } = options;
  const naming = scheme.profile;
  const { encodingOf, encodingsOf, formOf } = createFormChoice({ scheme, encodings, nowMs });
  const statusType = scheme.type('meta/v1.Status');
  const transforms = {
    object: resourceTransforms(naming, 'object'),
    list: resourceTransforms(naming, 'list'),
    watch: resourceTransforms(naming, 'watch'),
  };
  const statusBytes = (encoding: Encoding, status: StatusBody): Uint8Array =>
    encoding.codec.encode(status as unknown as ApiObject, statusType);
  const make: Representations['of'] = (request, target, shape) => {
    const media = encodingsOf(target.resource.type);
    const as = agreedOn(request, { media, transforms: transforms[shape] });
    const form = formOf(request.context.info.query, target, as);
    return {
      contentType: as.mediaType,
      object: (item) => form.object(item),
      list: (answer) => form.list(answer.items, listMeta(answer)),
      status: (status) => statusBytes(encodingOf(as.mediaType), status),
    };
  };
  const usual = { object: new UsualAnswers(), list: new UsualAnswers() };
  return {
    of(request, target, shape) {
      const { accept } = request.headers;
      const { query } = request.context.info;
      if (query.size > 0 && formParameters.some((name) => query.has(name))) {
        return make(request, target, shape);
      }
      return usual[shape].of(target.resource, accept ?? '', () => make(request, target, shape));
    },
    ofWatch(request, target) {
      const media = encodingsOf(target.resource.type);
      const offers = { media, transforms: transforms.watch };
      const as = negotiateStream(request.headers.accept, offers, null);
      const encoding = encodingOf(as.mediaType);
      return formWatch(formOf(request.context.info.query, target, as), {
        resource: target.resource,
        naming,
        stream: streamOf(encoding),
        errorObject: (error) => statusBytes(encoding, error.toBody()),
      });
    },
    ofStatus(error, request) {
      const contentType = negotiateError(request.headers.accept, encodings);
      return { contentType, body: statusBytes(encodingOf(contentType), error.toBody()) };
    },
    negotiate: (request, offered) => agreedOn(request, { media: encodings, transforms: offered }),
    encode(object, type, as) {
      const encoding = encodingOf(as.mediaType);
      const body = encoding.codec.encode(object, type);
      const shown = isPretty(as, encoding) ? prettyPrint(body) : body;
      return { contentType: contentTypeOf(as), body: shown };
    },
    decode(request, body, type, mustBe) {
      const offered = encodingsOf(type).map(({ mediaType }) => mediaType);
      const mediaType = negotiateBody(request.headers['content-type'], offered);
      return encodingOf(mediaType).codec.decode(body, type, mustBe);
    },
  };
}

function agreedOn(request: HttpRequest, offers: ResponseOffers): Negotiated {
  const { query } = request.context.info;
  return negotiateResponse(request.headers.accept, offers, query.get('pretty'));
}

/** Query parameters that choose a form besides the Accept header. */
const formParameters: readonly string[] = ['pretty', 'includeObject', 'noHeaders'];
const acceptBounds = { countMax: limits.knownAcceptsMax, lengthMax: limits.knownAcceptLengthMax };

/** What each Accept header comes to, by resource: clients send few different ones. */
class UsualAnswers {
  readonly #byResource = new WeakMap<ResourceInfo, TextMemo<Representation>>();

  of(resource: ResourceInfo, accept: string, make: () => Representation): Representation {
    let byAccept = this.#byResource.get(resource);
    if (byAccept === undefined) {
      byAccept = new TextMemo(acceptBounds);
      this.#byResource.set(resource, byAccept);
    }
    return byAccept.of(accept, make);
  }
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
