// gRPC calls as streams of one HTTP/2 session: one with one answer, and one with messages both
// ways.
import { constants } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { status as grpcStatus } from '@grpc/grpc-js';
import { limits } from '../../base/limits.ts';
import { EtcdError, neverSent } from '../etcd-error.ts';
import type { Method } from '../rpc.ts';
import { errorOfHeaders, errorOfReset, errorOfTrailers } from './call-end.ts';
import type { Headers } from './call-end.ts';
import type { CallTerms, MessageStream, StreamListener } from './channel.ts';
import { messageFrame, MessageReader } from './message-frames.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants;
const { etcdAnswerBytesMax } = limits;

/** Everything that is the same in every call; `hasleader`: see `Endpoint`. */
const requestHeaders = {
  ':method': 'POST',
  'content-type': 'application/grpc',
  te: 'trailers',
  'user-agent': 'grpc-node-http2',
  hasleader: 'true',
};

/** @throws EtcdError: nothing was sent. */
function begin(
  session: ClientHttp2Session,
  path: string,
  own: Readonly<Record<string, string>>,
): ClientHttp2Stream {
  try {
    return session.request({ ...requestHeaders, ':path': path, ...own });
  } catch (error) {
    throw new EtcdError(grpcStatus.UNAVAILABLE, neverSent, { cause: error });
  }
}

const unreadable = (cause: unknown): EtcdError =>
  new EtcdError(grpcStatus.INTERNAL, `an answer that cannot be read: ${String(cause)}`, { cause });

/**
 * One request, one answer. @throws EtcdError; `signal.reason` when aborted, after which the request
 * may have been applied
 */
export function callOnce<Request, Response>(
  session: ClientHttp2Session,
  method: Method<Request, Response>,
  request: Request,
  { deadlineMs, signal, headers }: CallTerms,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const body = messageFrame(method.encode(request));
    const timeoutMs = Math.max(deadlineMs - Date.now(), 1);
    const own = { 'grpc-timeout': `${String(timeoutMs)}m`, ...headers };
    const stream = begin(session, method.path, own);
    const call = new OneAnswer(session, stream, (error, answer) => {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', abort);
      if (error !== undefined) {
        reject(error);
        return;
      }
      try {
        resolve(method.decode(answer));
      } catch (cause) {
        reject(unreadable(cause));
      }
    });
    const abort = (): void => {
      call.cancel(signal?.reason as Error);
    };
    const deadline = setTimeout(() => {
      call.cancel(new EtcdError(grpcStatus.DEADLINE_EXCEEDED, 'Deadline exceeded'));
    }, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    stream.end(body);
  });
}

type Settle = (error: Error | undefined, answer: Buffer) => void;

const none = Buffer.alloc(0);

class OneAnswer {
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #settle: Settle;
  readonly #reader = new MessageReader(etcdAnswerBytesMax);
  #answer: Buffer | undefined;
  #trailers: Headers | undefined;
  #cause: Error | undefined;
  #isSettled = false;

  constructor(session: ClientHttp2Session, stream: ClientHttp2Stream, settle: Settle) {
    this.#session = session;
    this.#stream = stream;
    this.#settle = settle;
    stream.on('response', (headers) => {
      const refused = errorOfHeaders(headers);
      if (refused !== undefined) this.cancel(refused);
      else if (headers['grpc-status'] !== undefined) this.#ends(headers);
    });
    stream.on('data', (chunk: Buffer) => {
      try {
        this.#reader.read(chunk, (message) => (this.#answer = message));
      } catch (error) {
        this.cancel(error as Error);
        return;
      }
      if (this.#trailers !== undefined) this.#ends(this.#trailers);
    });
    stream.on('trailers', (trailers: Headers) => {
      this.#ends(trailers);
    });
    stream.on('error', (error: Error) => (this.#cause = error));
    stream.on('close', () => {
      if (!this.#isSettled) this.#settled(this.#closed(), none);
    });
  }

  /** Ends the call with an error of this side. */
  cancel(why: Error): void {
    if (this.#isSettled) return;
    this.#settled(why, none);
    this.#stream.close(NGHTTP2_CANCEL);
  }

  /** The status may be told before the last bytes of the answer are. */
  #ends(trailers: Headers): void {
    this.#trailers = trailers;
    const error = errorOfTrailers(trailers);
    if (error !== undefined) this.#settled(error, none);
    else if (this.#answer !== undefined) this.#settled(undefined, this.#answer);
  }

  #closed(): EtcdError {
    if (this.#trailers !== undefined) {
      return new EtcdError(grpcStatus.INTERNAL, 'an answer without a message');
    }
    const { rstCode: code } = this.#stream;
    return errorOfReset({ code, cause: this.#cause, isLost: this.#session.destroyed });
  }

  #settled(error: Error | undefined, answer: Buffer): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#settle(error, answer);
  }
}

/** Messages both ways. @throws EtcdError: nothing was sent */
export class Http2MessageStream<Request, Response> implements MessageStream<Request> {
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #method: Method<Request, Response>;
  readonly #listener: StreamListener<Response>;
  readonly #reader = new MessageReader(etcdAnswerBytesMax);
  #cause: Error | undefined;
  #status: Headers | undefined;
  #hasEnded = false;

  constructor(
    session: ClientHttp2Session,
    method: Method<Request, Response>,
    listener: StreamListener<Response>,
    onClosed: () => void,
  ) {
    this.#session = session;
    this.#method = method;
    this.#listener = listener;
    this.#stream = begin(session, method.path, {});
    this.#stream.on('response', (headers) => {
      const refused = errorOfHeaders(headers);
      if (refused !== undefined) this.#fail(refused);
      else if (headers['grpc-status'] !== undefined) this.#status = headers;
    });
    this.#stream.on('data', (chunk: Buffer) => {
      this.#receive(chunk);
    });
    this.#stream.on('trailers', (trailers: Headers) => (this.#status = trailers));
    this.#stream.on('error', (error: Error) => (this.#cause = error));
    // The member ends both directions with its own; comes after the last message.
    this.#stream.on('end', () => {
      this.#end(this.#closed());
      this.#stream.close(NGHTTP2_CANCEL);
    });
    this.#stream.on('close', () => {
      this.#end(this.#closed());
      onClosed();
    });
  }

  get isPaused(): boolean {
    return this.#stream.isPaused();
  }

  send(request: Request): void {
    if (!this.#stream.writable) return; // Its end is told by itself.
    this.#stream.write(messageFrame(this.#method.encode(request)));
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  cancel(): void {
    this.#hasEnded = true;
    this.#stream.close(NGHTTP2_CANCEL);
  }

  #receive(chunk: Buffer): void {
    if (this.#hasEnded) return;
    try {
      this.#reader.read(chunk, (message) => {
        if (!this.#hasEnded) this.#listener.message(this.#method.decode(message));
      });
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #fail(error: Error): void {
    this.#end(error instanceof EtcdError ? error : unreadable(error));
    this.#stream.close(NGHTTP2_CANCEL);
  }

  #closed(): EtcdError | undefined {
    if (this.#status !== undefined) return errorOfTrailers(this.#status);
    const { rstCode: code } = this.#stream;
    if (code === NGHTTP2_NO_ERROR && this.#cause === undefined && this.#reader.isBetween) {
      return undefined;
    }
    return errorOfReset({ code, cause: this.#cause, isLost: this.#session.destroyed });
  }

  #end(error: EtcdError | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#listener.ended(error);
  }
}
