// Messages in the body of a gRPC call: a flag, four bytes of length, the message (gRPC over HTTP/2,
// "Length-Prefixed-Message").
import { grpcStatus } from '../grpc-status.ts';
import { EtcdError } from '../etcd-error.ts';

export const messagePrefixBytes = 5;

export interface MessageSink {
  message(message: Buffer): void;
}

/** Puts the messages of one stream together from the pieces in which they come. */
export class MessageReader {
  readonly #bytesMax: number;
  #prefixCount = 0;
  /** Of the message whose prefix has come, or is coming. */
  #length = 0;
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
   * Delivers the messages that the bytes from `from` to before `to` complete; each is a copy, since
   * what the connection reads into is used again. @throws EtcdError, and what the sink throws
   */
  read(bytes: Buffer, from: number, to: number, sink: MessageSink): void {
    let at = from;
    for (;;) {
      if (this.#message === undefined) {
        at = this.#readPrefix(bytes, at, to);
        if (this.#prefixCount < messagePrefixBytes) return;
        this.#prefixCount = 0;
        this.#message = Buffer.allocUnsafe(this.#length);
        this.#messageCount = 0;
      }
      const message = this.#message;
      const count = Math.min(message.length - this.#messageCount, to - at);
      bytes.copy(message, this.#messageCount, at, at + count);
      at += count;
      this.#messageCount += count;
      if (this.#messageCount < message.length) return;
      this.#message = undefined;
      sink.message(message);
    }
  }

  #readPrefix(bytes: Buffer, from: number, to: number): number {
    let at = from;
    while (at < to && this.#prefixCount < messagePrefixBytes) {
      const byte = bytes[at++] ?? 0;
      if (this.#prefixCount++ === 0) {
        if (byte !== 0) throw new EtcdError(grpcStatus.INTERNAL, compressed);
        this.#length = 0;
      } else {
        this.#length = this.#length * 256 + byte;
      }
    }
    if (this.#prefixCount === messagePrefixBytes && this.#length > this.#bytesMax) {
      const sizes = `${String(this.#length)} vs. ${String(this.#bytesMax)}`;
      const words = `Received message larger than max (${sizes})`;
      throw new EtcdError(grpcStatus.RESOURCE_EXHAUSTED, words);
    }
    return at;
  }
}

const compressed = 'the answer is compressed, which was not asked for';
