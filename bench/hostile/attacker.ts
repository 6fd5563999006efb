// What the attacks share: requests of any shape over one pool of connections, bare TLS and TCP
// connections, bounded loops. Answers are read and dropped: a server that cuts off an attacker is
// in the right.
import { Agent, request as httpsRequest } from 'node:https';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session, SecureClientSessionOptions } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';

/** Whom the attacks meet. */
export interface Victim {
  readonly port: number;
  /** Of somebody who may do everything: what is refused early costs the server little. */
  readonly token: string;
  /** What it serves, as `/api/v1/pods`. */
  readonly collections: readonly string[];
}

export interface Attack {
  readonly name: string;
  /** A fixed number of requests; `round` makes texts that earlier rounds did not send. */
  run(attacker: Attacker, round: number): Promise<void>;
}

export interface HostileRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array | string;
}

const concurrency = 16;
/** No answer within this time: the connection is given up. */
const patienceMs = 10_000;

/** One attack's connections; `leave` drops those that are still open. */
export class Attacker {
  readonly victim: Victim;
  /** Answers of `send` by status; 0: none came. */
  readonly answers = new Map<number, number>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  readonly #open = new Set<Socket | ClientHttp2Session>();

  constructor(victim: Victim) {
    this.victim = victim;
  }

  /** Resolves once the answer has been read, or will not come. */
  async send(request: HostileRequest): Promise<void> {
    const status = await this.#statusOf(request);
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
  }

  /** A TLS connection that speaks by hand; undefined: the server did not take it. */
  tls(protocol: 'http/1.1' | 'h2' = 'http/1.1'): Promise<TLSSocket | undefined> {
    const { port } = this.victim;
    const socket = connectTls({
      host: '127.0.0.1',
      port,
      rejectUnauthorized: false,
      ALPNProtocols: [protocol],
    });
    return this.#opened(socket, 'secureConnect');
  }

  tcp(): Promise<Socket | undefined> {
    return this.#opened(connectTcp(this.victim.port, '127.0.0.1'), 'connect');
  }

  /** An HTTP/2 connection whose peer has told its settings. */
  http2(options: SecureClientSessionOptions = {}): Promise<ClientHttp2Session | undefined> {
    const url = `https://127.0.0.1:${String(this.victim.port)}`;
    const session = connectHttp2(url, { rejectUnauthorized: false, ...options });
    return this.#opened(session, 'remoteSettings');
  }

  /** Head of an HTTP/1.1 request by hand. */
  head(line: string, headers: readonly string[] = []): string {
    const usual = ['Host: a', `Authorization: Bearer ${this.victim.token}`];
    return `${[`${line} HTTP/1.1`, ...usual, ...headers].join('\r\n')}\r\n\r\n`;
  }

  leave(): void {
    this.#agent.destroy();
    for (const one of this.#open) one.destroy();
  }

  #statusOf({ method = 'GET', path, headers, body }: HostileRequest): Promise<number> {
    return new Promise((resolve) => {
      const { port, token } = this.victim;
      const outgoing = httpsRequest({
        host: '127.0.0.1',
        port,
        path,
        method,
        agent: this.#agent,
        rejectUnauthorized: false,
        timeout: patienceMs,
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
      let status = 0;
      outgoing.on('response', (answer) => {
        status = answer.statusCode ?? 0;
        answer.resume();
      });
      outgoing.on('timeout', () => outgoing.destroy());
      outgoing.on('error', () => undefined);
      outgoing.on('close', () => resolve(status));
      outgoing.end(body);
    });
  }

  #opened<T extends Socket | ClientHttp2Session>(one: T, event: string): Promise<T | undefined> {
    this.#open.add(one);
    return new Promise((resolve) => {
      one.on('error', () => undefined);
      one.once('close', () => {
        this.#open.delete(one);
        resolve(undefined);
      });
      one.once(event, () => resolve(one));
    });
  }
}

/** Runs `run` for 0 … count - 1, a few at a time. */
export async function repeat(
  count: number,
  run: (index: number) => Promise<unknown>,
  atOnce: number = concurrency,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when the server has closed the connection, or after `ms`. */
export function closed(socket: Socket | undefined, ms = patienceMs): Promise<void> {
  if (socket === undefined || socket.destroyed) return Promise.resolve();
  socket.resume();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Text of a length that no other round or request sends. */
export const textOf = (length: number, ...marks: readonly (number | string)[]): string =>
  `${marks.join('-')}-`.padEnd(length, 'x').slice(0, Math.max(length, 1));
