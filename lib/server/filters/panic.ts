// The one place where a failure becomes an answer: StatusErrors as they are, anything else as a 500 without its stack.
import type { Logger } from '../../base/log.ts';
import { StatusError, internalError, serviceUnavailable } from '../../base/status.ts';
import { RequestEnded, clientLeft } from '../open-request.ts';
import type { OpenRequest } from '../open-request.ts';
import type { HttpRequest, HttpResponse } from '../request-context.ts';
import { sendNow } from '../respond.ts';

export type FailureHandler = (
  error: unknown,
  request: HttpRequest,
  response: HttpResponse,
) => void;

/** `encodeStatus` gives the Status body in a form that the client accepts (JSON when nothing else fits). */
export function failureHandler(options: {
  readonly logger: Logger;
  readonly encodeStatus: (
    error: StatusError,
    request: HttpRequest,
  ) => { readonly contentType: string; readonly body: Uint8Array };
}): FailureHandler {
  return function answerFailure(error, request, response) {
    const { context } = request;
    if (error === clientLeft || response.destroyed) {
      response.destroy();
      return;
    }
    const status = asStatus(error, request);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const { contentType, body } = options.encodeStatus(status, request);
    const retryAfter = status.details?.retryAfterSeconds;
    const headers: Record<string, string> = {};
    if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
    if (status.code === 401) closeAfter(request, response);
    if (!request.complete) closeAfterUnreadBody(request, response, headers);
    sendNow(request, response, { status: status.code, contentType, headers }, body);
    (context as OpenRequest).end(new RequestEnded('answered'));
  };

  function asStatus(error: unknown, request: HttpRequest): StatusError {
    if (error instanceof StatusError) return error;
    if (error instanceof RequestEnded) return serviceUnavailable(error.message, 1);
    const { info, auditId } = request.context;
    options.logger.error('request failed by a bug', { error, auditId, verb: info.verb, path: info.path });
    return internalError(`the server failed to answer (audit id ${auditId})`);
  }
}

/** A connection that shows bad credentials gets no further streams (unauthenticated floods, CVE-2023-44487 class). */
function closeAfter(request: HttpRequest, response: HttpResponse): void {
  if ('stream' in request) {
    const { session } = request.stream;
    response.once('close', () => session?.close());
  } else response.setHeader('connection', 'close');
}

/** The rest of a body that nobody reads must not be taken for the next request. */
function closeAfterUnreadBody(
  request: HttpRequest,
  response: HttpResponse,
  headers: Record<string, string>,
): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  if (!('stream' in request)) headers['connection'] = 'close';
  request.resume();
  response.once('close', () => request.destroy());
}
