// URL and method to what a request asks for: pure and table-tested. Authorization and routing read the same decoded path.
import type { RequestInfo } from './request-context.ts';

const noQuery = new URLSearchParams();
const verbOfMethod: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize']);

/**
 * Understands `url` (path and query as received).
 * Percent-encoding is decoded once per segment; a segment that then holds `/`, NUL, or is `.` or `..` makes the
 * path unroutable (`resource` and `path` are kept as received, `kind` is nonResource), so it ends as a 404.
 */
export function parseRequestInfo(method: string, url: string): RequestInfo {
  const mark = url.indexOf('?');
  const rawPath = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? noQuery : new URLSearchParams(url.slice(mark + 1));
  const segments = splitPath(rawPath);
  const base = {
    path: rawPath,
    query,
    method,
    verb: method.toLowerCase(),
    group: '',
    version: '',
    namespace: '',
    resource: '',
    name: '',
    subresource: '',
    rest: [],
    isWatchPath: false,
    isItem: false,
  } satisfies Omit<RequestInfo, 'kind'>;
  if (segments === undefined) return { kind: 'nonResource', ...base };
  const decoded = { ...base, path: `/${segments.join('/')}` };
  const isCore = segments[0] === 'api';
  const fixedCount = isCore ? 2 : 3;
  if ((!isCore && segments[0] !== 'apis') || segments.length <= fixedCount) {
    return { kind: 'nonResource', ...decoded };
  }
  const group = isCore ? '' : (segments[1] ?? '');
  const version = segments[fixedCount - 1] ?? '';
  let parts = segments.slice(fixedCount);
  const isWatchPath = parts[0] === 'watch' && parts.length > 1;
  if (isWatchPath) parts = parts.slice(1);
  return resourceRequest({ ...decoded, group, version, isWatchPath }, parts);
}

type Parsed = Omit<RequestInfo, 'kind' | 'isItem'>;

function resourceRequest(base: Parsed, given: readonly string[]): RequestInfo {
  let parts = given;
  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1] ?? '';
    if (parts.length > 2 && !namespaceSubresources.has(parts[2] ?? '')) parts = parts.slice(2);
  }
  const isItem = parts.length > 1;
  const name = parts[1] ?? '';
  return {
    ...base,
    kind: 'resource',
    verb: verbOf(base, isItem),
    namespace,
    resource: parts[0] ?? '',
    name,
    subresource: parts[2] ?? '',
    rest: parts.slice(3),
    isItem: isItem,
  };
}

function verbOf(base: Parsed, isItem: boolean): string {
  const verb = verbOfMethod[base.method] ?? base.verb;
  if (verb === 'get') {
    if (base.isWatchPath || wantsWatch(base.query)) return 'watch';
    return isItem ? 'get' : 'list';
  }
  return verb === 'delete' && !isItem ? 'deletecollection' : verb;
}

function wantsWatch(query: URLSearchParams): boolean {
  const watch = query.get('watch');
  return watch !== null && watch !== '0' && watch.toLowerCase() !== 'false';
}

/** Decoded segments without the leading slash; undefined when a segment cannot be routed safely. */
function splitPath(path: string): string[] | undefined {
  if (!path.startsWith('/')) return undefined;
  const segments = path.slice(1).split('/');
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
