// May answer any failure: the one place where one becomes an answer. StatusErrors as they are,
// anything else as a 500 without its stack.
import { limits } from '../../base/limits.ts';
import { http2Code } from '../../http2/frames.ts';
import type { ServerResponse } from 'node:http';
import type { Logger } from '../../base/log.ts';
import { StatusError, internalError, serviceUnavailable } from '../../base/status.ts';
import { hasNoBody } from '../body.ts';
import { cut, isGone } from '../cut.ts';
import { RequestEnded, clientLeft } from '../open-request.ts';
import type { Filter, HttpRequest, HttpResponse } from '../request-context.ts';
import { sendNow } from '../respond.ts';
import { switchingProtocols } from '../upgrade.ts';

interface EncodedStatus {
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface PanicFilterOptions {
  readonly logger: Logger;
  /** The Status body in a form that the client accepts (JSON when nothing else fits). */
  readonly encodeStatus: (error: StatusError, request: HttpRequest) => EncodedStatus;
}

export function panicFilter(options: PanicFilterOptions): Filter {
  return function answerFailures(request, response, next) {
    try {
      return next()?.catch((error: unknown) => answer(error, request, response));
    } catch (error) {
      answer(error, request, response);
    }
  };

  function answer(error: unknown, request: HttpRequest, response: HttpResponse): void {
    const status = asStatus(error, request);
    if (response.writableEnded) return; // answered before it failed
    const hasBegun = response.headersSent || response.statusCode === switchingProtocols;
    if (error === clientLeft || isGone(response) || hasBegun) {
      cut(response);
      return;
    }
    request.context.audit?.answeredStatus(status.toBody());
    const { contentType, body } = encoded(status, request);
    const headers: Record<string, string> = {};
    const retryAfter = status.details?.retryAfterSeconds;
    if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
    if (status.code === 401 && isOneTooMany(request)) closeAfter(response);
    request.context.end(answered);
    afterBody(request, response, () => {
      sendNow(request, response, { status: status.code, contentType, headers }, body);
    });
  }

  function asStatus(error: unknown, request: HttpRequest): StatusError {
    if (error instanceof StatusError) {
      if (error.cause instanceof Error) logCause(error, error.cause, request);
      return error;
    }
    if (error instanceof RequestEnded) return serviceUnavailable(error.message, 1);
    return bug(error, request);
  }

  /** What the client is not told: addresses and words of the store's transport. */
  function logCause({ code }: StatusError, cause: Error, { context }: HttpRequest): void {
    const { info, auditId } = context;
    const { verb, path } = info;
    options.logger.warn('request failed', { code, reason: cause.message, auditId, verb, path });
  }

  function bug(error: unknown, { context }: HttpRequest): StatusError {
    const { info, auditId } = context;
    const { verb, path } = info;
    options.logger.error('request failed by a bug', { error, auditId, verb, path });
    return internalError(`the server failed to answer (audit id ${auditId})`);
  }

  function encoded(status: StatusError, request: HttpRequest): EncodedStatus {
    try {
      return options.encodeStatus(status, request);
    } catch (error) {
      const body = Buffer.from(JSON.stringify(bug(error, request).toBody()));
      return { contentType: 'application/json', body };
    }
  }
}

const answered = new RequestEnded('answered');

function isOneTooMany({ context: { connection } }: HttpRequest): boolean {
  if (connection === undefined) return true;
  return ++connection.badCredentialsCount >= limits.badCredentialsPerConnectionMax;
}

/**
 * A connection that goes on showing bad credentials gets no further streams (unauthenticated
 * floods, CVE-2023-44487 class).
 */
function closeAfter(response: HttpResponse): void {
  if ('stream' in response) {
    const { session } = response.stream;
    response.once('close', () => session.close());
  } else response.setHeader('connection', 'close');
}

const { unreadBodyLingerMs } = limits;

/**
 * The rest of a body that nobody reads is dropped, so that a client that sends first and reads then
 * gets its answer; the time limit of bodies ends endless ones. Closing with bytes unread would
 * reset the connection, and the answer with it.
 */
function afterBody(request: HttpRequest, response: HttpResponse, send: () => void): void {
  if (request.complete || hasNoBody(request)) {
    send();
    return;
  }
  request.resume();
  if ('stream' in request) {
    const { stream } = request;
    send();
    // A reset overtakes the answer: only who goes on sending gets one (RFC 9113 §8.1).
    const reset = setTimeout(() => stream.close(http2Code.noError), unreadBodyLingerMs);
    stream.once('close', () => clearTimeout(reset));
    return;
  }
  if ('stream' in response || staysOpen(response)) {
    send();
    return;
  }
  const finish = (): void => {
    clearTimeout(timer);
    request.off('end', finish).off('close', finish);
    send();
  };
  const timer = setTimeout(finish, unreadBodyLingerMs);
  request.once('end', finish).once('close', finish);
}

const staysOpen = (response: ServerResponse): boolean =>
  response.shouldKeepAlive && response.getHeader('connection') !== 'close';
