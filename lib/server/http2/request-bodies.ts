// The bodies of the requests of one connection: the windows within which they come, what is kept of
// them until somebody reads it, and what of them breaks the protocol (RFC 9113, section 5.2).
import { limits } from '../../base/limits.ts';
import { http2Code, Http2Error, windowUpdate } from '../../http2/frames.ts';
import type { Http2Stream } from './stream.ts';

/** Bytes of a body that may come before somebody reads it. */
export const bodyWindowBytes = 256 * 1024;
/** The same of all bodies of a connection. */
export const bodiesWindowBytes = 4 * bodyWindowBytes;

const { http2EmptyFramesMax } = limits;

export interface BodyEvents {
  /** Sends a frame. */
  readonly control: (frame: Buffer) => void;
  /** All of it has come. */
  readonly onWhole: (stream: Http2Stream) => void;
  /** It breaks the rules for its stream. */
  readonly onFault: (stream: Http2Stream, code: number) => void;
}

export class RequestBodies {
  readonly #events: BodyEvents;
  #window = bodiesWindowBytes;
  /** Bytes that were taken and that the client was not told of. */
  #takenBytes = 0;
  #emptyFrameCount = 0;
  /** The stream of the DATA frame that is being read. */
  #into: Http2Stream | undefined;
  /** Of that frame: bytes that have not come, padding too, and whether there were contents. */
  #leftBytes = 0;
  #hasContents = false;

  constructor(events: BodyEvents) {
    this.#events = events;
  }

  /** undefined: the stream has ended meanwhile. @throws Http2Error */
  begins(stream: Http2Stream | undefined, length: number): void {
    this.#window -= length;
    if (this.#window < 0) {
      throw new Http2Error(http2Code.flowControlError, 'more than the window of the connection');
    }
    this.#into = stream;
    this.#leftBytes = length;
    this.#hasContents = false;
    if (stream === undefined) {
      this.taken(length);
      return;
    }
    if (stream.isComplete) throw new Http2Error(http2Code.streamClosed, 'DATA after the end');
    stream.receiveWindow -= length;
    if (stream.receiveWindow < 0) this.#events.onFault(stream, http2Code.flowControlError);
  }

  piece(bytes: Buffer, from: number, to: number): void {
    const stream = this.#into;
    if (stream === undefined) return;
    const length = to - from;
    this.#leftBytes -= length;
    this.#hasContents = true;
    if (stream.isClosed) {
      this.taken(length);
      return;
    }
    stream.bodyBytes += length;
    const { contentLength } = stream.head;
    if (contentLength >= 0 && stream.bodyBytes > contentLength) {
      this.taken(length);
      this.#events.onFault(stream, http2Code.protocolError);
      return;
    }
    stream.receive(bytes.subarray(from, to));
  }

  /** @throws Http2Error */
  ends(isLast: boolean): void {
    const stream = this.#into;
    this.#into = undefined;
    if (stream === undefined) return;
    if (this.#leftBytes > 0) this.consumed(stream, this.#leftBytes); // padding
    if (isLast) this.end(stream);
    else if (!this.#hasContents && ++this.#emptyFrameCount > http2EmptyFramesMax) {
      throw new Http2Error(http2Code.enhanceYourCalm, 'too many frames without contents');
    }
  }

  /** No more of it comes. */
  end(stream: Http2Stream): void {
    if (stream.isClosed) return;
    const { contentLength } = stream.head;
    if (contentLength >= 0 && stream.bodyBytes !== contentLength) {
      this.#events.onFault(stream, http2Code.protocolError);
      return;
    }
    stream.receiveEnd();
    this.#events.onWhole(stream);
  }

  /** So many bytes are not kept any more: the window of the body opens again. */
  consumed(stream: Http2Stream, bytes: number): void {
    this.taken(bytes);
    if (stream.isClosed || stream.isComplete) return;
    const usedBytes = bodyWindowBytes - stream.receiveWindow - stream.unreadBytes;
    if (usedBytes < bodyWindowBytes / 2) return;
    stream.receiveWindow += usedBytes;
    this.#events.control(windowUpdate(stream.id, usedBytes));
  }

  /** The same of all bodies together, whichever they were of. */
  taken(bytes: number): void {
    this.#takenBytes += bytes;
    if (this.#takenBytes < bodiesWindowBytes / 2) return;
    this.#window += this.#takenBytes;
    this.#events.control(windowUpdate(0, this.#takenBytes));
    this.#takenBytes = 0;
  }
}
