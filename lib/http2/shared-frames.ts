// Frames that mean the same at either end of a connection (RFC 9113, section 6): what they may be,
// and what follows from them for the sending side. What follows for streams is the connection's.
import { frameFlag, frameType, http2Code, Http2Error, pingFrame, settingsAck } from './frames.ts';
import { uint31Max } from './frames.ts';
import type { Sender, SendingStream } from './sender.ts';

/** The connection that they come to. */
export interface SharedFrameEvents<Stream extends SendingStream> {
  /** undefined: it has ended, what still comes is passed over. @throws Http2Error: never begun */
  begun(streamId: number): Stream | undefined;
  /** The other side broke the rules for one stream. */
  misbehaved(stream: Stream, code: number): void;
  /** The other side has ended a stream; undefined: it had ended before. */
  reset(stream: Stream | undefined, code: number): void;
  /** It takes no streams above the last that it names. */
  goAway(lastId: number, code: number, details: Buffer): void;
  settled(): void;
}

const settingBytes = 6;

export class SharedFrames<Stream extends SendingStream> {
  readonly #sender: Sender<Stream>;
  readonly #events: SharedFrameEvents<Stream>;
  readonly #settingsMax: number;
  readonly #onPong: (() => void)[] = [];

  /** `settingsMax`: of one frame. */
  constructor(sender: Sender<Stream>, events: SharedFrameEvents<Stream>, settingsMax = Infinity) {
    this.#sender = sender;
    this.#events = events;
    this.#settingsMax = settingsMax;
  }

  /** Asks whether the other side is there; answers come in the order of the questions. */
  ping(onPong: () => void): void {
    this.#onPong.push(onPong);
    this.#sender.control(pingFrame(Buffer.alloc(8)));
  }

  /** Of a type that is not known, or of one that only one end takes: nothing. @throws Http2Error */
  take(type: number, flags: number, streamId: number, payload: Buffer): void {
    switch (type) {
      case frameType.settings:
        this.#settings(flags, streamId, payload);
        return;
      case frameType.ping:
        this.#ping(flags, streamId, payload);
        return;
      case frameType.goAway:
        this.#goAway(streamId, payload);
        return;
      case frameType.windowUpdate:
        this.#windowUpdate(streamId, payload);
        return;
      case frameType.resetStream:
        requireLength(payload, 4);
        this.#events.reset(this.#events.begun(streamId), payload.readUInt32BE(0));
        return;
      case frameType.pushPromise:
        throw new Http2Error(http2Code.protocolError, 'a push that was not allowed');
      default:
    }
  }

  #settings(flags: number, streamId: number, payload: Buffer): void {
    requireConnection(streamId);
    if ((flags & frameFlag.ack) !== 0) {
      requireLength(payload, 0);
      return;
    }
    const count = Math.floor(payload.length / settingBytes);
    requireLength(payload, count * settingBytes);
    if (count > this.#settingsMax) {
      throw new Http2Error(http2Code.enhanceYourCalm, 'too many settings');
    }
    this.#sender.apply(payload);
    this.#sender.reply(settingsAck);
    this.#events.settled();
  }

  #ping(flags: number, streamId: number, payload: Buffer): void {
    requireConnection(streamId);
    requireLength(payload, 8);
    if ((flags & frameFlag.ack) !== 0) this.#onPong.shift()?.();
    else this.#sender.reply(pingFrame(payload, frameFlag.ack));
  }

  #goAway(streamId: number, payload: Buffer): void {
    requireConnection(streamId);
    if (payload.length < 8) requireLength(payload, 8);
    const lastId = payload.readUInt32BE(0) & uint31Max;
    this.#events.goAway(lastId, payload.readUInt32BE(4), payload.subarray(8));
  }

  #windowUpdate(streamId: number, payload: Buffer): void {
    requireLength(payload, 4);
    const bytes = payload.readUInt32BE(0) & uint31Max;
    if (streamId === 0) {
      this.#sender.growWindow(bytes);
      return;
    }
    const stream = this.#events.begun(streamId);
    if (stream === undefined) return;
    if (bytes === 0) this.#events.misbehaved(stream, http2Code.protocolError);
    else if (!this.#sender.growStreamWindow(stream, bytes)) {
      this.#events.misbehaved(stream, http2Code.flowControlError);
    }
  }
}

/** @throws Http2Error */
function requireConnection(streamId: number): void {
  if (streamId === 0) return;
  throw new Http2Error(http2Code.protocolError, 'a frame of the connection, on a stream');
}

/** @throws Http2Error */
function requireLength(payload: Buffer, bytes: number): void {
  if (payload.length === bytes) return;
  const words = `a frame of ${String(payload.length)} bytes where ${String(bytes)} belong`;
  throw new Http2Error(http2Code.frameSizeError, words);
}
