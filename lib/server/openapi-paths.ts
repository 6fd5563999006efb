// OpenAPI over HTTP: /openapi/v2 and /openapi/v3 in JSON and Protobuf. Documents asked for by their
// hash may be cached for ever; one asked for by an old hash is found under its new one.
import type { Clock } from '../base/clock.ts';
import { negotiateResponse } from '../codec/negotiate.ts';
import type { OpenApiForm } from '../discovery/openapi-fragments.ts';
import type { OpenApi, OpenApiDocument } from '../discovery/openapi.ts';
import { hasTag } from './discovery-paths.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import { sendNow, sendPieces } from './respond.ts';

const json = 'application/json';
const protobufTypes = {
  v2: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  v3: 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf',
} as const;
const yearMs = 365 * 24 * 3600 * 1000;
const wholePath = '/openapi/v2';
const indexPath = '/openapi/v3';
export const openApiRoots: readonly string[] = [wholePath, indexPath, `${indexPath}/`];

export interface OpenApiPathsOptions {
  readonly openApi: () => OpenApi;
  readonly clock: Clock;
  readonly compress: boolean;
}

export function openApiPaths(
  options: OpenApiPathsOptions,
): (request: HttpRequest, response: HttpResponse) => Promise<boolean> {
  return async function answerOpenApi(request, response) {
    const { path } = request.context.info;
    const openApi = options.openApi();
    if (path === wholePath) {
      const { contentType, form } = negotiateForm(request, 'v2');
      const document = await openApi.whole(form);
      await send(request, response, { document, contentType, headers: {} }, options);
      return true;
    }
    if (path === indexPath || path === `${indexPath}/`) {
      const document = await openApi.index();
      await send(request, response, { document, contentType: json, headers: {} }, options);
      return true;
    }
    if (!path.startsWith(`${indexPath}/`)) return false;
    const name = path.slice(indexPath.length + 1);
    const { contentType, form } = negotiateForm(request, 'v3');
    const document = await openApi.part(name, form);
    if (document === undefined) return false;
    const asked = request.context.info.query.get('hash');
    if (asked !== null && asked !== '' && asked !== document.hash) {
      const headers = { location: openApi.addressOf(name, document.hash), vary: 'Accept' };
      sendNow(request, response, { status: 301, contentType, headers }, new Uint8Array());
      return true;
    }
    const headers = asked === document.hash ? immutableHeaders(options.clock) : {};
    await send(request, response, { document, contentType, headers }, options);
    return true;
  };
}

/** @throws StatusError 406. */
function negotiateForm(
  request: HttpRequest,
  version: keyof typeof protobufTypes,
): { readonly contentType: string; readonly form: OpenApiForm } {
  const protobuf = protobufTypes[version];
  const media = [json, protobuf].map((mediaType) => ({
    mediaType,
    streams: false,
    tables: false,
  }));
  // Clients still ask by the first name of the type, whose `@` is not allowed in media types.
  const accept = request.headers.accept?.replaceAll('@v1.0+protobuf', '.v1.0+protobuf');
  const { mediaType } = negotiateResponse(accept, { media, transforms: [] });
  return { contentType: mediaType, form: mediaType === json ? 'json' : 'protobuf' };
}

const immutableHeaders = (clock: Clock): Readonly<Record<string, string>> => ({
  'cache-control': 'public, immutable',
  expires: new Date(clock.nowMs() + yearMs).toUTCString(),
});

interface DocumentAnswer {
  readonly document: OpenApiDocument;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function send(
  request: HttpRequest,
  response: HttpResponse,
  { document, contentType, headers }: DocumentAnswer,
  options: OpenApiPathsOptions,
): Promise<void> {
  const etag = `"${document.hash}"`;
  const all = { etag, vary: 'Accept', ...headers };
  if (hasTag(request, etag)) {
    sendNow(request, response, { status: 304, contentType, headers: all }, new Uint8Array());
  } else {
    const answer = { status: 200, contentType, headers: all };
    await sendPieces(request, response, answer, await document.bytes(), options);
  }
}
