// Reads a request body within limits: size, time, and no content encoding (CVE class: decompression
// bombs).
import type { EventEmitter } from 'node:events';
import { limits } from '../base/limits.ts';
import { StatusError, requestEntityTooLarge } from '../base/status.ts';
import type { HttpRequest } from './request-context.ts';
import { clientLeft } from './open-request.ts';

/**
 * The whole body.
 * @throws StatusError 413 above the limit, 415 for a Content-Encoding, or the signal's reason.
 */
export function readBody(request: HttpRequest, signal: AbortSignal): Promise<Buffer> {
  if (request.context.body !== undefined) return Promise.resolve(request.context.body);
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const message =
      `request bodies must not be compressed: Content-Encoding "${encoding}" is ` + `not supported`;
    return Promise.reject(new StatusError(415, 'UnsupportedMediaType', message));
  }
  if (Number(request.headers['content-length'] ?? 0) > limits.requestBodyBytesMax) {
    return Promise.reject(tooLarge());
  }
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  if (hasNoBody(request)) return Promise.resolve(keep(request, nothing));
  if (request.destroyed) return Promise.reject(clientLeft); // its 'close' has been
  const source: EventEmitter = 'stream' in request ? request.stream : request;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let total = 0;
    const settle = (finish: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      source.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      finish();
    };
    const onAbort = (): void => settle(() => reject(signal.reason as Error));
    const onData = (chunk: Buffer): void => {
      total += chunk.length;
      if (total > limits.requestBodyBytesMax) settle(() => reject(tooLarge()));
      else chunks.push(chunk);
    };
    const onGone = (): void => settle(() => reject(clientLeft));
    const onEnd = (): void => settle(() => resolve(keep(request, joined(chunks, total))));
    signal.addEventListener('abort', onAbort, { once: true });
    source.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

const nothing = Buffer.alloc(0);

/** Of HTTP/1.1: nothing of it is to come (`optimizeEmptyRequests` of Node's server). */
export const hasNoBody = (request: HttpRequest): boolean =>
  !('stream' in request) && request.readableEnded;

function keep({ context }: HttpRequest, body: Buffer): Buffer {
  context.requestBytes = body.length;
  context.body = body;
  return body;
}

const joined = (chunks: Buffer[], total: number): Buffer =>
  chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, total);

function tooLarge(): StatusError {
  return requestEntityTooLarge(`limit is ${String(limits.requestBodyBytesMax)} bytes`);
}
