// One side of an HTTP/2 connection that a test plays frame by frame: what it says goes out as it
// is, what it is told can be read one frame after the other.
import type { Socket } from 'node:net';
import { defaultFrameBytesMax, frameFlag, frameHeadBytes, frameType } from '../frames.ts';
import { newFrame, preface, settingsFrame } from '../frames.ts';

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

const empty = Buffer.alloc(0);

export class RawConnection {
  readonly socket: Socket;
  #bytes: Buffer = empty;
  #hasPreface: boolean;
  #wake: (() => void) | undefined;

  /** `ofClient`: what it is told begins with the preface of a client. */
  constructor(socket: Socket, { ofClient }: { readonly ofClient: boolean }) {
    this.socket = socket;
    this.#hasPreface = !ofClient;
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#wake?.());
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#wake?.();
    });
  }

  write(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** Takes its settings as they are, and lets the other side go on. */
  greet(settings: readonly (readonly [id: number, value: number])[] = []): void {
    this.write(settingsFrame(settings));
  }

  /** The next frame that was sent; undefined: the connection is closed. */
  async frame(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.#shift();
      if (frame !== undefined) return frame;
      if (this.socket.destroyed) return undefined;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The next frame of a type; others before it are passed over. */
  async next(type: number): Promise<Frame> {
    for (;;) {
      const frame = await this.frame();
      if (frame === undefined) throw new Error(`closed before a frame of type ${String(type)}`);
      if (frame.type === type) return frame;
    }
  }

  /** Everything that was sent until now, and in answer to what was said until now. */
  async untilPong(): Promise<Frame[]> {
    const frames: Frame[] = [];
    // An answer to a ping may stand before what goes out with the same write.
    for (let count = 0; count < 2; count++) {
      this.write(newFrame({ type: frameType.ping }, Buffer.from('untilnow')));
      for (;;) {
        const frame = await this.frame();
        if (frame === undefined) throw new Error('closed before the answer to a ping');
        if (frame.type === frameType.ping && frame.payload.toString() === 'untilnow') break;
        frames.push(frame);
      }
    }
    return frames;
  }

  #shift(): Frame | undefined {
    if (!this.#hasPreface) {
      if (this.#bytes.length < preface.length) return undefined;
      this.#bytes = this.#bytes.subarray(preface.length);
      this.#hasPreface = true;
    }
    const bytes = this.#bytes;
    if (bytes.length < frameHeadBytes) return undefined;
    const length = bytes.readUIntBE(0, 3);
    if (length > defaultFrameBytesMax) throw new Error(`a frame of ${String(length)} bytes`);
    const end = frameHeadBytes + length;
    if (bytes.length < end) return undefined;
    this.#bytes = bytes.subarray(end);
    return {
      type: bytes.readUInt8(3),
      flags: bytes.readUInt8(4),
      streamId: bytes.readUInt32BE(5),
      payload: bytes.subarray(frameHeadBytes, end),
    };
  }
}

export function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value, 4 * index));
  return bytes;
}

const { endHeaders } = frameFlag;

export const headersFrame = (streamId: number, block: Buffer, flags = 0): Buffer =>
  newFrame({ type: frameType.headers, flags: flags | endHeaders, streamId }, block);

export const dataFrame = (streamId: number, payload: Buffer, flags = 0): Buffer =>
  newFrame({ type: frameType.data, flags, streamId }, payload);

/** Of any type, with whatever it may not have. */
export const anyFrame = (type: number, streamId: number, payload: Buffer, flags = 0): Buffer =>
  newFrame({ type, flags, streamId }, payload);
