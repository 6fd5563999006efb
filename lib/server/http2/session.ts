// One HTTP/2 connection of a client (RFC 9113, the side of a server): from the preface to its end,
// the frames that the client sends, the bounds on them, and what becomes of the streams.
import type { TLSSocket } from 'node:tls';
import { limits } from '../../base/limits.ts';
import { FrameReader } from '../../http2/frame-reader.ts';
import type { FrameSink } from '../../http2/frame-reader.ts';
import { defaultWindowBytes, frameType, goAway, http2Code } from '../../http2/frames.ts';
import { Http2Error, preface, resetStream, settingId, settingsFrame } from '../../http2/frames.ts';
import { uint31Max, windowUpdate } from '../../http2/frames.ts';
import { FieldDecoder } from '../../http2/hpack.ts';
import { SharedFrames } from '../../http2/shared-frames.ts';
import { StreamTable } from '../../http2/stream-table.ts';
import { bodiesWindowBytes, bodyWindowBytes, RequestBodies } from './request-bodies.ts';
import { FieldBlock } from './request-head.ts';
import type { HeadFault, RequestHead } from './request-head.ts';
import { ResetBudget } from './reset-budget.ts';
import { ResponseSender } from './sender.ts';
import { Http2Stream } from './stream.ts';
import type { StreamSession } from './stream.ts';

/** The default, which clients count on. */
const tableBytesMax = 4_096;
const unsentBytesMax = limits.http2SessionMegabytesMax * 1024 * 1024;

const greeting = Buffer.concat([
  settingsFrame([
    [settingId.concurrentStreamsMax, limits.http2StreamsPerConnectionMax],
    [settingId.initialWindowSize, bodyWindowBytes],
    [settingId.headerListSizeMax, limits.requestHeaderBytesMax],
  ]),
  windowUpdate(0, bodiesWindowBytes - defaultWindowBytes),
]);

export interface SessionOptions {
  /** A request has begun. */
  readonly onStream: (stream: Http2Stream) => void;
  /** How long the client may take for its preface and its settings. */
  readonly headersMs: number;
}

export class Http2Session implements FrameSink, StreamSession {
  readonly socket: TLSSocket;
  unsentBytes = 0;
  readonly #options: SessionOptions;
  readonly #streams = new StreamTable<Http2Stream>();
  readonly #sender: ResponseSender;
  readonly #shared: SharedFrames<Http2Stream>;
  readonly #bodies: RequestBodies;
  readonly #reader = new FrameReader(this, limits.requestHeaderBytesMax);
  readonly #decoder = new FieldDecoder({
    listBytesMax: limits.requestHeaderBytesMax,
    tableBytesMax,
    make: (fields) => new FieldBlock(fields),
  });
  readonly #resets = new ResetBudget();
  /** Bytes of the preface that have come. */
  #prefaceBytes = 0;
  readonly #greeted: NodeJS.Timeout;
  #lastId = 0;
  /** Streams above it are refused; the client knows. */
  #lastTaken = uint31Max;
  #hasAnnounced = false;
  /** Ends with its last stream. */
  #isEnding = false;
  #isClosed = false;

  constructor(socket: TLSSocket, options: SessionOptions) {
    this.socket = socket;
    this.#options = options;
    this.#sender = new ResponseSender(socket, this.#streams, (stream) => {
      this.#sent(stream);
    });
    this.#shared = new SharedFrames<Http2Stream>(
      this.#sender,
      {
        begun: (streamId) => this.#begun(streamId),
        misbehaved: (stream, code) => this.#misbehaved(stream, code),
        reset: (stream) => this.#resetByClient(stream),
        goAway: () => undefined, // It is about streams that a server would begin.
        settled: () => clearTimeout(this.#greeted),
      },
      limits.http2SettingsPerFrameMax,
    );
    this.#bodies = new RequestBodies({
      control: (frame) => this.#sender.control(frame),
      onWhole: (stream) => {
        if (stream.isSent) this.#forget(stream);
      },
      onFault: (stream, code) => this.#misbehaved(stream, code),
    });
    this.#greeted = setTimeout(() => this.destroy(), options.headersMs).unref();
    this.#sender.control(greeting);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', () => this.destroy());
    socket.on('end', () => this.destroy());
    socket.on('close', () => this.destroy());
  }

  ping(onPong: () => void): void {
    this.#shared.ping(onPong);
  }

  announceEnd(): void {
    if (this.#hasAnnounced || this.#isClosed) return;
    this.#hasAnnounced = true;
    this.#sender.control(goAway(uint31Max, http2Code.noError));
    this.ping(() => this.#takeNoMore());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#takeNoMore();
    this.#isEnding = true;
    this.#endWhenDone();
  }

  destroy(): void {
    if (this.#isClosed) return;
    this.#forgetAll();
    this.socket.destroy();
  }

  #takeNoMore(): void {
    if (this.#lastTaken !== uint31Max) return;
    this.#hasAnnounced = true;
    this.#lastTaken = this.#lastId;
    this.#sender.control(goAway(this.#lastId, http2Code.noError));
  }

  #endWhenDone(): void {
    if (!this.#isEnding || this.#streams.size > 0 || this.#isClosed) return;
    this.#sender.finish();
    this.#forgetAll();
    this.#linger();
  }

  /**
   * Whatever the client still sends is read, so that it reads what it was told for sure; not for
   * ever, where it reads nothing or does not close its side.
   */
  #linger(): void {
    const { socket } = this;
    const cutAfter = (delayMs: number): void => {
      const timer = setTimeout(() => socket.destroy(), delayMs).unref();
      socket.once('close', () => clearTimeout(timer));
    };
    cutAfter(limits.answerGraceMs);
    socket.end(() => {
      cutAfter(limits.http2LingerMs);
    });
  }

  #forgetAll(): void {
    this.#isClosed = true;
    clearTimeout(this.#greeted);
    this.#sender.end();
    for (const stream of this.#streams.all()) this.#forget(stream);
  }

  #read(chunk: Buffer): void {
    if (this.#isClosed) return;
    try {
      const from = this.#prefaceBytes < preface.length ? this.#readPreface(chunk) : 0;
      if (from < chunk.length) {
        const rest = from === 0 ? chunk : chunk.subarray(from);
        this.#reader.read(rest, rest.length);
      }
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error;
      this.#break(error);
    }
  }

  /** Returns where it ends. @throws Http2Error */
  #readPreface(chunk: Buffer): number {
    const count = Math.min(preface.length - this.#prefaceBytes, chunk.length);
    const to = this.#prefaceBytes + count;
    if (chunk.compare(preface, this.#prefaceBytes, to, 0, count) !== 0) {
      throw new Http2Error(http2Code.protocolError, 'no preface of HTTP/2');
    }
    this.#prefaceBytes = to;
    return count;
  }

  /** The client broke the protocol. */
  #break({ code, message }: Http2Error): void {
    if (this.#isClosed) return;
    this.#sender.flush(); // answers that are ready
    this.#sender.control(goAway(this.#lastId, code, message));
    this.#sender.finish();
    this.#forgetAll();
    this.#linger();
  }

  // What the reader brings.

  headers(streamId: number, isLast: boolean, bytes: Buffer, from: number, to: number): void {
    if (this.#isClosed) return;
    const block = this.#decoder.decode(bytes, from, to);
    const open = this.#streams.get(streamId);
    if (open !== undefined) {
      this.#trailers(open, isLast && block.isFitForTrailers);
      return;
    }
    if (streamId % 2 === 0) throw broken('a stream of the server, begun by its client');
    if (streamId <= this.#lastId) return; // It has ended meanwhile.
    if (streamId > this.#lastTaken) {
      this.#resets.take();
      this.#sender.control(resetStream(streamId, http2Code.refusedStream));
      return;
    }
    this.#lastId = streamId;
    const { head } = block;
    const fault = this.#faultOf(head, isLast);
    if (fault !== undefined) {
      this.#resets.take();
      this.#sender.control(resetStream(streamId, fault));
      return;
    }
    const windows = { send: this.#sender.newStreamWindow, receive: bodyWindowBytes };
    const stream = new Http2Stream(this, streamId, head as RequestHead, windows, isLast);
    this.#streams.add(streamId, stream);
    this.#options.onStream(stream);
  }

  /** Why the stream does not begin. */
  #faultOf(head: RequestHead | HeadFault, isLast: boolean): HeadFault | undefined {
    if (typeof head === 'number') return head;
    if (this.#streams.size >= limits.http2StreamsPerConnectionMax) return http2Code.refusedStream;
    if (this.unsentBytes > unsentBytesMax) return http2Code.enhanceYourCalm;
    return isLast && head.contentLength > 0 ? http2Code.protocolError : undefined;
  }

  /** Nobody asks for their fields. */
  #trailers(stream: Http2Stream, isFit: boolean): void {
    if (stream.isComplete) throw new Http2Error(http2Code.streamClosed, 'fields after the end');
    if (isFit) this.#bodies.end(stream);
    else this.#misbehaved(stream, http2Code.protocolError);
  }

  dataBegins(streamId: number, length: number): void {
    if (this.#isClosed) return;
    if (!this.#mayHaveBegun(streamId)) throw broken('DATA of no stream');
    this.#bodies.begins(this.#streams.get(streamId), length);
  }

  data(bytes: Buffer, from: number, to: number): void {
    this.#bodies.piece(bytes, from, to);
  }

  dataEnds(isLast: boolean): void {
    this.#bodies.ends(isLast);
  }

  frame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (this.#isClosed) return;
    if (type === frameType.priority) this.#priority(streamId, payload);
    else this.#shared.take(type, flags, streamId, payload);
  }

  /** Deprecated (RFC 9113, section 5.3.2): checked, and passed over. */
  #priority(streamId: number, payload: Buffer): void {
    if (streamId === 0) throw broken('a priority of no stream');
    const stream = this.#streams.get(streamId);
    if (stream !== undefined && payload.length !== 5) {
      this.#misbehaved(stream, http2Code.frameSizeError);
    }
  }

  #resetByClient(stream: Http2Stream | undefined): void {
    this.#resets.take();
    if (stream !== undefined) this.#forget(stream);
  }

  /** undefined: it has ended. @throws Http2Error */
  #begun(streamId: number): Http2Stream | undefined {
    if (!this.#mayHaveBegun(streamId)) throw broken(`no stream ${String(streamId)} was begun`);
    return this.#streams.get(streamId);
  }

  /** Nothing is known of those that the client begins after it was told to go. */
  #mayHaveBegun(streamId: number): boolean {
    return streamId % 2 === 1 && (streamId <= this.#lastId || streamId > this.#lastTaken);
  }

  // What the streams say.

  consumed(stream: Http2Stream, bytes: number): void {
    this.#bodies.consumed(stream, bytes);
  }

  hasMore(stream: Http2Stream): void {
    this.#sender.hasMore(stream);
  }

  sayContinue(stream: Http2Stream): void {
    this.#sender.sayContinue(stream);
  }

  /** The client has the whole response. What it still sends is read where somebody reads it. */
  #sent(stream: Http2Stream): void {
    if (stream.isComplete) this.#forget(stream);
    else if (!stream.isFlowing) this.reset(stream, http2Code.noError);
  }

  reset(stream: Http2Stream, code: number): void {
    if (stream.isClosed) return;
    this.#sender.control(resetStream(stream.id, code));
    this.#forget(stream);
  }

  /** The client broke the rules for one stream: only that one ends. */
  #misbehaved(stream: Http2Stream, code: number): void {
    this.#resets.take();
    this.reset(stream, code);
  }

  #forget(stream: Http2Stream): void {
    if (!this.#streams.delete(stream.id)) return;
    this.#sender.withdraw(stream);
    this.#bodies.taken(stream.unreadBytes);
    stream.closed();
    this.#endWhenDone();
  }
}

const broken = (details: string): Http2Error => new Http2Error(http2Code.protocolError, details);
