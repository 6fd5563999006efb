// The outermost filter: opens the request's context, counts and times it, watches for the client leaving. Answers nothing.
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { InflightKind, RequestMetrics } from '../../telemetry/request-metrics.ts';
import type { Connections } from '../connections.ts';
import { announceEnd } from '../connections.ts';
import type { Deadlines } from '../deadlines.ts';
import { OpenRequest, clientLeft } from '../open-request.ts';
import type { HttpRequest, HttpResponse } from '../request-context.ts';

export interface BeginOptions {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly connections: Connections;
  readonly metrics: RequestMetrics;
  readonly requestTimeoutMs: number;
  /** `--goaway-chance`: share of HTTP/2 requests after which the client is asked to reconnect elsewhere. */
  readonly goawayChance: number;
  /** Whether names of this resource may become label values. */
  readonly isServed: (request: OpenRequest) => boolean;
}

const readOnlyVerbs: ReadonlySet<string> = new Set(['get', 'list', 'head', 'options']);

/** Attaches an OpenRequest; returns it. */
export function beginRequest(
  request: HttpRequest,
  response: HttpResponse,
  options: BeginOptions,
): OpenRequest {
  const given = request.headers['audit-id'];
  const open = new OpenRequest(request.method ?? 'GET', request.url ?? '/', {
    auditId: typeof given === 'string' ? given : undefined,
    nowMs: options.clock.monotonicMs(),
    timeoutMs: options.requestTimeoutMs,
  });
  if (open.info.kind === 'resource' && !options.isServed(open)) open.foldLabels();
  request.context = open;
  const kind = inflightKind(open);
  options.metrics.started(kind, open.labels);
  options.deadlines.add(open);
  const endOnConnection = followConnection(request, response, options);
  response.once('close', () => {
    endOnConnection();
    options.deadlines.remove(open);
    const answered = response.writableEnded;
    if (!answered) options.metrics.aborted(open.labels);
    open.end(clientLeft);
    options.metrics.finished(kind, open.labels, {
      code: answered || response.headersSent ? response.statusCode : 0,
      seconds: (options.clock.monotonicMs() - open.receivedAtMs) / 1000,
      responseBytes: open.responseBytes,
    });
  });
  return open;
}

function followConnection(
  request: HttpRequest,
  response: HttpResponse,
  options: BeginOptions,
): () => void {
  if ('stream' in request) {
    const { session } = request.stream;
    if (session !== undefined && options.goawayChance > 0 && Math.random() < options.goawayChance) {
      announceEnd(session);
    }
    return () => undefined;
  }
  if (options.connections.isDraining) response.setHeader('connection', 'close');
  return options.connections.openRequest(request.socket as Socket);
}

function inflightKind(open: OpenRequest): InflightKind {
  if (open.info.verb === 'watch') return 'longRunning';
  return readOnlyVerbs.has(open.info.verb) ? 'readOnly' : 'mutating';
}
