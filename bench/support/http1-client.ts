// A cheap HTTP/1.1 client for load: prebuilt request bytes, one request in flight a connection,
// answers only delimited.
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { token } from './server.ts';

/** Between head and body. */
export const headEnd = Buffer.from('\r\n\r\n');
/** In other places it is as good as never the end of what is read at once. */
const lastChunk = Buffer.from('\r\n0\r\n\r\n');
const connectTimeoutMs = 20_000;
const requestTimeoutMs = 60_000;

export interface Answer {
  readonly status: number;
  /** Head without the status line, as it came. */
  readonly head: string;
  readonly bodyBytes: number;
  /** Only where the connection was told to keep bodies. */
  readonly body: Buffer | undefined;
}

/**
 * Bytes of one request; `body` makes it JSON, unless a header says what it is.
 * @param bearer token; '': who asks is known by the connection, or is nobody
 */
export function requestBytes(
  method: string,
  path: string,
  body?: Uint8Array,
  headers: readonly string[] = [],
  bearer = token,
): Buffer {
  const isTyped = headers.some((header) => header.startsWith('content-type:'));
  const asks = headers.some((header) => header.startsWith('accept:'));
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    ...(bearer === '' ? [] : [`authorization: Bearer ${bearer}`]),
    ...(asks ? [] : ['accept: application/json']),
    ...(body === undefined
      ? []
      : [
          ...(isTyped ? [] : ['content-type: application/json']),
          `content-length: ${String(body.length)}`,
        ]),
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body ?? Buffer.alloc(0)]);
}

/** What a client shows of itself in the TLS handshake, in PEM; absent: nothing. */
export interface ClientIdentity {
  readonly key?: string;
  readonly cert?: string;
}

export function openSocket(port: number, identity: ClientIdentity = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    // The certificate is the run's own; checking it is not what is measured.
    const socket = connect({
      host: '127.0.0.1',
      port,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      ...identity,
    });
    socket.setTimeout(connectTimeoutMs, () => socket.destroy(new Error('no connection in time')));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      socket.off('error', reject);
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

interface ConnectionOptions extends ClientIdentity {
  readonly keepBodies?: boolean;
}

/** Sends one request after the other: on a connection, or each on a stream of its own. */
export interface Lane {
  /** `bytes`: as `requestBytes` makes them. */
  request(bytes: Buffer): Promise<Answer>;
}

/** One connection; answers need a content-length or chunks that end with the last-chunk marker. */
export class Connection implements Lane {
  readonly #socket: TLSSocket;
  readonly #keepsBodies: boolean;
  #settle: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  /** Without `length` the body comes in chunks. */
  #head: { status: number; text: string; bytes: number; length: number | undefined } | undefined;
  #lastBytes = Buffer.alloc(0);

  private constructor(socket: TLSSocket, keepsBodies: boolean) {
    this.#socket = socket;
    this.#keepsBodies = keepsBodies;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('close', () => this.#settle?.reject(new Error('the server closed the connection')));
    socket.on('timeout', () => socket.destroy());
    socket.setTimeout(requestTimeoutMs);
  }

  static async open(
    port: number,
    { keepBodies = false, ...identity }: ConnectionOptions = {},
  ): Promise<Connection> {
    return new Connection(await openSocket(port, identity), keepBodies);
  }

  request(bytes: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) throw new Error('the connection was closed');
      this.#settle = { resolve, reject };
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#gatheredBytes += chunk.length;
    if (this.#head === undefined || this.#keepsBodies) this.#gathered.push(chunk);
    if (this.#head === undefined && !this.#readHead()) return;
    const head = this.#head;
    if (head === undefined) return;
    if (head.length === undefined) {
      this.#lastBytes = Buffer.concat([this.#lastBytes, chunk.subarray(-lastChunk.length)]);
      this.#lastBytes = this.#lastBytes.subarray(-lastChunk.length);
      if (!this.#lastBytes.equals(lastChunk)) return;
    } else if (this.#gatheredBytes < head.bytes + head.length) return;
    const bodyBytes = head.length ?? this.#gatheredBytes - head.bytes;
    const all = this.#keepsBodies ? Buffer.concat(this.#gathered) : undefined;
    const settle = this.#settle;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#head = undefined;
    this.#settle = undefined;
    settle?.resolve({
      status: head.status,
      head: head.text,
      bodyBytes,
      body: all?.subarray(head.bytes),
    });
  }

  #readHead(): boolean {
    const all =
      this.#gathered.length === 1 ? (this.#gathered[0] ?? headEnd) : Buffer.concat(this.#gathered);
    const end = all.indexOf(headEnd);
    if (end < 0) return false;
    const text = all.toString('latin1', 0, end);
    const status = Number(text.slice(9, 12));
    const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
    if (length === undefined && !/\r\ntransfer-encoding: chunked/i.test(text))
      throw new Error(`an answer of unknown length: ${text}`);
    this.#head = {
      status,
      text: text.slice(text.indexOf('\r\n') + 2),
      bytes: end + 4,
      length: length === undefined ? undefined : Number(length),
    };
    return true;
  }
}

export interface LoadResult {
  readonly count: number;
  readonly seconds: number;
  readonly bodyBytes: number;
  readonly latenciesMs: readonly number[];
}

export interface LoadBounds {
  readonly durationMs: number;
  readonly countMax: number;
  /** The largest status that is no failure; default: 299. */
  readonly statusMax?: number;
}

/**
 * Closed loop on all lanes until `durationMs` is over or `countMax` requests are answered.
 * `slot`: which of the lanes.
 */
export async function closedLoop(
  lanes: readonly Lane[],
  next: (index: number, slot: number) => Buffer,
  bounds: LoadBounds,
  answered?: (answer: Answer, slot: number) => void,
): Promise<LoadResult> {
  const startedMs = performance.now();
  const endMs = startedMs + bounds.durationMs;
  let started = 0;
  let count = 0;
  let bodyBytes = 0;
  const latenciesMs: number[] = [];
  await Promise.all(
    lanes.map(async (lane, slot) => {
      while (started < bounds.countMax) {
        const sentMs = performance.now();
        if (sentMs > endMs) return;
        const answer = await lane.request(next(started++, slot));
        if (answer.status > (bounds.statusMax ?? 299))
          throw new Error(`status ${String(answer.status)}\n${answer.head}`);
        answered?.(answer, slot);
        count++;
        bodyBytes += answer.bodyBytes;
        latenciesMs.push(performance.now() - sentMs);
      }
    }),
  );
  return { count, seconds: (performance.now() - startedMs) / 1_000, bodyBytes, latenciesMs };
}

export const openConnections = (
  port: number,
  count: number,
  options: ConnectionOptions = {},
): Promise<Connection[]> =>
  Promise.all(Array.from({ length: count }, () => Connection.open(port, options)));
