// What Node's parsers let pass although HTTP does not: RFC 9110, 9112 and 9113.
import type { IncomingMessage } from 'node:http';
import { limits } from '../base/limits.ts';
import { badRequest, expectationFailed } from '../base/status.ts';
import type { Filter, HttpRequest } from './request-context.ts';

/**
 * Why the body of an HTTP/1.1 request cannot be told from what follows it, as the status to refuse
 * it with: nothing more may be read from the connection. undefined: it can. With too many header
 * lines, the one that tells may be among those that the parser dropped.
 */
export function framingFault(request: IncomingMessage): string | undefined {
  const lineCount = request.rawHeaders.length / 2;
  if (lineCount > limits.requestHeadersCountMax) return '431 Request Header Fields Too Large';
  const coding = request.headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (request.httpVersionMinor === 0) return '400 Bad Request'; // RFC 9112 §6.1
  return coding.trim().toLowerCase() === 'chunked' ? undefined : '501 Not Implemented';
}

/** May answer 400 and 417. Runs before every other filter. */
export const checkHead: Filter = (request, response, next) => {
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw expectationFailed(`Expect: only 100-continue can be met, not ${JSON.stringify(expect)}`);
  }
  const fault = hostFault(request);
  if (fault !== undefined) {
    if (!('stream' in response)) response.setHeader('connection', 'close');
    throw badRequest(fault);
  }
  return next();
};

/** The characters of a host and a port, RFC 3986 §3.2.2 and §3.2.3. */
const hostPattern = /^[\w!$%&'()*+,\-.:;=[\]~]*$/;

function hostFault(request: HttpRequest): string | undefined {
  const { host } = request.headers;
  if (host !== undefined && !hostPattern.test(host)) {
    return `Host: ${JSON.stringify(host)} is no host with an optional port`;
  }
  if ('stream' in request) {
    const authority = request.headers[':authority'];
    const isSame = host === undefined || authority === undefined || sameHost(host, authority);
    return isSame ? undefined : 'Host and :authority must name the same host'; // RFC 9113 §8.3.1
  }
  if (host === undefined) {
    return request.httpVersionMinor === 0 ? undefined : 'Host: the header is required';
  }
  return countOf(request.rawHeaders, 'host') > 1 ? 'Host: the header must stand once' : undefined;
}

/** Clients may write the port that `https` has anyway, or leave it out. */
function sameHost(one: string, other: string): boolean {
  const bare = (text: string): string => text.toLowerCase().replace(/:443$/, '');
  return one === other || bare(one) === bare(other);
}

/** Node keeps the first of some headers and drops the others: only the raw list has them all. */
function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? '';
    if (given.length === name.length && given.toLowerCase() === name) count++;
  }
  return count;
}
