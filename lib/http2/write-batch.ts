// Bytes that go out with one write to the socket: put one after the other into a slab that is used
// again once the socket has taken all of it.
import type { Socket } from 'node:net';
import { defaultFrameBytesMax, frameHeadBytes } from './frames.ts';

const wholeFrameBytes = frameHeadBytes + defaultFrameBytesMax;
/**
 * Four whole frames, and small ones beside them. More than a socket takes without `drain`: one
 * write is on its way at a time, since several are copied into one before they are encrypted.
 */
const slabBytes = 4 * wholeFrameBytes + 2 * 1024;

export class WriteBatch {
  readonly #socket: Socket;
  #slab = Buffer.allocUnsafeSlow(slabBytes);
  /** What is not yet handed over. */
  #from = 0;
  #to = 0;
  #full: Buffer[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /**
   * The slab, with room for `bytes` (at most two frames) from `at` on; they count once `advance`
   * says so.
   */
  room(bytes: number): Buffer {
    if (this.#isEmpty && this.#socket.writableLength === 0) {
      this.#from = 0;
      this.#to = 0;
    }
    if (this.#to + bytes > slabBytes) {
      if (this.#to > this.#from) this.#full.push(this.#slab.subarray(this.#from, this.#to));
      this.#slab = Buffer.allocUnsafeSlow(slabBytes);
      this.#from = 0;
      this.#to = 0;
    }
    return this.#slab;
  }

  get at(): number {
    return this.#to;
  }

  advance(to: number): void {
    this.#to = to;
  }

  /** There is so much that it is better handed over than added to. */
  get isLarge(): boolean {
    return this.#full.length > 0 || slabBytes - this.#to < wholeFrameBytes;
  }

  put(bytes: Uint8Array): void {
    const slab = this.room(bytes.length);
    slab.set(bytes, this.#to);
    this.#to += bytes.length;
  }

  get #isEmpty(): boolean {
    return this.#to === this.#from && this.#full.length === 0;
  }

  /** False: the socket takes no more until it says `drain`. */
  write(): boolean {
    if (this.#isEmpty) return true;
    const socket = this.#socket;
    const last = this.#slab.subarray(this.#from, this.#to);
    this.#from = this.#to;
    if (this.#full.length === 0) return socket.write(last);
    const full = this.#full;
    this.#full = [];
    socket.cork();
    for (const slab of full) socket.write(slab);
    const takesMore = socket.write(last);
    socket.uncork();
    return takesMore;
  }
}
