// The outermost filter: opens the request's context, counts and times it, sees the client leave.
// It answers nothing.
import type { Clock } from '../../base/clock.ts';
import type { InflightKind, RequestMetrics } from '../../telemetry/request-metrics.ts';
import type { Connection, Connections } from '../connections.ts';
import { announceEnd } from '../connections.ts';
import { OpenRequest, clientLeft } from '../open-request.ts';
import type { FindEntry } from '../open-request.ts';
import type { OpenRequests } from '../open-requests.ts';
import type { HttpRequest, HttpResponse } from '../request-context.ts';

export interface BeginOptions {
  readonly clock: Clock;
  readonly openRequests: OpenRequests<OpenRequest>;
  readonly connections: Connections;
  readonly metrics: RequestMetrics;
  readonly requestTimeoutMs: number;
  /**
   * `--goaway-chance`: share of HTTP/2 requests after which the client is asked to reconnect
   * elsewhere.
   */
  readonly goawayChance: number;
  readonly findEntry: FindEntry;
}

const readOnlyVerbs: ReadonlySet<string> = new Set(['get', 'list', 'head', 'options']);

/** Attaches an OpenRequest, which leaves `openRequests` with the end of its response. */
export function beginRequest(
  request: HttpRequest,
  response: HttpResponse,
  options: BeginOptions,
): void {
  const given = request.headers['audit-id'];
  const open = new OpenRequest(request.method ?? 'GET', request.url ?? '/', {
    auditId: typeof given === 'string' ? given : undefined,
    nowMs: options.clock.monotonicMs(),
    timeoutMs: options.requestTimeoutMs,
    response,
    findEntry: options.findEntry,
  });
  request.context = open;
  const kind = inflightKind(open);
  options.metrics.started(kind, open.labels);
  options.openRequests.add(open);
  const connection = joinConnection(request, response, options);
  if (connection !== undefined) connection.openRequests++;
  response.on('close', () => {
    if (connection !== undefined) connection.openRequests--;
    options.openRequests.remove(open);
    const code = codeOf(response);
    if (!response.writableEnded && code !== switchedProtocols) options.metrics.aborted(open.labels);
    if (!response.writableEnded) open.end(clientLeft); // nothing waits for an answered request
    options.metrics.finished(kind, open.labels, {
      code,
      seconds: (options.clock.monotonicMs() - open.receivedAtMs) / 1000,
      responseBytes: open.responseBytes,
    });
  });
}

const switchedProtocols = 101;

/** 0: the client left before an answer. */
function codeOf(response: HttpResponse): number {
  const { statusCode } = response;
  const isAnswered = response.writableEnded || response.headersSent;
  return isAnswered || statusCode === switchedProtocols ? statusCode : 0;
}

function joinConnection(
  request: HttpRequest,
  response: HttpResponse,
  { connections, goawayChance }: BeginOptions,
): Connection | undefined {
  if ('stream' in request) {
    const { session } = request.stream;
    if (session === undefined) return undefined;
    if (goawayChance > 0 && Math.random() < goawayChance) announceEnd(session);
    return connections.ofSession(session);
  }
  if (connections.isDraining) response.setHeader('connection', 'close');
  return connections.ofSocket(request.socket);
}

function inflightKind(open: OpenRequest): InflightKind {
  if (open.info.verb === 'watch') return 'longRunning';
  return readOnlyVerbs.has(open.info.verb) ? 'readOnly' : 'mutating';
}
