// One kept TLS connection, and one HTTP/1.1 exchange over it at a time. undici writes the request
// and parses the answer; it never connects: its connector hands out this socket, once.
import { createRequire } from 'node:module';
import type { TLSSocket } from 'node:tls';
import type { Client } from 'undici';
import { limits } from '../base/limits.ts';
import type { Address } from './addresses.ts';
import type { CallProgress } from './call-progress.ts';
import type { Dialed } from './dial.ts';
import { Exchange, Unconnected } from './exchange.ts';
import type { Incoming, Outgoing } from './exchange.ts';
import { closed, exchangeFailure } from './socket-failure.ts';
import type { TargetSettings } from './target-settings.ts';

// The package as a whole brings fetch, caches and mocks: 13 MB more. Whoever makes no calls pays
// for none of it.
let loaded: typeof Client | undefined;
const load = createRequire(import.meta.url);
const clientClass = (): typeof Client =>
  (loaded ??= load('undici/lib/dispatcher/client.js') as typeof Client);

export class Connection {
  readonly address: Address;
  /** That it was made with. */
  readonly settings: TargetSettings;
  readonly #client: Client;
  readonly #socket: TLSSocket;
  readonly #idleMs: number;
  #isFresh = true;
  /** Whether undici has the socket, and closes it when it is idle. */
  #isTaken = false;
  /** What it broke with: a server that refuses the client's certificate says so, then closes. */
  #firstError: Error | undefined;

  /** @param idleMs how long it may be idle */
  constructor({ socket, address }: Dialed, settings: TargetSettings, idleMs: number) {
    this.address = address;
    this.#idleMs = idleMs;
    this.settings = settings;
    this.#socket = socket;
    socket.on('error', (error) => {
      this.#firstError ??= error;
    });
    const ClientClass = clientClass();
    this.#client = new ClientClass(`https://${settings.authority}`, {
      connect: (_options, done) => {
        const isGone = this.#isTaken;
        this.#isTaken = true;
        // Later, as a real connection would come: the client is in the middle of a step.
        queueMicrotask(() => {
          socket.setTimeout(0);
          if (isGone || socket.destroyed) done(new Unconnected(), null);
          else done(null, socket);
        });
      },
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: limits.clientAnswerHeaderBytesMax,
      // The server's hint may shorten this, never lengthen it.
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      // Deadlines are those of CallProgress.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Whether it carries its first call, or has carried none. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  get isUsable(): boolean {
    return !this.#socket.destroyed;
  }

  /** From now on it is one that the other side may close at any time. */
  keep(): void {
    this.#isFresh = false;
    if (!this.#isTaken) this.#socket.setTimeout(this.#idleMs, () => this.close());
  }

  /** Calls `run` once when the connection is gone, at once when it is. */
  onceClosed(run: () => void): void {
    if (this.#socket.closed) run();
    else this.#socket.once('close', run);
  }

  close(): void {
    this.#socket.destroy();
    this.#client.destroy().catch(ignore);
  }

  /**
   * @returns `stale` when the kept connection had been closed by the other side before anything was
   * sent: another one serves
   * @throws CallError, or what ended the call
   */
  exchange(outgoing: Outgoing, progress: CallProgress): Promise<Incoming | 'stale'> {
    return new Promise((resolve, reject) => {
      if (progress.endedWith !== undefined) {
        reject(progress.endedWith);
        return;
      }
      const exchange = new Exchange({
        answerBytesMax: outgoing.answerBytesMax,
        socket: this.#socket,
        progress,
        resolve,
        reject,
        causeOf: (error) => this.#firstError ?? error,
        notSent: () => {
          if (this.#isFresh) reject(this.#closedEarly(progress));
          else resolve('stale');
        },
        close: () => this.close(),
      });
      progress.onEnd = exchange.break;
      const { method, path, headers, body = null } = outgoing;
      this.#client.dispatch({ method, path, headers, body }, exchange);
    });
  }

  #closedEarly(progress: CallProgress): Error {
    const failure = exchangeFailure(this.#firstError, false) ?? closed(false);
    return progress.failed(failure, this.#firstError);
  }
}

const ignore = (): void => undefined;
