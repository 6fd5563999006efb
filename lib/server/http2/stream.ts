// One stream of an HTTP/2 connection: the body of a request as it comes, the response as it goes.
// It has the events of Node's streams that are used here: 'data' and 'end' of the body, 'drain',
// and 'close', once, when nothing more happens to it.
import { EventEmitter } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Linked } from '../../base/linked-list.ts';
import type { RequestHead } from './request-head.ts';

/** A part of a response's body, and who wants to know when it is not needed any more. */
interface Chunk {
  readonly bytes: Uint8Array;
  readonly onWritten: ((error?: Error) => void) | undefined;
}

interface OutgoingHead {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
}

/** Its connection (`session.ts`), as streams and those who have them know it. */
export interface StreamSession {
  readonly socket: TLSSocket;
  /** Bytes of responses that wait for the client. */
  unsentBytes: number;
  /** So many bytes of the stream's body are not kept any more. */
  consumed(stream: Http2Stream, bytes: number): void;
  /** There is something to send. */
  hasMore(stream: Http2Stream): void;
  sayContinue(stream: Http2Stream): void;
  reset(stream: Http2Stream, code: number): void;
  /**
   * Asks the client to go elsewhere, once: at first without refusing anything; what still comes
   * once it has read that is told apart by the last stream that was taken (RFC 9113, section 6.8).
   */
  announceEnd(): void;
  /** Takes no further streams; ends with the last one. */
  close(): void;
  /** Ends it now. */
  destroy(): void;
  /** Asks whether the client is there; answers come in the order of the questions. */
  ping(onPong: () => void): void;
}

/** A writer waits for 'drain' when so much of its stream is not sent. */
const highWaterBytes = 64 * 1024;
/** A piece that waits would keep the whole chunk that it is a part of: a small one is copied. */
const copiedShare = 4;

export class Http2Stream extends EventEmitter implements Linked<Http2Stream> {
  readonly id: number;
  readonly session: StreamSession;
  readonly head: RequestHead;
  isClosed = false;

  /** Of the body, all of it has come. */
  isComplete: boolean;
  /** Bytes of the body that may still come, before the client is told of more. */
  receiveWindow: number;
  /** Bytes of it that have come. */
  bodyBytes = 0;
  #isFlowing = false;
  #hasEnded = false;
  #unread: Buffer[] | undefined;
  /** Bytes of the body that have come and were not taken. */
  unreadBytes = 0;

  // What the sender has to send, and those who have something to send besides.
  before: Http2Stream | undefined;
  after: Http2Stream | undefined;
  sendWindow: number;
  outgoingHead: OutgoingHead | undefined;
  chunk: Chunk | undefined;
  later: Chunk[] | undefined;
  /** Of the first chunk. */
  sentBytes = 0;
  /** Of all chunks. */
  unsentBytes = 0;
  headersSent = false;
  /** Nothing is added to the response. */
  isEnded = false;
  /** The client has all of the response. */
  isSent = false;
  writableNeedDrain = false;

  constructor(
    session: StreamSession,
    id: number,
    head: RequestHead,
    windows: { readonly send: number; readonly receive: number },
    isComplete: boolean,
  ) {
    super();
    this.session = session;
    this.id = id;
    this.head = head;
    this.sendWindow = windows.send;
    this.receiveWindow = windows.receive;
    this.isComplete = isComplete;
  }

  // The body of the request.

  /** Whoever listens to 'data' is given it, in this turn or a later one. */
  override on(event: string | symbol, listener: (...args: never[]) => void): this {
    super.on(event, listener as (...args: unknown[]) => void);
    if (event === 'data') this.resume();
    return this;
  }

  /** Somebody reads the body, or drops it. */
  get isFlowing(): boolean {
    return this.#isFlowing;
  }

  resume(): void {
    if (this.#isFlowing) return;
    this.#isFlowing = true;
    if (this.#unread !== undefined || this.isComplete) queueMicrotask(() => this.#flow());
  }

  pause(): void {
    this.#isFlowing = false;
  }

  /** Of the session: a piece of a chunk that it has read. */
  receive(piece: Buffer): void {
    if (this.#isFlowing && this.#unread === undefined) {
      this.session.consumed(this, piece.length);
      this.emit('data', piece);
      return;
    }
    this.unreadBytes += piece.length;
    const isSmall = piece.length * copiedShare < piece.buffer.byteLength;
    (this.#unread ??= []).push(isSmall ? Buffer.from(piece) : piece);
  }

  /** Of the session: no more pieces come. */
  receiveEnd(): void {
    this.isComplete = true;
    if (this.#isFlowing && this.#unread === undefined) this.#end();
  }

  /** Gives what has come as long as somebody takes it. */
  #flow(): void {
    const unread = this.#unread;
    while (this.#isFlowing && unread !== undefined && unread.length > 0 && !this.isClosed) {
      const piece = unread.shift();
      if (piece === undefined) break;
      this.unreadBytes -= piece.length;
      this.session.consumed(this, piece.length);
      this.emit('data', piece);
    }
    if (this.isClosed || !this.#isFlowing) return;
    this.#unread = undefined;
    if (this.isComplete) this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.emit('end');
  }

  // The response.

  /** An answer before the answer: that the body may come. */
  sayContinue(): void {
    if (!this.headersSent && !this.isClosed) this.session.sayContinue(this);
  }

  respond(status: number, headers: OutgoingHttpHeaders): void {
    if (this.headersSent || this.isClosed) return;
    this.headersSent = true;
    this.outgoingHead = { status, headers };
    this.session.hasMore(this);
  }

  /** False: wait for 'drain' before the next one. */
  write(bytes: Uint8Array, onWritten?: (error?: Error) => void): boolean {
    if (this.isClosed || this.isEnded) {
      onWritten?.(new Error('the stream has ended'));
      return true;
    }
    this.#add({ bytes, onWritten });
    this.session.hasMore(this);
    if (this.unsentBytes >= highWaterBytes) this.writableNeedDrain = true;
    return !this.writableNeedDrain;
  }

  end(bytes?: Uint8Array): void {
    if (this.isClosed || this.isEnded) return;
    if (bytes !== undefined && bytes.length > 0) this.#add({ bytes, onWritten: undefined });
    this.isEnded = true;
    this.session.hasMore(this);
  }

  #add(chunk: Chunk): void {
    this.unsentBytes += chunk.bytes.length;
    this.session.unsentBytes += chunk.bytes.length;
    if (this.chunk === undefined) this.chunk = chunk;
    else (this.later ??= []).push(chunk);
  }

  /** Ends it now, whatever was sent of it; the client is told `code`. */
  close(code: number): void {
    this.session.reset(this, code);
  }

  /** Of the session, which has forgotten it. */
  closed(): void {
    this.isClosed = true;
    this.#unread = undefined;
    this.session.unsentBytes -= this.unsentBytes;
    this.unsentBytes = 0;
    const dropped = [this.chunk, ...(this.later ?? [])];
    this.chunk = undefined;
    this.later = undefined;
    this.outgoingHead = undefined;
    for (const chunk of dropped) chunk?.onWritten?.(new Error('the stream was cut'));
    this.emit('close');
  }
}
