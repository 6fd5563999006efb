// Answers nothing. Opens the request's context, which all that follows reads; the one filter
// outside of `panic`, whose answers need a context.
import { OpenRequest, clientLeft } from '../open-request.ts';
import type { OpenRequestOptions } from '../open-request.ts';
import type { Filter, HttpRequest, HttpResponse, Next } from '../request-context.ts';

export function contextFilter(options: OpenRequestOptions): Filter {
  const openContext = (request: HttpRequest, response: HttpResponse, next: Next) => {
    request.context = new OpenRequest(request, response, options);
    return next();
  };
  return Object.assign(openContext, { closed });
}

function closed({ context }: HttpRequest, response: HttpResponse): void {
  if (!response.writableEnded) context.end(clientLeft); // nothing waits once it is answered
}
