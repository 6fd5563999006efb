// Discovery over HTTP: which form a client wants, and whether it has it already (ETag).
import { discoveryTransforms } from '../codec/negotiate.ts';
import type { Discovery } from '../discovery/discovery.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import { sendBytes, sendNow } from './respond.ts';
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
    const aggregated = discovery.aggregated(path, 'v2');
    const as = serializers.negotiate(request, aggregated === undefined ? [] : transforms);
    const found = as.transform === undefined ? discovery.document(path) : aggregated;
    if (found === undefined) return false;
    const headers: Record<string, string> = aggregated === undefined ? {} : { vary: 'Accept' };
    if (as.transform !== undefined && aggregated !== undefined) headers.etag = aggregated.etag;
    const encoded = serializers.encode(found.object, found.type, as);
    const { contentType, body } = encoded;
    if (headers.etag !== undefined && hasTag(request, headers.etag)) {
      sendNow(request, response, { status: 304, contentType, headers }, new Uint8Array());
    } else await sendBytes(request, response, { status: 200, contentType, headers }, body, options);
    return true;
  };
}

/** The client has this very document already. */
export function hasTag(request: HttpRequest, etag: string): boolean {
  const given = request.headers['if-none-match']?.split(',') ?? [];
  return given.some((tag) => tag.trim() === etag);
}
