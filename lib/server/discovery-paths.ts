// Discovery over HTTP: which form a client wants, and whether it has it already (ETag).
import { contentTypeOf, discoveryTransforms } from '../codec/negotiate.ts';
import type { Negotiated } from '../codec/negotiate.ts';
import type { Discovery, DiscoveryDocument } from '../discovery/discovery.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import { sendBytes, sendNow, sendPieces } from './respond.ts';
import type { Serializers } from './serializers.ts';

export function discoveryPaths(options: {
  readonly discovery: () => Discovery;
  readonly naming: NamingProfile;
  readonly serializers: Serializers;
  readonly compress: boolean;
}): (request: HttpRequest, response: HttpResponse) => Promise<boolean> {
  const { naming, serializers } = options;
  const transforms = discoveryTransforms(naming);
  return async function answerDiscovery(request, response) {
    const { path } = request.context.info;
    const discovery = options.discovery();
    const aggregated = await discovery.aggregated(path, 'v2');
    const as = serializers.negotiate(request, aggregated === undefined ? [] : transforms);
    const found = as.transform === undefined ? discovery.document(path) : aggregated;
    if (found === undefined) return false;
    const contentType = contentTypeOf(as);
    if (found === aggregated) {
      const { etag, object, type } = aggregated;
      const headers = { vary: 'Accept', etag };
      if (hasTag(request, etag)) {
        sendNow(request, response, { status: 304, contentType, headers }, new Uint8Array());
        return true;
      }
      const pieces = await serializers.encodeList(object, type, as);
      await sendPieces(request, response, { status: 200, contentType, headers }, pieces, options);
      return true;
    }
    const headers = aggregated === undefined ? {} : { vary: 'Accept' };
    const body = encodedOnce(found, as, serializers);
    await sendBytes(request, response, { status: 200, contentType, headers }, body, options);
    return true;
  };
}

const encodedDocuments = new WeakMap<DiscoveryDocument, Map<string, Uint8Array>>();

/** Documents are large, few, and asked for often. */
function encodedOnce(
  document: DiscoveryDocument,
  as: Negotiated,
  serializers: Serializers,
): Uint8Array {
  let forms = encodedDocuments.get(document);
  if (forms === undefined) {
    forms = new Map();
    encodedDocuments.set(document, forms);
  }
  const form = `${as.mediaType} ${String(as.pretty)}`;
  let body = forms.get(form);
  if (body === undefined) {
    body = serializers.encode(document.object, document.type, as).body;
    forms.set(form, body);
  }
  return body;
}

/** The client has this very document already. */
export function hasTag(request: HttpRequest, etag: string): boolean {
  const given = request.headers['if-none-match']?.split(',') ?? [];
  return given.some((tag) => tag.trim() === etag);
}
