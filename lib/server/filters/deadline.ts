// May answer 504. Gives the request its deadline and holds it among those that are open, where a
// drain finds it, too.
import type { OpenRequests } from '../open-requests.ts';
import type {
  Filter,
  HttpRequest,
  HttpResponse,
  Next,
  RequestContext,
} from '../request-context.ts';

export function deadlineFilter(options: {
  readonly openRequests: OpenRequests<RequestContext>;
  /** `--request-timeout`. */
  readonly requestTimeoutMs: number;
}): Filter {
  const { openRequests, requestTimeoutMs } = options;
  const limitTime = ({ context }: HttpRequest, _response: HttpResponse, next: Next) => {
    context.deadlineMs = context.receivedAtMs + requestTimeoutMs;
    openRequests.add(context);
    return next();
  };
  const closed = ({ context }: HttpRequest): void => openRequests.remove(context);
  return Object.assign(limitTime, { closed });
}
