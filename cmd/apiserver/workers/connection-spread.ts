// The one listening port of all workers: each connection goes, before a byte of it is read, to the
// worker that has the fewest open, so that connections that live for days are spread evenly too.
// accepted → waiting for a worker (for another one, when it goes) → on its way, one by one → taken
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { limits } from '../../../lib/base/limits.ts';

/** A worker, as connections are given to it: it has the socket when the promise resolves. */
export type Taker = (socket: Socket) => Promise<unknown>;

interface Load {
  /** Given to it and not closed, waiting ones too. */
  openCount: number;
  /** Of equal ones the next is who was given one longest ago. */
  lastTurn: number;
  readonly waiting: Socket[];
  /** Resolves when nothing is on its way. */
  handing: Promise<void> | undefined;
}

export class ConnectionSpread {
  readonly #loads = new Map<Taker, Load>();
  /** Those that come while no worker takes any. */
  #unplaced: Socket[] = [];
  #server: Server | undefined;
  #port: Promise<number> | undefined;
  #turn = 0;

  /** Listens once, for all; resolves with the port. @throws Error of the system */
  listen(at: { readonly bindAddress: string; readonly port: number }): Promise<number> {
    this.#port ??= this.#listen(at);
    return this.#port;
  }

  /** From now on it is given connections. */
  add(taker: Taker): void {
    if (this.#loads.has(taker)) return;
    this.#loads.set(taker, { openCount: 0, lastTurn: 0, waiting: [], handing: undefined });
    for (const socket of this.#unplaced.splice(0)) this.#place(socket);
  }

  /** Resolves when none is on its way to it. */
  async remove(taker: Taker): Promise<void> {
    const load = this.#loads.get(taker);
    if (load === undefined) return;
    this.#loads.delete(taker);
    for (const socket of load.waiting.splice(0)) this.#place(socket);
    await load.handing;
  }

  /** So many of those that it was given have closed. */
  closed(taker: Taker, count: number): void {
    const load = this.#loads.get(taker);
    if (load !== undefined) load.openCount = Math.max(0, load.openCount - count);
  }

  /** Connections that it has and that wait for it. */
  openCount(taker: Taker): number {
    return this.#loads.get(taker)?.openCount ?? 0;
  }

  get hasTakers(): boolean {
    return this.#loads.size > 0;
  }

  /** Nobody is let in any more. */
  close(): void {
    this.#server?.close();
    for (const socket of this.#unplaced.splice(0)) socket.destroy();
  }

  #listen(at: { readonly bindAddress: string; readonly port: number }): Promise<number> {
    const server = createServer({
      pauseOnConnect: true, // nothing is read here
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: limits.tcpKeepAliveMs,
    });
    server.on('connection', (socket) => {
      socket.on('error', () => socket.destroy()); // the client left before a worker had it
      this.#place(socket);
    });
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(at.port, at.bindAddress, () => {
        server.off('error', reject);
        resolve((server.address() as AddressInfo).port);
      });
    });
  }

  #place(socket: Socket): void {
    let chosen: [Taker, Load] | undefined;
    for (const entry of this.#loads) {
      if (chosen === undefined || isBefore(entry[1], chosen[1])) chosen = entry;
    }
    if (chosen !== undefined) {
      const [taker, load] = chosen;
      load.openCount++;
      load.lastTurn = ++this.#turn;
      load.waiting.push(socket);
      load.handing ??= this.#hand(taker, load);
      return;
    }
    if (this.#unplaced.length < limits.unplacedConnectionsMax) this.#unplaced.push(socket);
    else socket.destroy();
  }

  async #hand(taker: Taker, load: Load): Promise<void> {
    for (let socket = load.waiting.shift(); socket !== undefined; socket = load.waiting.shift()) {
      try {
        await taker(socket);
      } catch {
        socket.destroy(); // the worker has ended, with this one perhaps in its hands
      }
    }
    load.handing = undefined;
  }
}

const isBefore = (one: Load, other: Load): boolean =>
  one.openCount < other.openCount ||
  (one.openCount === other.openCount && one.lastTurn < other.lastTurn);
