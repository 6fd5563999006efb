// Messages in the body of a gRPC call: a flag, four bytes of length, the message (gRPC over HTTP/2,
// "Length-Prefixed-Message").
import { status as grpcStatus } from '@grpc/grpc-js';
import { EtcdError } from '../etcd-error.ts';

const prefixBytes = 5;

/** Not compressed. */
export function messageFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/** Puts the messages of one stream together from the chunks in which they come. */
export class MessageReader {
  readonly #bytesMax: number;
  readonly #prefix = Buffer.alloc(prefixBytes);
  #prefixCount = 0;
  #message: Buffer | undefined;
  #messageCount = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Nothing of a message has come that is not whole. */
  get isBetween(): boolean {
    return this.#message === undefined && this.#prefixCount === 0;
  }

  /**
   * Delivers the messages that a chunk completes; each is a copy, since a chunk is part of what
   * its connection has read, which a value of a few bytes would keep. @throws EtcdError
   */
  read(chunk: Buffer, deliver: (message: Buffer) => void): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#message === undefined) {
        at += this.#readPrefix(chunk, at);
        if (this.#message === undefined) return;
      }
      const message: Buffer = this.#message;
      const count = Math.min(message.length - this.#messageCount, chunk.length - at);
      chunk.copy(message, this.#messageCount, at, at + count);
      at += count;
      this.#messageCount += count;
      if (this.#messageCount < message.length) return;
      this.#message = undefined;
      deliver(message);
    }
  }

  #readPrefix(chunk: Buffer, from: number): number {
    const count = Math.min(prefixBytes - this.#prefixCount, chunk.length - from);
    chunk.copy(this.#prefix, this.#prefixCount, from, from + count);
    this.#prefixCount += count;
    if (this.#prefixCount < prefixBytes) return count;
    this.#prefixCount = 0;
    if (this.#prefix[0] !== 0) {
      throw new EtcdError(grpcStatus.INTERNAL, 'the answer is compressed, which was not asked for');
    }
    const length = this.#prefix.readUInt32BE(1);
    if (length > this.#bytesMax) {
      const sizes = `${String(length)} vs. ${String(this.#bytesMax)}`;
      const words = `Received message larger than max (${sizes})`;
      throw new EtcdError(grpcStatus.RESOURCE_EXHAUSTED, words);
    }
    this.#message = Buffer.allocUnsafe(length);
    this.#messageCount = 0;
    return count;
  }
}
