// A request and its response for who streams through them: Node's streams. Over HTTP/2 they are
// made when somebody asks for them, which few requests need.
import { Readable, Writable } from 'node:stream';
import type { ConnectResponse, SentRequest } from '../registry/requests.ts';
import { cut } from './cut.ts';
import { clientLeft } from './open-request.ts';
import type { Http2Response } from './http2/response.ts';
import type { HttpRequest, HttpResponse, RequestContext } from './request-context.ts';

type Taken = SentRequest & { readonly context: RequestContext };

export function readableOf(request: HttpRequest): Taken {
  if (!('stream' in request)) return request;
  const { stream, method, url, headers, rawHeaders, socket, context } = request;
  const readable = new Readable({ read: () => stream.resume() });
  readable.on('error', ignore);
  stream.on('data', (piece: Buffer) => {
    if (!readable.push(piece)) stream.pause();
  });
  stream.on('end', () => readable.push(null));
  stream.on('close', () => {
    if (!readable.readableEnded) readable.destroy(clientLeft);
  });
  return Object.assign(readable, { method, url, headers, rawHeaders, socket, context });
}

/** Through the response, whose end others wait for. */
export function writableOf(response: HttpResponse): ConnectResponse {
  if (!('stream' in response)) return response;
  const writable = new Writable({
    autoDestroy: false, // the response may have to wait with its end
    write: (chunk: Uint8Array, _encoding, done) => void response.write(chunk, done),
    final(done) {
      response.end();
      done();
    },
    destroy(error, done) {
      cut(response);
      done(error);
    },
  });
  writable.on('error', ignore);
  response.once('close', () => writable.destroy());
  return Object.defineProperties(writable, headOf(response)) as ConnectResponse;
}

const headOf = (response: Http2Response): PropertyDescriptorMap => ({
  statusCode: {
    get: () => response.statusCode,
    set(status: number) {
      response.statusCode = status;
    },
  },
  writeHead: {
    value: (...of: Parameters<ConnectResponse['writeHead']>) => response.writeHead(...of),
  },
  flushHeaders: { value: () => response.flushHeaders() },
});

const ignore = (): void => undefined;
