// Questions and answers between the parent and one worker, over the pipe that Node keeps between
// them. Who ends leaves no question open.
import type { Socket } from 'node:net';
import type { MaybePromise } from '../../../lib/base/maybe-promise.ts';
import { FlagError } from '../../../lib/config/flags.ts';
import type { Answering } from './messages.ts';

/** The pipe: a child process, or the process itself. */
export interface Pipe {
  send(message: object, socket: Socket | undefined): void;
  onMessage(receive: (message: unknown, socket: Socket | undefined) => void): void;
}

/** By name. */
type Answers<T> = { readonly [Name in keyof T]: Answering<never, unknown> };
type BodyOf<A> = A extends (body: infer Body, ...rest: never[]) => unknown ? Body : never;
type AnswerOf<A> = A extends (...of: never[]) => MaybePromise<infer Answer> ? Answer : never;

interface SentError {
  readonly message: string;
  readonly isForUser: boolean;
  readonly code?: string;
  readonly syscall?: string;
}
type Message =
  | { readonly kind: 'ask'; readonly number: number; readonly name: string; readonly body: unknown }
  | { readonly kind: 'answer'; readonly number: number; readonly answer: unknown }
  | { readonly kind: 'failure'; readonly number: number; readonly error: SentError };

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export class Channel<Theirs extends Answers<Theirs>, Own extends Answers<Own>> {
  readonly #pipe: Pipe;
  readonly #answers: Own;
  readonly #waiting = new Map<number, Waiting>();
  #lastNumber = 0;
  #ended: Error | undefined;

  constructor(pipe: Pipe, answers: Own) {
    this.#pipe = pipe;
    this.#answers = answers;
    pipe.onMessage((message, socket) => {
      if (isOurs(message)) this.#receive(message, socket);
    });
  }

  /**
   * @throws Error when the other side ends before it answers or takes longer than `timeoutMs`;
   * what the other side throws, a FlagError as such.
   */
  async ask<Name extends keyof Theirs & string>(
    name: Name,
    body: BodyOf<Theirs[Name]>,
    options: { readonly socket?: Socket; readonly timeoutMs?: number } = {},
  ): Promise<AnswerOf<Theirs[Name]>> {
    if (this.#ended !== undefined) throw this.#ended;
    const number = ++this.#lastNumber;
    const { socket, timeoutMs } = options;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
    });
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => this.#settle(number)?.reject(new Error('no answer in time')), timeoutMs);
    this.#pipe.send({ kind: 'ask', number, name, body } satisfies Message, socket);
    try {
      return (await answer) as AnswerOf<Theirs[Name]>; // whoever answers is of the same program
    } finally {
      clearTimeout(timer);
    }
  }

  /** Asks without waiting: a side that has ended needs to know nothing. */
  tell<Name extends keyof Theirs & string>(name: Name, body: BodyOf<Theirs[Name]>): void {
    this.ask(name, body).catch(() => undefined);
  }

  /** The other side is gone: nobody waits for it any more. */
  end(): void {
    this.#ended = new Error('the process at the other end has ended');
    for (const number of [...this.#waiting.keys()]) this.#settle(number)?.reject(this.#ended);
  }

  #receive(message: Message, socket: Socket | undefined): void {
    if (message.kind === 'answer') this.#settle(message.number)?.resolve(message.answer);
    else if (message.kind === 'failure') {
      this.#settle(message.number)?.reject(receivedError(message.error));
    } else void this.#answer(message, socket);
  }

  async #answer(
    { number, name, body }: Extract<Message, { kind: 'ask' }>,
    socket: Socket | undefined,
  ): Promise<void> {
    const send = (message: Message): void => {
      if (this.#ended === undefined) this.#pipe.send(message, undefined);
    };
    try {
      const answering = this.#answers[name as keyof Own];
      const answer = await answering(body as never, socket);
      send({ kind: 'answer', number, answer });
    } catch (error) {
      send({ kind: 'failure', number, error: sentError(error) });
    }
  }

  #settle(number: number): Waiting | undefined {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    return waiting;
  }
}

/** Others may use the pipe, too: whoever measures the process. */
const isOurs = (message: unknown): message is Message =>
  typeof message === 'object' && message !== null && 'kind' in message;

function sentError(error: unknown): SentError {
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  return {
    message,
    isForUser: error instanceof FlagError,
    ...(code === undefined ? {} : { code }),
    ...(syscall === undefined ? {} : { syscall }),
  };
}

function receivedError({ message, isForUser, code, syscall }: SentError): Error {
  if (isForUser) return new FlagError(message);
  return Object.assign(new Error(message), { code, syscall });
}
