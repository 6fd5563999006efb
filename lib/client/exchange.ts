// One request and its answer over one connection, as undici tells it: what counts as an answer, and
// how much of it is read. Whatever else comes breaks the exchange, and with it the connection.
import type { TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { limits } from '../base/limits.ts';
import type { AnswerSlots } from './answer-slots.ts';
import type { CallFailure } from './call-error.ts';
import type { CallProgress } from './call-progress.ts';
import type { SentHeaders } from './impersonation.ts';
import { closed, exchangeFailure } from './socket-failure.ts';

export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: SentHeaders;
  readonly body: Uint8Array | undefined;
  readonly answerBytesMax: number;
  readonly repeatsOnNew: boolean;
  readonly slots: AnswerSlots | undefined;
}

export interface Incoming {
  /** 200 to 299. */
  readonly status: number;
  readonly body: Uint8Array;
}

/** Told to a request that finds its connection closed and would need another. */
export class Unconnected extends Error {}

/** How the reading of an answer is held up. */
interface Reading {
  pause(): void;
  resume(): void;
}

export interface ExchangeEnds {
  readonly resolve: (incoming: Incoming) => void;
  readonly reject: (error: Error) => void;
  /** What an error of the exchange goes back to. */
  readonly causeOf: (error: Error) => Error;
  /** The connection turned out to be closed before the request was written. */
  readonly notSent: () => void;
  /** The connection is of no use any more. */
  readonly close: () => void;
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #ends: ExchangeEnds;
  readonly #progress: CallProgress;
  readonly #socket: TLSSocket;
  readonly #chunks: Buffer[] = [];
  readonly #slots: AnswerSlots | undefined;
  #giveSlot: (() => void) | undefined;
  #bytesMax: number;
  #byteCount = 0;
  #status = 0;
  #interimCount = 0;
  #isStarted = false;
  #hasBegun = false;
  #isOver = false;

  constructor(
    options: ExchangeEnds & {
      readonly answerBytesMax: number;
      readonly slots: AnswerSlots | undefined;
      readonly socket: TLSSocket;
      readonly progress: CallProgress;
    },
  ) {
    this.#ends = options;
    this.#slots = options.slots;
    this.#bytesMax = options.answerBytesMax;
    this.#socket = options.socket;
    this.#progress = options.progress;
  }

  onRequestStart(): void {
    this.#isStarted = true;
    this.#progress.enter('send');
  }

  /** The request is handed over; what one buffer of the socket holds counts as sent. */
  onRequestSent(): void {
    if (!this.#socket.writableNeedDrain) this.#progress.enter('header');
    else this.#socket.once('drain', this.#onDrain);
  }

  onResponseStarted(): void {
    this.#hasBegun = true;
  }

  onResponseStart(
    _controller: unknown,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (this.#isOver) return;
    const { 'content-encoding': encoding = 'identity', 'content-length': length = 0 } = headers;
    if (status < 200) this.#noteInterim();
    else if (status >= 300 && status < 400) this.#breakWith({ kind: 'redirect', status });
    else if (encoding !== 'identity') this.#breakWith(bad('the answer is compressed, unasked'));
    else {
      this.#status = status;
      this.#progress.enter('body');
      if (!this.#isSuccess) this.#bytesMax = limits.clientExcerptBytesMax;
      else if (Number(length) > this.#bytesMax) this.#breakWith(tooLarge(this.#bytesMax));
    }
  }

  onResponseData(controller: Reading, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#byteCount += chunk.length;
    this.#chunks.push(chunk);
    if (this.#byteCount <= this.#bytesMax) {
      if (this.#slots?.isLarge(this.#byteCount) === true) this.#takeSlot(this.#slots, controller);
      return;
    }
    this.#breakWith(this.#isSuccess ? tooLarge(this.#bytesMax) : this.#statusFailure());
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#end();
    if (this.#isSuccess) {
      this.#ends.resolve({ status: this.#status, body: this.#takeBody() });
    } else {
      this.#ends.reject(this.#progress.failed(this.#statusFailure()));
    }
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#isOver) return;
    if (error instanceof Unconnected && !this.#isStarted) {
      this.#isOver = true;
      this.#ends.notSent();
      this.#ends.close();
      return;
    }
    const cause = this.#ends.causeOf(error);
    const failure =
      cause instanceof Unconnected
        ? closed(this.#hasBegun)
        : exchangeFailure(cause, this.#hasBegun);
    this.break(failure === undefined ? cause : this.#progress.failed(failure, cause));
  }

  /** Ends it before the answer is complete. */
  readonly break = (error: Error): void => {
    if (this.#isOver) return;
    this.#end();
    this.#chunks.length = 0;
    this.#ends.reject(error);
    this.#ends.close();
  };

  #end(): void {
    this.#isOver = true;
    this.#giveSlot?.();
  }

  /** Takes what was read: it is not held any longer. */
  #takeBody(): Buffer {
    return Buffer.concat(this.#chunks.splice(0));
  }

  /** Reads on when it has one. */
  #takeSlot(slots: AnswerSlots, controller: Reading): void {
    if (this.#giveSlot !== undefined) return;
    let isPaused = false;
    let hasSlot = false;
    this.#giveSlot = slots.take(() => {
      hasSlot = true;
      // Later: undici reads one answer at a time, and the one that gave the slot is being read.
      if (isPaused) queueMicrotask(() => controller.resume());
    });
    if (hasSlot) return;
    isPaused = true;
    controller.pause();
  }

  readonly #onDrain = (): void => {
    if (!this.#isOver && this.#progress.step === 'send') this.#progress.enter('header');
  };

  get #isSuccess(): boolean {
    return this.#status < 300;
  }

  #noteInterim(): void {
    if (++this.#interimCount <= limits.clientInterimAnswersMax) return;
    this.#breakWith(bad('too many answers of status 1xx'));
  }

  #statusFailure(): CallFailure {
    const excerpt = excerptOf(this.#takeBody());
    return { kind: 'status', status: this.#status, excerpt };
  }

  #breakWith(failure: CallFailure): void {
    this.break(this.#progress.failed(failure));
  }
}

const bad = (reason: string): CallFailure => ({ kind: 'badAnswer', reason, excerpt: '' });
const tooLarge = (bytesMax: number): CallFailure => ({ kind: 'tooLarge', part: 'body', bytesMax });

/** The beginning of a body as one line of text. */
export const excerptOf = (body: Uint8Array): string =>
  Buffer.from(body.subarray(0, limits.clientExcerptBytesMax))
    .toString('utf8')
    .replaceAll(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ');
