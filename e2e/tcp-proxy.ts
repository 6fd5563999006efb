// A proxy that passes bytes between clients and a server, or several in turn, until the link is
// cut: then it drops every connection, and each new one, until the link is mended. A frozen link
// loses all bytes without a word.

import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class TcpProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  #isCut = false;
  #isFrozen = false;

  private constructor(url: string, server: Server, sockets: Set<Socket>) {
    this.url = url;
    this.#server = server;
    this.#sockets = sockets;
    server.on('connection', (socket) => {
      if (this.#isCut) socket.destroy();
      if (this.#isFrozen) this.#freezeAll();
    });
  }

  /**
   * Listens on a free port of 127.0.0.1; its URL has the scheme of the targets, of which each
   * connection gets the next one.
   */
  static async start(...targets: readonly [string, ...string[]]): Promise<TcpProxy> {
    const { protocol } = new URL(targets[0]);
    let connectionCount = 0;
    const sockets = new Set<Socket>();
    const keep = (socket: Socket): void => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    };
    const server = createServer((client) => {
      const target = targets[connectionCount++ % targets.length] ?? targets[0];
      const { hostname, port } = new URL(target);
      const upstream = connect(Number(port), hostname);
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        keep(socket);
        socket.on('close', () => other.destroy());
        socket.pipe(other);
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`;
    return new TcpProxy(url, server, sockets);
  }

  cut(): void {
    this.#isCut = true;
    this.#dropAll();
  }

  /** What was on its way is lost, too: connections from before do not come back. */
  freeze(): void {
    this.#isFrozen = true;
    this.#freezeAll();
  }

  mend(): void {
    if (this.#isFrozen) this.#dropAll();
    this.#isCut = false;
    this.#isFrozen = false;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#dropAll();
    await closed;
  }

  #freezeAll(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  #dropAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
