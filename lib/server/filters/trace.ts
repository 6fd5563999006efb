// Answers nothing. One span a request, from its first byte until its response is over (of a watch:
// until the watch is), with one of each filter that takes time. It begins behind authentication:
// who asks decides whether their own trace goes on.
import type { Clock } from '../../base/clock.ts';
import { dropHeaders } from '../../base/raw-headers.ts';
import { anonymousUser, mastersGroup, monitoringGroup } from '../../base/user.ts';
import type { User } from '../../base/user.ts';
import type { SpanAttributes, Tracing } from '../../telemetry/tracing.ts';
import type { Filter, HttpRequest, HttpResponse, Next } from '../request-context.ts';
import type { RequestInfo } from '../request-context.ts';

export interface RequestTraces {
  /** Right before authentication. */
  readonly arrived: Filter;
  /** Right behind it. */
  readonly traced: Filter;
  /** The filter with a span of what it does before it goes on. */
  step(name: string, filter: Filter): Filter;
}

export function requestTraces(tracing: Tracing, clock: Clock): RequestTraces {
  return {
    arrived(request, _response, next) {
      request.context.arrivedAtMs = clock.nowMs();
      return next();
    },
    traced: Object.assign(openSpan, { closed: endSpan }),
    step: (name, filter) => Object.assign(stepOf(tracing, name, filter), closedOf(filter)),
  };

  function openSpan(request: HttpRequest, _response: HttpResponse, next: Next): ReturnType<Next> {
    const { context, headers } = request;
    const nowMs = clock.nowMs();
    const span = tracing.openRequest({
      name: spanName(context.info),
      startMs: nowMs - (clock.monotonicMs() - context.receivedAtMs),
      headers,
      isTrusted: isTrusted(context.user),
    });
    if (span.isRecorded) {
      context.span = span;
      span.note(requestAttributes(request));
      span.addPast('authentication', context.arrivedAtMs ?? nowMs, nowMs);
    }
    return span.run(() => {
      passOn(request, tracing.headers());
      return next();
    });
  }

  function endSpan({ context }: HttpRequest, response: HttpResponse): void {
    const { span } = context;
    if (span === undefined) return;
    const { statusCode: status } = response;
    span.note({
      'http.request.body.size': context.requestBytes,
      'http.response.body.size': context.responseBytes,
      ...(response.headersSent && { 'http.response.status_code': status }),
    });
    span.end({ hasFailed: status >= serverFault });
  }
}

const serverFault = 500;

const closedOf = ({ closed }: Filter): Pick<Filter, 'closed'> =>
  closed === undefined ? {} : { closed };

const stepOf =
  (tracing: Tracing, name: string, filter: Filter): Filter =>
  (request, response, next) =>
    tracing.until(name, (goOn) => filter(request, response, () => goOn(next)));

/** Anybody else could have everything sampled, and traces of others mixed up. */
const isTrusted = ({ groups }: User = anonymousUser): boolean =>
  groups.includes(mastersGroup) || groups.includes(monitoringGroup);

const contextHeaders: ReadonlySet<string> = new Set(['traceparent', 'tracestate']);

/** Who is handed the request, headers and all, goes on with this trace. */
function passOn(request: HttpRequest, own: Readonly<Record<string, string>>): void {
  dropHeaders(request, (name) => contextHeaders.has(name));
  for (const [name, value] of Object.entries(own)) {
    request.rawHeaders.push(name, value);
    request.headers[name] = value;
  }
}

/** The path with placeholders for what has no bound. */
function spanName({ kind, method, group, version, ...info }: RequestInfo): string {
  if (kind === 'nonResource') return method;
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const namespace = info.namespace === '' ? '' : '/namespaces/{:namespace}';
  const name = info.name === '' ? '' : '/{:name}';
  const subresource = info.subresource === '' ? '' : `/${info.subresource}`;
  return `${method} ${prefix}${namespace}/${info.resource}${name}${subresource}`;
}

function requestAttributes(request: HttpRequest): SpanAttributes {
  const { context, headers, socket, httpVersion } = request;
  const { info, auditId } = context;
  const { hostname = '', port = '' } = URL.parse(`https://${authorityOf(request)}`) ?? {};
  return {
    'http.request.method': info.method,
    'http.target': shownTarget(info),
    'url.path': info.path,
    'url.scheme': 'https',
    'server.address': hostname,
    ...(port === '' ? {} : { 'server.port': Number(port) }),
    'network.peer.address': socket.remoteAddress,
    'network.peer.port': socket.remotePort,
    'network.protocol.version': httpVersion === '2.0' ? '2' : httpVersion,
    'user_agent.original': headers['user-agent'],
    'audit-id': auditId,
  };
}

const authorityOf = ({ headers }: HttpRequest): string => {
  const { ':authority': authority, host } = headers;
  return typeof authority === 'string' ? authority : (host ?? '');
};

/** Parameters of the API. What else a query has may be for someone else alone. */
const shownParameters: ReadonlySet<string> = new Set([
  ...['allowWatchBookmarks', 'continue', 'dryRun', 'fieldManager', 'fieldSelector'],
  ...['fieldValidation', 'follow', 'force', 'gracePeriodSeconds', 'labelSelector', 'limit'],
  ...['orphanDependents', 'pretty', 'propagationPolicy', 'resourceVersion'],
  ...['resourceVersionMatch', 'sendInitialEvents', 'timeout', 'timeoutSeconds', 'watch'],
]);

function shownTarget({ path, query }: RequestInfo): string {
  let target = path;
  let mark = '?';
  for (const [name, value] of query) {
    const shown = shownParameters.has(name) ? encodeURIComponent(value.toWellFormed()) : 'REDACTED';
    target += `${mark}${encodeURIComponent(name.toWellFormed())}=${shown}`;
    mark = '&';
  }
  return target;
}
