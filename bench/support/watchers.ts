// Many watch clients that only count what they get: HTTP/1.1 connections, or streams of HTTP/2
// connections.
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { openSocket, requestBytes } from './http1-client.ts';
import { token } from './server.ts';

const closeBrace = 0x7d;
const newline = 0x0a;
/** The end of one event: inside of JSON a newline is always escaped. */
const eventEnd = Buffer.from('}\n');
const openConcurrency = 50;

/** Counts the events of all watchers, and knows when the last watcher had the n-th. */
export class Deliveries {
  readonly watcherCount: number;
  count = 0;
  readonly #seenBy: number[] = [];
  readonly #waiting = new Map<number, (atMs: number) => void>();

  constructor(watcherCount: number) {
    this.watcherCount = watcherCount;
  }

  /** A counter for the bytes of one watcher. */
  counter(): (chunk: Buffer) => void {
    let number = 0;
    let endedInBrace = false;
    return (chunk) => {
      if (endedInBrace && chunk[0] === newline) this.#saw(number++);
      for (let at = chunk.indexOf(eventEnd); at >= 0; at = chunk.indexOf(eventEnd, at + 2))
        this.#saw(number++);
      endedInBrace = chunk[chunk.length - 1] === closeBrace;
    };
  }

  /** Resolves with the time when every watcher has its `number`-th event. */
  complete(number: number): Promise<number> {
    if (this.#seenBy[number] === this.watcherCount) return Promise.resolve(performance.now());
    return new Promise((resolve) => this.#waiting.set(number, resolve));
  }

  #saw(number: number): void {
    this.count++;
    const seen = (this.#seenBy[number] ?? 0) + 1;
    this.#seenBy[number] = seen;
    if (seen < this.watcherCount) return;
    this.#waiting.get(number)?.(performance.now());
    this.#waiting.delete(number);
  }
}

/** Opens one watch a connection; resolves when every one has its response's head. */
export async function watchHttp1(
  port: number,
  path: (index: number) => string,
  deliveries: Deliveries,
): Promise<() => void> {
  const sockets: TLSSocket[] = [];
  for (let first = 0; first < deliveries.watcherCount; first += openConcurrency) {
    const count = Math.min(openConcurrency, deliveries.watcherCount - first);
    const opened = Array.from({ length: count }, async (_, offset) => {
      const socket = await openSocket(port);
      sockets.push(socket);
      const counter = deliveries.counter();
      await new Promise<void>((resolve, reject) => {
        socket.once('data', (head: Buffer) => {
          if (!head.toString('latin1', 0, 15).includes(' 200')) reject(new Error(head.toString()));
          socket.on('data', counter);
          resolve();
        });
        socket.write(requestBytes('GET', path(first + offset)));
      });
    });
    await Promise.all(opened);
  }
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

/** The same over `connectionCount` HTTP/2 connections in turns, streams spread evenly. */
export async function watchHttp2(
  ports: readonly number[],
  path: (index: number) => string,
  deliveries: Deliveries,
  connectionCount: number,
): Promise<() => void> {
  const sessions: ClientHttp2Session[] = [];
  const perConnection = Math.ceil(deliveries.watcherCount / connectionCount);
  for (let first = 0; first < deliveries.watcherCount; first += perConnection) {
    const port = String(ports[sessions.length % ports.length]);
    const session = connectHttp2(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false,
      settings: { initialWindowSize: 1024 * 1024 },
    });
    session.on('error', () => undefined);
    sessions.push(session);
    const count = Math.min(perConnection, deliveries.watcherCount - first);
    await Promise.all(
      Array.from({ length: count }, (_, offset) =>
        openStream(session, path(first + offset), deliveries),
      ),
    );
    session.setLocalWindowSize(16 * 1024 * 1024);
  }
  return () => {
    for (const session of sessions) session.destroy();
  };
}

function openStream(
  session: ClientHttp2Session,
  path: string,
  deliveries: Deliveries,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, authorization: `Bearer ${token}` });
    stream.on('error', reject);
    stream.on('data', deliveries.counter());
    stream.once('response', (headers) => {
      if (headers[':status'] === 200) resolve();
      else reject(new Error(`status ${String(headers[':status'])}`));
    });
  });
}
