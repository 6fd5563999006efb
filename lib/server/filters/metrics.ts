// Answers nothing. Counts and times the request, from here until its response is over.
import type { Clock } from '../../base/clock.ts';
import type {
  InflightKind,
  RequestLabels,
  RequestMetrics,
} from '../../telemetry/request-metrics.ts';
import type { Filter, HttpRequest, HttpResponse, Next } from '../request-context.ts';
import { switchingProtocols } from '../upgrade.ts';

export function metricsFilter(options: {
  readonly clock: Clock;
  readonly metrics: RequestMetrics;
}): Filter {
  const { clock, metrics } = options;
  const countRequest = ({ context }: HttpRequest, _response: HttpResponse, next: Next) => {
    metrics.started(inflightKind(context.labels), context.labels);
    return next();
  };
  const closed = ({ context }: HttpRequest, response: HttpResponse): void => {
    const { labels, receivedAtMs, requestBytes, responseBytes } = context;
    const code = codeOf(response);
    if (!response.writableEnded && code !== switchingProtocols) metrics.aborted(labels);
    const seconds = (clock.monotonicMs() - receivedAtMs) / 1000;
    const webhookSeconds = context.webhookMs / 1000;
    const outcome = { code, seconds, webhookSeconds, requestBytes, responseBytes };
    metrics.finished(inflightKind(labels), labels, outcome);
  };
  return Object.assign(countRequest, { closed });
}

const readOnlyVerbs: ReadonlySet<string> = new Set(['GET', 'LIST', 'OPTIONS']);

function inflightKind({ verb }: RequestLabels): InflightKind {
  if (verb === 'WATCH' || verb === 'CONNECT') return 'longRunning';
  return readOnlyVerbs.has(verb) ? 'readOnly' : 'mutating';
}

/** 0: the client left before an answer. */
function codeOf(response: HttpResponse): number {
  const { statusCode } = response;
  const isAnswered = response.writableEnded || response.headersSent;
  return isAnswered || statusCode === switchingProtocols ? statusCode : 0;
}
