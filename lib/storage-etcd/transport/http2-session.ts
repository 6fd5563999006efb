// One HTTP/2 connection to one member (RFC 9113, the side of a client): from the greeting to its
// end, the frames that the member sends, and what becomes of the streams. Sending is the sender's.
import type { Socket } from 'node:net';
import { grpcStatus } from '../grpc-status.ts';
import { EtcdError, neverSent } from '../etcd-error.ts';
import { errorOfReset } from './call-end.ts';
import { DeadlineTimer } from './deadline-timer.ts';
import { FrameReader } from '../../http2/frame-reader.ts';
import type { FrameSink } from '../../http2/frame-reader.ts';
import { defaultWindowBytes, goAway, http2Code, Http2Error } from '../../http2/frames.ts';
import { preface, resetStream, settingId, settingsFrame } from '../../http2/frames.ts';
import { windowUpdate } from '../../http2/frames.ts';
import { SharedFrames } from '../../http2/shared-frames.ts';
import { StreamTable } from '../../http2/stream-table.ts';
import { isInformational, newHeadDecoder } from './answer-head.ts';
import { Http2Sender } from './http2-sender.ts';
import { Http2Stream } from './http2-stream.ts';
import type { StreamEvents, StreamTerms } from './http2-stream.ts';

/** Of a stream, and of all streams together: the default of 64 KiB stalls long pages. */
const windowBytes = 16 * 1024 * 1024;
/** The window is opened again when so much of it is used. */
const windowUsedBytes = windowBytes / 2;
/** Of one block, and of the fields in it. */
const headerListBytesMax = 64 * 1024;

/** The first bytes of a connection: no dynamic table, no pushes, large windows. */
const greeting = Buffer.concat([
  preface,
  settingsFrame([
    [settingId.headerTableSize, 0],
    [settingId.enablePush, 0],
    [settingId.initialWindowSize, windowBytes],
    [settingId.headerListSizeMax, headerListBytesMax],
  ]),
  windowUpdate(0, windowBytes - defaultWindowBytes),
]);

export interface SessionOptions {
  /** Opens the socket; its bytes go to `read`. */
  readonly openSocket: (read: (bytes: Buffer, count: number) => void) => Socket;
  /** The event that says that the socket may be written to; throws where it may not. */
  readonly connectEvent: 'connect' | 'secureConnect';
  readonly firstStreamId?: number | undefined;
  /** The member's settings have come: it takes calls. */
  readonly onReady: () => void;
  /** Once: it takes no more calls; those that it has may go on. */
  readonly onRetired: () => void;
  /** Once, after `onRetired`. */
  readonly onClosed: () => void;
}

export class Http2Session implements FrameSink {
  readonly #options: SessionOptions;
  readonly #socket: Socket;
  readonly #reader = new FrameReader(this, headerListBytesMax);
  readonly #decoder = newHeadDecoder(headerListBytesMax);
  readonly #streams = new StreamTable<Http2Stream>();
  readonly #sender: Http2Sender;
  readonly #shared: SharedFrames<Http2Stream>;
  readonly #deadlines: DeadlineTimer;
  #isReady = false;
  #isRetired = false;
  #isClosed = false;
  #cause: Error | undefined;
  #receiveWindow = windowBytes;
  /** The stream of the DATA frame that is being read. */
  #into: Http2Stream | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#socket = options.openSocket((bytes, count) => {
      this.#read(bytes, count);
    });
    this.#sender = new Http2Sender(this.#socket, this.#streams, {
      firstStreamId: options.firstStreamId ?? 1,
      onExhausted: () => {
        this.#retire();
      },
    });
    this.#shared = new SharedFrames<Http2Stream>(this.#sender, {
      begun: (streamId) => this.#openStream(streamId),
      misbehaved: (stream, code) => this.#misbehaved(stream, code),
      reset: (stream, code) => this.#resetByMember(stream, code),
      goAway: (lastId, code, details) => this.#goAway(lastId, code, details),
      settled: () => this.#settled(),
    });
    this.#deadlines = new DeadlineTimer((nowMs) => this.#expire(nowMs));
    this.#socket.once(options.connectEvent, () => {
      this.#greet();
    });
    this.#socket.on('error', (error: Error) => (this.#cause ??= error));
    this.#socket.on('end', () => {
      this.destroy(undefined);
    });
    this.#socket.on('close', () => {
      this.destroy(undefined);
    });
  }

  /** Streams that have not ended, begun or not. */
  get streamCount(): number {
    return this.#streams.size + this.#sender.waiting.size;
  }

  /** @throws EtcdError: it takes no call. */
  begin(events: StreamEvents, terms: StreamTerms): Http2Stream {
    if (!this.#isReady || this.#isRetired) throw notBegun(this.#cause);
    const stream = new Http2Stream(events, terms, windowBytes);
    if (terms.deadlineMs !== Infinity) this.#deadlines.note(terms.deadlineMs);
    this.#sender.begin(stream);
    return stream;
  }

  send(stream: Http2Stream, message: Uint8Array): void {
    if (stream.isOpen) this.#sender.send(stream, message);
  }

  /** Ends a stream from this side, without a word to who made it. */
  drop(stream: Http2Stream, code: number = http2Code.cancel): void {
    if (!stream.isOpen) return;
    if (stream.id !== 0) this.#sender.control(resetStream(stream.id, code));
    this.#forget(stream);
  }

  pause(stream: Http2Stream): void {
    stream.isPaused = true;
  }

  resume(stream: Http2Stream): void {
    stream.isPaused = false;
    if (stream.isOpen) this.#openWindow(stream);
  }

  ping(onPong: () => void): void {
    this.#shared.ping(onPong);
  }

  /** Ends it now: streams that have begun fail as what may have been done. */
  destroy(cause: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cause ??= cause;
    this.#sender.end();
    this.#deadlines.stop();
    this.#socket.destroy();
    this.#retire();
    for (const stream of this.#streams.all()) {
      const end = { code: http2Code.noError, cause: this.#cause, isLost: true };
      this.#ended(stream, errorOfReset(end));
    }
    this.#options.onClosed();
  }

  #greet(): void {
    const { alpnProtocol } = this.#socket as { readonly alpnProtocol?: string | false | null };
    if (this.#options.connectEvent === 'secureConnect' && alpnProtocol !== 'h2') {
      this.destroy(new Error('the member does not speak HTTP/2 over TLS'));
      return;
    }
    this.#sender.control(greeting);
    this.#sender.flush();
  }

  #read(bytes: Buffer, count: number): void {
    if (this.#isClosed) return;
    try {
      this.#reader.read(bytes, count);
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error;
      this.#break(error);
    }
  }

  /** The member broke the protocol. */
  #break(error: Http2Error): void {
    if (this.#isClosed) return;
    this.#cause ??= error;
    this.#sender.control(goAway(0, error.code, error.message));
    this.#retire(); // Nothing begins with what is still sent.
    this.#sender.flush();
    this.destroy(error);
  }

  // What the reader brings.

  headers(streamId: number, isLast: boolean, bytes: Buffer, from: number, to: number): void {
    const fields = this.#decoder.decode(bytes, from, to);
    const stream = this.#openStream(streamId);
    if (stream === undefined) return;
    if (stream.hasHead && !isLast) {
      this.#misbehaved(stream, http2Code.protocolError);
      return;
    }
    if (!stream.hasHead && isInformational(fields)) {
      if (isLast) this.#misbehaved(stream, http2Code.protocolError);
      return;
    }
    if (stream.hasHead) stream.events.trailers(fields);
    else stream.events.head(fields);
    stream.hasHead = true;
    if (isLast) this.#endedByMember(stream);
  }

  dataBegins(streamId: number, length: number): void {
    this.#receiveWindow -= length;
    if (this.#receiveWindow < 0) {
      throw new Http2Error(http2Code.flowControlError, 'more than the window of the connection');
    }
    if (windowBytes - this.#receiveWindow >= windowUsedBytes) {
      this.#sender.control(windowUpdate(0, windowBytes - this.#receiveWindow));
      this.#receiveWindow = windowBytes;
    }
    const stream = this.#openStream(streamId);
    this.#into = stream;
    if (stream === undefined) return;
    stream.receiveWindow -= length;
    if (!stream.hasHead) this.#misbehaved(stream, http2Code.protocolError);
    else if (stream.receiveWindow < 0) this.#misbehaved(stream, http2Code.flowControlError);
  }

  data(bytes: Buffer, from: number, to: number): void {
    if (this.#into?.isOpen === true) this.#into.events.data(bytes, from, to);
  }

  dataEnds(isLast: boolean): void {
    const stream = this.#into;
    this.#into = undefined;
    if (stream?.isOpen !== true) return;
    if (isLast) this.#endedByMember(stream);
    else if (windowBytes - stream.receiveWindow >= windowUsedBytes) this.#openWindow(stream);
  }

  frame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (this.#isClosed) return;
    this.#shared.take(type, flags, streamId, payload);
  }

  #settled(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    if (!this.#isRetired) this.#options.onReady();
  }

  /** Streams above the last that the member names were never begun there; the others go on. */
  #goAway(lastId: number, code: number, details: Buffer): void {
    if (code !== http2Code.noError) {
      const words = details.toString('latin1', 0, 200);
      this.#cause ??= new Error(`the member said good-bye with code ${String(code)} ${words}`);
    }
    this.#retire();
    for (const stream of this.#streams.all()) {
      if (stream.id > lastId) this.#ended(stream, notBegun(this.#cause));
    }
    this.#closeWhenDone();
  }

  #resetByMember(stream: Http2Stream | undefined, code: number): void {
    if (stream === undefined) return;
    this.#ended(stream, errorOfReset({ code, cause: undefined, isLost: false }));
  }

  // What becomes of streams.

  /** undefined: it has ended, what still comes is passed over. @throws Http2Error */
  #openStream(streamId: number): Http2Stream | undefined {
    const stream = this.#streams.get(streamId);
    if (stream === undefined && !this.#sender.hasBegun(streamId)) {
      throw new Http2Error(http2Code.protocolError, `no stream ${String(streamId)} was begun`);
    }
    return stream;
  }

  #openWindow(stream: Http2Stream): void {
    const usedBytes = windowBytes - stream.receiveWindow;
    if (stream.isPaused || usedBytes === 0 || stream.id === 0) return;
    this.#sender.control(windowUpdate(stream.id, usedBytes));
    stream.receiveWindow = windowBytes;
  }

  /** The member broke the rules for one stream: only that one ends. */
  #misbehaved(stream: Http2Stream, code: number): void {
    this.#sender.control(resetStream(stream.id, code));
    this.#resetByMember(stream, code);
  }

  /** Nothing more comes; nor is more sent, since nobody there would read it. */
  #endedByMember(stream: Http2Stream): void {
    if (!stream.isOpen) return;
    const isWhole = stream.hasOnlyOne && stream.message === undefined;
    if (!isWhole) this.#sender.control(resetStream(stream.id, http2Code.cancel));
    this.#ended(stream, undefined);
  }

  #ended(stream: Http2Stream, error: EtcdError | undefined): void {
    if (!stream.isOpen) return;
    this.#forget(stream);
    stream.events.ended(error);
  }

  #forget(stream: Http2Stream): void {
    stream.isOpen = false;
    this.#streams.delete(stream.id);
    this.#sender.withdraw(stream);
    if (this.#isRetired) this.#closeWhenDone();
  }

  /** Takes no more streams; those that have not begun never will here. */
  #retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#options.onRetired();
    for (const stream of this.#sender.withdrawAll()) this.#ended(stream, notBegun(this.#cause));
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#streams.size > 0 || this.#isClosed) return;
    this.#sender.flush();
    this.destroy(undefined);
  }

  /** Ends what is due; returns when the next is. */
  #expire(nowMs: number): number {
    let nextMs = Infinity;
    for (const streams of [[...this.#sender.waiting], this.#streams.all()]) {
      for (const stream of streams) {
        if (stream.deadlineMs > nowMs) {
          nextMs = Math.min(nextMs, stream.deadlineMs);
          continue;
        }
        const error = stream.id === 0 ? notBegun(deadlineExceeded()) : deadlineExceeded();
        if (stream.id !== 0) this.#sender.control(resetStream(stream.id, http2Code.cancel));
        this.#ended(stream, error);
      }
    }
    return nextMs;
  }
}

const deadlineExceeded = (): EtcdError =>
  new EtcdError(grpcStatus.DEADLINE_EXCEEDED, 'Deadline exceeded');

export const notBegun = (cause: Error | undefined): EtcdError =>
  new EtcdError(grpcStatus.UNAVAILABLE, neverSent, cause === undefined ? {} : { cause });
