// The sending side of an HTTP/2 connection: streams that wait to begin, messages that wait for room
// in a window, and one write to the socket for all that a turn of the event loop has brought. What
// is not handed to the socket was not sent: a socket that takes no more begins no stream.
import type { Socket } from 'node:net';
import { LinkedList } from '../../base/linked-list.ts';
import { defaultFrameBytesMax, frameFlag, frameHeadBytes } from '../../http2/frames.ts';
import { frameType, putFrameHead, uint31Max } from '../../http2/frames.ts';
import { Sender } from '../../http2/sender.ts';
import type { StreamTable } from '../../http2/stream-table.ts';
import type { Http2Stream } from './http2-stream.ts';
import { messagePrefixBytes } from './message-frames.ts';

/** Streams that wait are begun at once when they are so many, since a turn may take long. */
const turnStreamsMax = 32;
/** `grpc-timeout`, literal and not indexed, with one byte for the length of its value. */
const timeoutName = Buffer.from('\u0000\u000cgrpc-timeout', 'latin1');
const timeoutMsMax = 99_999_999;

export class Http2Sender extends Sender<Http2Stream> {
  readonly #onExhausted: () => void;
  readonly #waiting = new LinkedList<Http2Stream>();
  /** Begun, with a part of a message that is not sent. */
  readonly #unsent = new Set<Http2Stream>();
  #nextId: number;
  #streamsMax = Infinity;

  constructor(
    socket: Socket,
    streams: StreamTable<Http2Stream>,
    { firstStreamId, onExhausted }: { firstStreamId: number; onExhausted: () => void },
  ) {
    super(socket, streams, 0);
    this.#nextId = firstStreamId;
    this.#onExhausted = onExhausted;
  }

  /** Streams that have not begun. */
  get waiting(): LinkedList<Http2Stream> {
    return this.#waiting;
  }

  /** Whether the id may have been one of a stream of this connection. */
  hasBegun(streamId: number): boolean {
    return streamId % 2 === 1 && streamId < this.#nextId;
  }

  begin(stream: Http2Stream): void {
    this.#waiting.add(stream);
    if (this.#waiting.size === turnStreamsMax) this.flush();
    else this.schedule();
  }

  /** One more message of a stream that has not ended its side. */
  send(stream: Http2Stream, message: Uint8Array): void {
    if (stream.message === undefined) stream.message = message;
    else (stream.later ??= []).push(message);
    if (stream.id === 0) return;
    this.#unsent.add(stream);
    this.schedule();
  }

  /** Sends nothing more of it. */
  withdraw(stream: Http2Stream): void {
    this.#waiting.delete(stream);
    this.#unsent.delete(stream);
    stream.message = undefined;
    stream.later = undefined;
    if (this.#waiting.size > 0) this.schedule(); // There may be room for another one.
  }

  withdrawAll(): Http2Stream[] {
    return this.#waiting.takeAll();
  }

  protected get hasUnsent(): boolean {
    return this.#unsent.size > 0;
  }

  protected setStreamsMax(count: number): void {
    this.#streamsMax = count;
    if (this.#waiting.size > 0) this.schedule();
  }

  override flush(): void {
    super.flush();
    if (this.#nextId > uint31Max) this.#onExhausted();
  }

  protected putStreams(): void {
    if (this.#unsent.size > 0) this.#sendUnsent();
    if (this.#waiting.size > 0) this.#beginWaiting();
  }

  #beginWaiting(): void {
    const nowMs = performance.now();
    for (let stream = this.#waiting.first; stream !== undefined; stream = this.#waiting.first) {
      if (this.streams.size >= this.#streamsMax || this.#nextId > uint31Max) return;
      if (this.isFull()) return;
      this.#waiting.delete(stream);
      stream.id = this.#nextId;
      this.#nextId += 2;
      stream.sendWindow = this.streamWindow;
      this.streams.add(stream.id, stream);
      this.#putHead(stream, nowMs);
      while (stream.message !== undefined) {
        if (!this.isFull() && this.#putData(stream)) continue;
        this.#unsent.add(stream);
        break;
      }
    }
  }

  /** A frame of each in turn, so that long messages do not hold up short ones. */
  #sendUnsent(): void {
    for (const stream of this.#unsent) {
      if (this.isFull()) return;
      const isSent = stream.message === undefined;
      if (!isSent && !this.#putData(stream)) continue;
      this.#unsent.delete(stream);
      if (!isSent && stream.message !== undefined) this.#unsent.add(stream);
    }
  }

  /** Its length was checked when the stream was made. */
  #putHead({ id, head, ownHead, deadlineMs }: Http2Stream, nowMs: number): void {
    const batch = this.batch;
    const maxBytes = frameHeadBytes + head.length + (ownHead?.length ?? 0) + 32;
    const slab = batch.room(maxBytes);
    const start = batch.at;
    let at = start + frameHeadBytes;
    slab.set(head, at);
    at += head.length;
    if (deadlineMs !== Infinity) at = putTimeout(slab, at, deadlineMs - nowMs);
    if (ownHead !== undefined) {
      slab.set(ownHead, at);
      at += ownHead.length;
    }
    const length = at - start - frameHeadBytes;
    putFrameHead(slab, start, length, {
      type: frameType.headers,
      flags: frameFlag.endHeaders,
      streamId: id,
    });
    batch.advance(at);
  }

  /** As much of the message as one frame and the windows take; false: nothing. */
  #putData(stream: Http2Stream): boolean {
    const { message, sentBytes } = stream;
    if (message === undefined) return false;
    const leftBytes = messagePrefixBytes + message.length - sentBytes;
    const windowBytes = Math.min(this.window, stream.sendWindow, defaultFrameBytesMax);
    const bytes = Math.min(leftBytes, windowBytes);
    if (bytes <= 0) return false;
    const slab = this.batch.room(frameHeadBytes + bytes);
    let at = this.batch.at;
    const flags = stream.hasOnlyOne && bytes === leftBytes ? frameFlag.endStream : 0;
    putFrameHead(slab, at, bytes, { type: frameType.data, flags, streamId: stream.id });
    at += frameHeadBytes;
    let from = sentBytes;
    const to = sentBytes + bytes;
    for (; from < messagePrefixBytes && from < to; from++) {
      slab[at++] = from === 0 ? 0 : message.length >>> (8 * (messagePrefixBytes - 1 - from));
    }
    if (to > from) {
      const part =
        bytes === leftBytes && from === messagePrefixBytes
          ? message
          : message.subarray(from - messagePrefixBytes, to - messagePrefixBytes);
      slab.set(part, at);
      at += to - from;
    }
    this.batch.advance(at);
    this.window -= bytes;
    stream.sendWindow -= bytes;
    if (bytes === leftBytes) {
      stream.sentBytes = 0;
      stream.message = stream.later?.shift();
    } else {
      stream.sentBytes = to;
    }
    return true;
  }
}

/** In milliseconds, of which the protocol takes eight digits. */
function putTimeout(slab: Buffer, from: number, timeoutMs: number): number {
  let at = from;
  slab.set(timeoutName, at);
  at += timeoutName.length;
  let rest = Math.min(Math.max(Math.ceil(timeoutMs), 1), timeoutMsMax);
  let digits = 1;
  for (let power = 10; power <= rest; power *= 10) digits++;
  slab[at++] = digits + 1;
  for (let digit = at + digits - 1; digit >= at; digit--) {
    slab[digit] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  at += digits;
  slab[at++] = 0x6d;
  return at;
}
