// The sending side of an HTTP/2 connection, whichever end it is: windows, the other side's
// settings, and one write to the socket for all that a turn of the event loop has brought. What is
// not handed to the socket waits where it came from.
import type { Socket } from 'node:net';
import { defaultFrameBytesMax, defaultWindowBytes, http2Code, Http2Error } from './frames.ts';
import { settingId, uint31Max } from './frames.ts';
import type { StreamTable } from './stream-table.ts';
import { WriteBatch } from './write-batch.ts';

/** Answers to frames of the other side that it does not read. */
const repliesMax = 1_000;
const windowTooLarge = 'a window above its limit';

export interface SendingStream {
  /** What the other side takes of its contents; the sender's. */
  sendWindow: number;
}

export abstract class Sender<Stream extends SendingStream> {
  protected readonly batch: WriteBatch;
  /** Those that have begun, by id; shared with the connection, which takes them out. */
  protected readonly streams: StreamTable<Stream>;
  /** Of the connection. */
  protected window = defaultWindowBytes;
  /** Of a stream that begins. */
  protected streamWindow = defaultWindowBytes;
  #isScheduled = false;
  #isBlocked = false;
  #isEnded = false;
  #replyCount = 0;

  readonly #enablePushMax: number;

  /** `enablePushMax`: the other side, a client, may take pushes (1), or, a server, may not (0). */
  protected constructor(socket: Socket, streams: StreamTable<Stream>, enablePushMax: 0 | 1) {
    this.batch = new WriteBatch(socket);
    this.streams = streams;
    this.#enablePushMax = enablePushMax;
    socket.on('drain', () => {
      this.#isBlocked = false;
      this.flush();
    });
  }

  /** Puts what streams have to send into the batch, until it is full (`isFull`). */
  protected abstract putStreams(): void;
  /** Whether any stream waits for a window. */
  protected abstract get hasUnsent(): boolean;
  /** How many streams the other side takes at once. */
  protected abstract setStreamsMax(count: number): void;

  control(frame: Buffer): void {
    this.batch.put(frame);
    this.schedule();
  }

  /** @throws Http2Error: the other side asks without reading the answers. */
  reply(frame: Buffer): void {
    if (this.#replyCount >= repliesMax) this.flush();
    if (++this.#replyCount > repliesMax) {
      throw new Http2Error(http2Code.enhanceYourCalm, 'more questions than answers are read');
    }
    this.control(frame);
  }

  /** @throws Http2Error */
  growWindow(bytes: number): void {
    if (bytes === 0) throw new Http2Error(http2Code.protocolError, 'a WINDOW_UPDATE of 0');
    this.window += bytes;
    if (this.window > uint31Max) throw new Http2Error(http2Code.flowControlError, windowTooLarge);
    if (this.hasUnsent) this.schedule();
  }

  /** False: no window may be so large. */
  growStreamWindow(stream: Stream, bytes: number): boolean {
    stream.sendWindow += bytes;
    if (this.hasUnsent) this.schedule();
    return stream.sendWindow <= uint31Max;
  }

  /** All of the other side's settings of one frame. @throws Http2Error */
  apply(settings: Buffer): void {
    for (let at = 0; at < settings.length; at += 6) {
      this.#apply(settings.readUInt16BE(at), settings.readUInt32BE(at + 2));
    }
  }

  #apply(id: number, value: number): void {
    switch (id) {
      case settingId.concurrentStreamsMax:
        this.setStreamsMax(value);
        return;
      case settingId.initialWindowSize:
        this.#resizeWindows(value);
        return;
      case settingId.frameSizeMax:
        if (value < defaultFrameBytesMax || value >= 2 ** 24) {
          throw new Http2Error(http2Code.protocolError, `frames of up to ${String(value)} bytes`);
        }
        return; // Frames of the least size that it may state are as good.
      case settingId.enablePush:
        if (value > this.#enablePushMax) {
          throw new Http2Error(http2Code.protocolError, 'pushes that may not be');
        }
        return;
      default: // Nothing that is sent depends on it: blocks use no dynamic table.
    }
  }

  /** Also of the streams that are open: their windows may become negative. */
  #resizeWindows(bytes: number): void {
    if (bytes > uint31Max) throw new Http2Error(http2Code.flowControlError, windowTooLarge);
    const change = bytes - this.streamWindow;
    this.streamWindow = bytes;
    for (const stream of this.streams.all()) {
      if (!this.growStreamWindow(stream, change)) {
        throw new Http2Error(http2Code.flowControlError, windowTooLarge);
      }
    }
  }

  /** Sends nothing more. */
  end(): void {
    this.#isEnded = true;
  }

  /** The same once all that was said has been handed over, whether or not the socket is slow. */
  finish(): void {
    if (!this.#isEnded) this.batch.write();
    this.#isEnded = true;
  }

  protected schedule(): void {
    if (this.#isScheduled || this.#isBlocked || this.#isEnded) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.flush();
  };

  flush(): void {
    if (this.#isBlocked || this.#isEnded) return;
    this.putStreams();
    this.#write();
    this.#replyCount = 0;
  }

  #write(): void {
    if (!this.#isBlocked) this.#isBlocked = !this.batch.write();
  }

  /** The socket takes no more: what it has is enough to wait for. */
  protected isFull(): boolean {
    if (this.batch.isLarge) this.#write();
    return this.#isBlocked;
  }
}
