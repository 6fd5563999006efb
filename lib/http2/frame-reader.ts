// Frames of HTTP/2 out of the chunks in which they come. Contents of DATA are passed on as they
// are, piece by piece; every other frame waits until it is whole, a block of header fields until
// its last CONTINUATION.
import { defaultFrameBytesMax, frameFlag, frameHeadBytes, frameType } from './frames.ts';
import { http2Code, Http2Error } from './frames.ts';

/** Bytes from `from` to before `to`; they are the sink's until it returns. */
export interface FrameSink {
  /** Of any type but those below, and CONTINUATION. */
  frame(type: number, flags: number, streamId: number, payload: Buffer): void;
  headers(streamId: number, isLast: boolean, bytes: Buffer, from: number, to: number): void;
  /** A DATA frame begins: its length with padding counts for flow control. */
  dataBegins(streamId: number, length: number): void;
  data(bytes: Buffer, from: number, to: number): void;
  dataEnds(isLast: boolean): void;
}

/** Of one block. Empty ones would cost time and never end. */
const continuationsMax = 64;

export class FrameReader {
  readonly #sink: FrameSink;
  /** Bytes of one block of header fields. */
  readonly #blockBytesMax: number;
  readonly #head = Buffer.alloc(frameHeadBytes);
  #headCount = 0;
  /** The head of a frame has come, and not all of its payload. */
  #isWithin = false;
  #type = 0;
  #flags = 0;
  #streamId = 0;
  /** Bytes of the payload that have not come. */
  #leftBytes = 0;
  /** Of a DATA frame; -1: not yet told. */
  #paddingBytes = 0;
  /** The beginning of a payload that did not come at once. */
  #part: Buffer | undefined;
  #partBytes = 0;
  /** Fields whose block goes on: only its CONTINUATION may follow. */
  #block: { streamId: number; isLast: boolean; bytes: Buffer } | undefined;
  #continuationCount = 0;
  #hasSettings = false;

  constructor(sink: FrameSink, blockBytesMax: number) {
    this.#sink = sink;
    this.#blockBytesMax = blockBytesMax;
  }

  /** @throws Http2Error */
  read(bytes: Buffer, to: number): void {
    let at = 0;
    for (;;) {
      if (!this.#isWithin) {
        if (at === to) return;
        at = this.#readHead(bytes, at, to);
        if (!this.#isWithin) return;
      }
      at =
        this.#type === frameType.data
          ? this.#readData(bytes, at, to)
          : this.#readPayload(bytes, at, to);
      if (this.#isWithin) return;
    }
  }

  #readHead(bytes: Buffer, from: number, to: number): number {
    if (this.#headCount === 0 && to - from >= frameHeadBytes) {
      this.#begin(bytes, from);
      return from + frameHeadBytes;
    }
    const count = Math.min(frameHeadBytes - this.#headCount, to - from);
    bytes.copy(this.#head, this.#headCount, from, from + count);
    this.#headCount += count;
    if (this.#headCount === frameHeadBytes) {
      this.#headCount = 0;
      this.#begin(this.#head, 0);
    }
    return from + count;
  }

  #begin(head: Buffer, at: number): void {
    const length = head.readUIntBE(at, 3);
    const type = head[at + 3] ?? 0;
    const flags = head[at + 4] ?? 0;
    const streamId = head.readUInt32BE(at + 5) & 0x7fff_ffff;
    if (length > defaultFrameBytesMax) {
      throw new Http2Error(http2Code.frameSizeError, `a frame of ${String(length)} bytes`);
    }
    this.#checkOrder(type, flags, streamId);
    this.#isWithin = true;
    this.#type = type;
    this.#flags = flags;
    this.#streamId = streamId;
    this.#leftBytes = length;
    if (type !== frameType.data) return;
    this.#paddingBytes = (flags & frameFlag.padded) === 0 ? 0 : -1;
    if (streamId === 0) throw broken('DATA of no stream');
    if (length === 0 && this.#paddingBytes === -1) throw broken('DATA without its padding');
    this.#sink.dataBegins(streamId, length);
  }

  #checkOrder(type: number, flags: number, streamId: number): void {
    if (!this.#hasSettings) {
      if (type !== frameType.settings || (flags & frameFlag.ack) !== 0) {
        throw broken('its first frame is not its SETTINGS');
      }
      this.#hasSettings = true;
    }
    const isContinuation = type === frameType.continuation;
    if (this.#block === undefined ? isContinuation : !isContinuation) {
      throw broken(`a frame of type ${String(type)} where none may be`);
    }
    if (isContinuation && this.#block?.streamId !== streamId) {
      throw broken('CONTINUATION of another stream');
    }
  }

  #readData(bytes: Buffer, from: number, to: number): number {
    let at = from;
    if (this.#paddingBytes === -1) {
      if (at === to) return at;
      this.#paddingBytes = bytes[at++] ?? 0;
      this.#leftBytes--;
      if (this.#paddingBytes > this.#leftBytes) throw broken('padding longer than its frame');
    }
    const contentBytes = Math.min(this.#leftBytes - this.#paddingBytes, to - at);
    if (contentBytes > 0) {
      this.#sink.data(bytes, at, at + contentBytes);
      at += contentBytes;
      this.#leftBytes -= contentBytes;
    }
    if (this.#leftBytes <= this.#paddingBytes) {
      const count = Math.min(this.#leftBytes, to - at);
      at += count;
      this.#leftBytes -= count;
      this.#paddingBytes = this.#leftBytes;
    }
    if (this.#leftBytes === 0) {
      this.#isWithin = false;
      this.#sink.dataEnds((this.#flags & frameFlag.endStream) !== 0);
    }
    return at;
  }

  #readPayload(bytes: Buffer, from: number, to: number): number {
    if (this.#part === undefined && to - from >= this.#leftBytes) {
      const end = from + this.#leftBytes;
      this.#isWithin = false;
      this.#take(bytes, from, end);
      return end;
    }
    this.#part ??= Buffer.allocUnsafe(this.#leftBytes);
    const count = Math.min(this.#leftBytes, to - from);
    bytes.copy(this.#part, this.#partBytes, from, from + count);
    this.#partBytes += count;
    this.#leftBytes -= count;
    if (this.#leftBytes === 0) {
      const part = this.#part;
      this.#part = undefined;
      this.#partBytes = 0;
      this.#isWithin = false;
      this.#take(part, 0, part.length);
    }
    return from + count;
  }

  /** The whole payload of a frame. */
  #take(bytes: Buffer, from: number, to: number): void {
    switch (this.#type) {
      case frameType.headers:
        this.#takeHeaders(bytes, from, to);
        return;
      case frameType.continuation:
        this.#takeContinuation(bytes, from, to);
        return;
      default:
        this.#sink.frame(this.#type, this.#flags, this.#streamId, bytes.subarray(from, to));
    }
  }

  #takeHeaders(bytes: Buffer, from: number, to: number): void {
    const flags = this.#flags;
    const streamId = this.#streamId;
    if (streamId === 0) throw broken('HEADERS of no stream');
    let [start, end] = [from, to];
    if ((flags & frameFlag.padded) !== 0) end -= bytes[start++] ?? 0;
    if ((flags & frameFlag.priority) !== 0) start += 5;
    if (start > end || start > to) throw broken('padding longer than its frame');
    const isLast = (flags & frameFlag.endStream) !== 0;
    if ((flags & frameFlag.endHeaders) !== 0) {
      this.#sink.headers(streamId, isLast, bytes, start, end);
      return;
    }
    this.#continuationCount = 0;
    this.#block = { streamId, isLast, bytes: Buffer.from(bytes.subarray(start, end)) };
  }

  #takeContinuation(bytes: Buffer, from: number, to: number): void {
    const block = this.#block;
    if (block === undefined) return;
    const bytesCount = block.bytes.length + to - from;
    if (bytesCount > this.#blockBytesMax || ++this.#continuationCount > continuationsMax) {
      throw new Http2Error(http2Code.enhanceYourCalm, 'too many header fields');
    }
    block.bytes = Buffer.concat([block.bytes, bytes.subarray(from, to)]);
    if ((this.#flags & frameFlag.endHeaders) === 0) return;
    this.#block = undefined;
    this.#sink.headers(block.streamId, block.isLast, block.bytes, 0, block.bytes.length);
  }
}

const broken = (details: string): Http2Error => new Http2Error(http2Code.protocolError, details);
