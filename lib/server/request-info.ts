// URL and method to what a request asks for: pure and table-tested. Authorization and routing read
// the same decoded path.
import type { RequestInfo } from './request-context.ts';

const noQuery = new URLSearchParams();
const none: readonly string[] = [];
/**
 * Of requests for resources; all other methods have none. HTTP/2 takes any text for a method,
 * `list` too, so no method is its own verb.
 */
const verbOfMethod: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
  ['OPTIONS', 'options'],
]);
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize']);

/**
 * Understands `url` (path and query as received).
 * Percent-encoding is decoded once per segment; a segment that then holds `/`, NUL, or is empty,
 * `.` or `..` makes the path unroutable (`path` is kept as received, `kind` is nonResource), so it
 * ends as a 404. Slashes at the end of a resource's path say nothing.
 */
export function parseRequestInfo(method: string, url: string): RequestInfo {
  const mark = url.indexOf('?');
  const rawPath = withoutAuthority(mark < 0 ? url : url.slice(0, mark));
  const query = mark < 0 ? noQuery : new URLSearchParams(url.slice(mark + 1));
  const segments = splitPath(rawPath);
  if (segments === undefined) return pathRequest(method, rawPath, query);
  const path = rawPath.includes('%') ? `/${segments.join('/')}` : rawPath;
  const isCore = segments[0] === 'api';
  if (!isCore && segments[0] !== 'apis') return pathRequest(method, path, query);
  const fixedCount = isCore ? 2 : 3;
  const hasSlash = segments.at(-1) === '';
  if (hasSlash) segments.pop();
  if (segments.length <= fixedCount) return pathRequest(method, path, query); // `/api/v1/`, too
  return resourceRequest({ method, path, query, hasSlash }, segments, fixedCount);
}

function pathRequest(method: string, path: string, query: URLSearchParams): RequestInfo {
  return {
    kind: 'nonResource',
    path,
    query,
    method,
    verb: method.toLowerCase(),
    group: '',
    version: '',
    namespace: '',
    resource: '',
    name: '',
    subresource: '',
    rest: none,
    isInNamespace: false,
    isItem: false,
    isWatchPath: false,
  };
}

interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** At the end of the path, where it is no part of the segments. */
  readonly hasSlash: boolean;
}

/** `/api/v1/…` or `/apis/GROUP/VERSION/…`, with at least one segment after the version. */
function resourceRequest(
  { method, path, query, hasSlash }: Received,
  segments: readonly string[],
  fixedCount: number,
): RequestInfo {
  let at = fixedCount; // the segment of the resource
  const isWatchPath = segments[at] === 'watch' && segments.length > at + 1;
  if (isWatchPath) at++;
  let namespace = '';
  let isInNamespace = false;
  if (segments[at] === 'namespaces' && segments.length > at + 1) {
    namespace = segments[at + 1] ?? '';
    isInNamespace = segments.length > at + 2 && !namespaceSubresources.has(segments[at + 2] ?? '');
    if (isInNamespace) at += 2;
  }
  const isItem = segments.length > at + 1;
  const hasSubresource = segments.length > at + 2;
  let verb = verbOfMethod.get(method) ?? '';
  if (isWatchPath) verb = 'watch';
  else if (verb === 'get') {
    // `watch` on a subresource (a log, a proxied path) is that path's own parameter.
    if (!hasSubresource && wantsWatch(query)) verb = 'watch';
    else if (!isItem) verb = 'list';
  } else if (verb === 'delete' && !isItem) verb = 'deletecollection';
  return {
    kind: 'resource',
    path,
    query,
    method,
    verb,
    group: fixedCount === 2 ? '' : (segments[1] ?? ''),
    version: segments[fixedCount - 1] ?? '',
    namespace,
    resource: segments[at] ?? '',
    name: segments[at + 1] ?? '',
    subresource: segments[at + 2] ?? '',
    rest: restOf(segments, at + 3, hasSlash && hasSubresource),
    isInNamespace,
    isItem,
    isWatchPath,
  };
}

/** To whom a path is passed on, a slash at its end may mean something. */
function restOf(segments: readonly string[], from: number, hasSlash: boolean): readonly string[] {
  if (hasSlash) return [...segments.slice(from), ''];
  return segments.length > from ? segments.slice(from) : none;
}

function wantsWatch(query: URLSearchParams): boolean {
  const watch = query.get('watch');
  return watch !== null && watch !== '0' && watch.toLowerCase() !== 'false';
}

/** The path of a request target in absolute form (RFC 9112 §3.2.2), which proxies send. */
export function withoutAuthority(target: string): string {
  if (target.startsWith('/')) return target;
  const match = /^https?:\/\/[^/]*/i.exec(target);
  return match === null ? target : target.slice(match[0].length);
}

/**
 * Decoded segments without the leading slash; undefined when a segment cannot be routed safely.
 * However many slashes are at the end, they are one empty segment.
 */
function splitPath(path: string): string[] | undefined {
  if (!path.startsWith('/')) return undefined;
  const segments = path.slice(1).split('/');
  while (segments.length > 2 && segments.at(-1) === '' && segments.at(-2) === '') segments.pop();
  if (!oddSegment.test(path)) return segments;
  for (let index = 0; index < segments.length; index++) {
    let segment = segments[index] ?? '';
    if (segment.includes('%')) {
      try {
        segment = decodeURIComponent(segment);
      } catch {
        return undefined;
      }
      segments[index] = segment;
    }
    const isEmptyInside = segment === '' && index < segments.length - 1;
    if (isEmptyInside || segment === '.' || segment === '..') return undefined;
    if (segment.includes('/') || segment.includes('\0')) return undefined;
  }
  return segments;
}

/** Most paths have no segment that is encoded, empty, `.` or `..`: one look tells. */
const oddSegment = /[%\0]|\/\.{0,2}(?:\/|$)/;

const writes: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
]);
/** A request that changes stored objects, or would. */
export const isWrite = ({ kind, verb }: RequestInfo): boolean =>
  kind === 'resource' && writes.has(verb);
