// gRPC calls as streams of one HTTP/2 connection: one with one answer, and one with messages both
// ways.
import { grpcStatus } from '../grpc-status.ts';
import { limits } from '../../base/limits.ts';
import { EtcdError } from '../etcd-error.ts';
import type { Method } from '../rpc.ts';
import { errorOfHeaders, errorOfReset, errorOfTrailers } from './call-end.ts';
import type { CallTerms, MessageStream, StreamListener } from './channel.ts';
import { http2Code } from '../../http2/frames.ts';
import type { Http2Session } from './http2-session.ts';
import type { Head } from './answer-head.ts';
import type { Http2Stream, StreamEvents } from './http2-stream.ts';
import { MessageReader } from './message-frames.ts';
import type { MessageSink } from './message-frames.ts';
import type { RequestHeads } from './request-heads.ts';

const { etcdAnswerBytesMax } = limits;

const unreadable = (cause: unknown): EtcdError =>
  new EtcdError(grpcStatus.INTERNAL, `an answer that cannot be read: ${String(cause)}`, { cause });

/** What a call runs on. */
export interface CallPlace {
  readonly session: Http2Session;
  readonly heads: RequestHeads;
}

/** One request, one answer. */
export class UnaryCall<Request, Response> implements StreamEvents, MessageSink {
  readonly #session: Http2Session;
  readonly #stream: Http2Stream;
  readonly #method: Method<Request, Response>;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: Error) => void;
  readonly #reader = new MessageReader(etcdAnswerBytesMax);
  #answer: Buffer | undefined;
  #status: Head | undefined;

  /** @throws EtcdError: nothing was sent. */
  constructor(
    { session, heads }: CallPlace,
    method: Method<Request, Response>,
    request: Request,
    { deadlineMs, signal, headers }: CallTerms,
    resolve: (response: Response) => void,
    reject: (error: Error) => void,
  ) {
    this.#session = session;
    this.#method = method;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#stream = session.begin(this, {
      head: heads.of(method.path),
      ownHead: headers && heads.own(headers),
      // By the monotonic clock from here on: the other one may be set.
      deadlineMs: performance.now() + deadlineMs - Date.now(),
      only: method.encode(request),
    });
    signal?.addEventListener('abort', this);
  }

  /** Of the signal. */
  handleEvent(): void {
    this.#cancel(this.#signal?.reason as Error);
  }

  head(fields: Head): void {
    const refused = errorOfHeaders(fields);
    if (refused !== undefined) this.#cancel(refused);
    else if (fields.has('grpc-status')) this.#status = fields;
  }

  data(bytes: Buffer, from: number, to: number): void {
    try {
      this.#reader.read(bytes, from, to, this);
    } catch (error) {
      this.#cancel(error as Error);
    }
  }

  message(answer: Buffer): void {
    this.#answer = answer;
  }

  trailers(fields: Head): void {
    this.#status = fields;
  }

  ended(error: EtcdError | undefined): void {
    this.#signal?.removeEventListener('abort', this);
    const failure = error ?? this.#failure();
    if (failure !== undefined) {
      this.#reject(failure);
      return;
    }
    if (this.#answer === undefined) {
      this.#reject(new EtcdError(grpcStatus.INTERNAL, 'an answer without a message'));
      return;
    }
    try {
      this.#resolve(this.#method.decode(this.#answer));
    } catch (cause) {
      this.#reject(unreadable(cause));
    }
  }

  #failure(): EtcdError | undefined {
    return this.#status === undefined ? withoutStatus() : errorOfTrailers(this.#status);
  }

  /** Ends the call with an error of this side. */
  #cancel(why: Error): void {
    this.#signal?.removeEventListener('abort', this);
    this.#session.drop(this.#stream);
    this.#reject(why);
  }
}

const withoutStatus = (): EtcdError =>
  errorOfReset({ code: http2Code.noError, cause: undefined, isLost: false });

/** Messages both ways. */
export class Http2MessageStream<Request, Response>
  implements MessageStream<Request>, StreamEvents, MessageSink
{
  readonly #session: Http2Session;
  readonly #stream: Http2Stream;
  readonly #method: Method<Request, Response>;
  readonly #listener: StreamListener<Response>;
  readonly #reader = new MessageReader(etcdAnswerBytesMax);
  #status: Head | undefined;

  /** @throws EtcdError: nothing was sent. */
  constructor(
    { session, heads }: CallPlace,
    method: Method<Request, Response>,
    listener: StreamListener<Response>,
  ) {
    this.#session = session;
    this.#method = method;
    this.#listener = listener;
    const terms = { head: heads.of(method.path), deadlineMs: Infinity };
    this.#stream = session.begin(this, { ...terms, ownHead: undefined, only: undefined });
  }

  get isPaused(): boolean {
    return this.#stream.isPaused;
  }

  /** After the end, which is told by itself, it does nothing. */
  send(request: Request): void {
    this.#session.send(this.#stream, this.#method.encode(request));
  }

  /** No more than what the stream's window still has will come. */
  pause(): void {
    this.#session.pause(this.#stream);
  }

  resume(): void {
    this.#session.resume(this.#stream);
  }

  cancel(): void {
    this.#session.drop(this.#stream);
  }

  head(fields: Head): void {
    const refused = errorOfHeaders(fields);
    if (refused !== undefined) this.#fail(refused);
    else if (fields.has('grpc-status')) this.#status = fields;
  }

  data(bytes: Buffer, from: number, to: number): void {
    try {
      this.#reader.read(bytes, from, to, this);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  message(message: Buffer): void {
    if (this.#stream.isOpen) this.#listener.message(this.#method.decode(message));
  }

  trailers(fields: Head): void {
    this.#status = fields;
  }

  ended(error: EtcdError | undefined): void {
    this.#listener.ended(error ?? this.#failure());
  }

  #failure(): EtcdError | undefined {
    if (this.#status !== undefined) return errorOfTrailers(this.#status);
    return this.#reader.isBetween ? undefined : withoutStatus();
  }

  #fail(error: Error): void {
    if (!this.#stream.isOpen) return;
    this.#session.drop(this.#stream);
    this.#listener.ended(error instanceof EtcdError ? error : unreadable(error));
  }
}
