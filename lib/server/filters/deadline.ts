// May answer 504, and 400 for a timeout that is none. Gives the request its deadline and holds it
// among those that are open, where a drain finds it, too.
import { limits } from '../../base/limits.ts';
import { badRequest } from '../../base/status.ts';
import { parseDuration } from '../../codec/value-forms.ts';
import { isWrite } from '../request-info.ts';
import type { OpenRequests } from '../open-requests.ts';
import type {
  Filter,
  HttpRequest,
  HttpResponse,
  Next,
  RequestContext,
  RequestInfo,
} from '../request-context.ts';

export function deadlineFilter(options: {
  readonly openRequests: OpenRequests<RequestContext>;
  /** `--request-timeout`. */
  readonly requestTimeoutMs: number;
}): Filter {
  const { openRequests, requestTimeoutMs } = options;
  const limitTime = ({ context }: HttpRequest, _response: HttpResponse, next: Next) => {
    const { info, receivedAtMs } = context;
    const mostMs = isWrite(info)
      ? Math.min(limits.writeDeadlineMs, requestTimeoutMs)
      : requestTimeoutMs;
    context.deadlineMs = receivedAtMs + mostMs;
    openRequests.add(context);
    const askedMs = askedTimeoutMs(info);
    if (askedMs < mostMs) context.deadlineMs = receivedAtMs + askedMs;
    return next();
  };
  const closed = ({ context }: HttpRequest): void => openRequests.remove(context);
  return Object.assign(limitTime, { closed });
}

/**
 * `timeout` of the query, a duration such as `30s`; Infinity: none is asked for. A watch has its
 * own way to end. @throws StatusError 400
 */
function askedTimeoutMs({ query, verb }: RequestInfo): number {
  if (verb === 'watch') return Infinity;
  const text = query.get('timeout') ?? '';
  if (text === '') return Infinity;
  const nanos = parseDuration(text);
  if (nanos === undefined) {
    const shown = JSON.stringify(text.slice(0, limits.quotedBodyBytesMax));
    throw badRequest(
      `invalid timeout specified in the request URL: ${shown} is no duration such as 30s`,
    );
  }
  return nanos === 0n ? Infinity : Number(nanos) / 1e6;
}
