// What a connection keeps of one of its streams: what is still to be sent of it, and its windows.
import type { Linked } from '../../base/linked-list.ts';
import type { EtcdError } from '../etcd-error.ts';
import type { Head } from './answer-head.ts';

/** Who made the stream. */
export interface StreamEvents {
  head(fields: Head): void;
  /** Bytes from `from` to before `to`, which are the reader's once it has returned. */
  data(bytes: Buffer, from: number, to: number): void;
  trailers(fields: Head): void;
  /**
   * Once, and never after the stream was dropped. undefined: the member has ended it, whether or
   * not with a status.
   */
  ended(error: EtcdError | undefined): void;
}

export interface StreamTerms {
  /** The block of its header fields, without the time that it has. */
  readonly head: Buffer;
  /** More of them. */
  readonly ownHead: Buffer | undefined;
  /** By the monotonic clock; Infinity: none. */
  readonly deadlineMs: number;
  /** What is sent at once; undefined: messages follow, until the stream is dropped. */
  readonly only: Uint8Array | undefined;
}

/** Its fields are the connection's. */
export class Http2Stream implements Linked<Http2Stream> {
  readonly events: StreamEvents;
  readonly head: Buffer;
  readonly ownHead: Buffer | undefined;
  readonly deadlineMs: number;
  /** Its side ends with the message. */
  readonly hasOnlyOne: boolean;
  /** 0: not begun, no byte of it was sent. */
  id = 0;
  isOpen = true;
  hasHead = false;
  isPaused = false;
  /** The message that is being sent, without its prefix, and what follows it. */
  message: Uint8Array | undefined;
  later: Uint8Array[] | undefined;
  /** Bytes of the message that were sent, its prefix counted. */
  sentBytes = 0;
  /** Of those that wait to begin. */
  before: Http2Stream | undefined;
  after: Http2Stream | undefined;
  sendWindow = 0;
  receiveWindow: number;

  constructor(events: StreamEvents, terms: StreamTerms, windowBytes: number) {
    this.events = events;
    this.head = terms.head;
    this.ownHead = terms.ownHead;
    this.deadlineMs = terms.deadlineMs;
    this.hasOnlyOne = terms.only !== undefined;
    this.message = terms.only;
    this.receiveWindow = windowBytes;
  }
}
