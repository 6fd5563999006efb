// The header fields of a request, checked (RFC 9113, sections 8.2 and 8.3).
import type { IncomingHttpHeaders } from 'node:http2';
import { http2Code } from '../../http2/frames.ts';
import type { Fields } from '../../http2/hpack.ts';
import { limits } from '../../base/limits.ts';

/** One for all requests that send the same bytes: each takes copies of its lists. */
export class RequestHead {
  readonly method: string;
  readonly path: string;
  /** Bytes of the body, as the client says; -1: it does not. */
  readonly contentLength: number;
  readonly #fields: readonly string[];
  readonly #headers: IncomingHttpHeaders;

  constructor(fields: readonly string[], headers: IncomingHttpHeaders) {
    this.#fields = fields;
    this.#headers = headers;
    this.method = headers[':method'] ?? '';
    this.path = headers[':path'] ?? '';
    this.contentLength = Number(headers['content-length'] ?? -1);
  }

  /** Names and values by turns. */
  newFields(): string[] {
    return this.#fields.slice();
  }

  newHeaders(): IncomingHttpHeaders {
    return Object.assign(new HeaderRecord(), this.#headers);
  }
}

/** A record without a prototype that V8 does not take for a dictionary. */
const HeaderRecord = function () {
  // Its members are the fields.
} as unknown as new () => IncomingHttpHeaders;
HeaderRecord.prototype = Object.create(null) as object;

/** A block of header fields, which may begin a request or be the trailers of one. */
export class FieldBlock {
  readonly #fields: Fields;
  #head: RequestHead | HeadFault | undefined;

  constructor(fields: Fields) {
    this.#fields = fields;
  }

  get head(): RequestHead | HeadFault {
    return (this.#head ??= requestHead(this.#fields));
  }

  /** Nothing of them is kept: they need not be known, and have no pseudo fields. */
  get isFitForTrailers(): boolean {
    return this.#fields?.every((text, at) => at % 2 === 1 || !text.startsWith(':')) === true;
  }
}

/** Why no request begins: the code that its stream is reset with. */
export type HeadFault = number;

export function requestHead(fields: Fields): RequestHead | HeadFault {
  if (fields === undefined || fields.length > 2 * limits.requestHeadersCountMax) {
    return http2Code.enhanceYourCalm;
  }
  const headers = new HeaderRecord();
  let isPseudo = true;
  for (let at = 0; at < fields.length; at += 2) {
    const [name, value] = [fields[at] ?? '', fields[at + 1] ?? ''];
    if (name.startsWith(':')) {
      const pattern = pseudoFields.get(name);
      const isFit = isPseudo && headers[name] === undefined && pattern?.test(value) === true;
      if (!isFit) return http2Code.protocolError;
      headers[name] = value;
    } else {
      isPseudo = false;
      if (!addField(headers, name, value)) return http2Code.protocolError;
    }
  }
  return isWhole(headers) ? new RequestHead(fields, headers) : http2Code.protocolError;
}

const token = /^[\w!#$%&'*+\-.^`|~]+$/;
const pseudoFields: ReadonlyMap<string, RegExp> = new Map([
  [':method', token],
  [':scheme', /^[a-z][a-z\d+\-.]*$/i],
  [':authority', /^[\w!$%&'()*+,\-.:;=[\]~]*$/],
  [':path', /^[\u0021-\u007e\u0080-\u00ff]+$/],
]);

const fieldName = /^[\da-z!#$%&'*+\-.^_`|~]+$/;
/** No control character but the tab. Spaces around it are let pass, as servers written in Go do. */
const fieldValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
const ofConnections: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);
/** Of one that comes again the first counts, as over HTTP/1.1. */
const single: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'content-type',
  'etag',
  'expires',
  'from',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
]);

/** False: no request may have it. */
function addField(headers: IncomingHttpHeaders, name: string, value: string): boolean {
  if (!fieldName.test(name) || !fieldValue.test(value) || ofConnections.has(name)) return false;
  if (name === 'te' && value.toLowerCase() !== 'trailers') return false;
  const given = headers[name];
  if (given === undefined) {
    if (name === 'content-length') return /^\d{1,15}$/.test(value) && set(headers, name, value);
    return set(headers, name, value);
  }
  if (name === 'content-length' || name === 'host') return false;
  if (single.has(name)) return true;
  return set(headers, name, `${String(given)}${name === 'cookie' ? ';' : ','} ${value}`);
}

function set(headers: IncomingHttpHeaders, name: string, value: string): true {
  headers[name] = value;
  return true;
}

function isWhole(headers: IncomingHttpHeaders): boolean {
  const { ':method': method, ':scheme': scheme, ':path': path, ':authority': authority } = headers;
  if (method === undefined) return false;
  if (method === 'CONNECT') {
    return scheme === undefined && path === undefined && authority !== undefined;
  }
  if (scheme === undefined || path === undefined) return false;
  return path.startsWith('/') || (path === '*' && method === 'OPTIONS');
}
