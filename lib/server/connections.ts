// The open connections of one listener: what drain needs to know, and how connections are told to go.
import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { constants } from 'node:http2';

/** Largest stream id: a GOAWAY with it announces the end without refusing streams that are on their way. */
const anyStream = 2 ** 31 - 1;

export class Connections {
  readonly #sockets = new Map<Socket, { openRequests: number }>();
  readonly #sessions = new Set<Http2Session>();
  #isDraining = false;

  get isDraining(): boolean {
    return this.#isDraining;
  }

  addSocket(socket: Socket): void {
    this.#sockets.set(socket, { openRequests: 0 });
    socket.once('close', () => this.#sockets.delete(socket));
  }

  addSession(session: Http2Session): void {
    this.#sessions.add(session);
    session.once('close', () => this.#sessions.delete(session));
    if (this.#isDraining) announceEnd(session);
  }

  /** Counts a request on its HTTP/1.1 connection; returns what to call at its end. */
  openRequest(socket: Socket): () => void {
    const entry = this.#sockets.get(socket);
    if (entry === undefined) return () => undefined;
    entry.openRequests++;
    return () => {
      entry.openRequests--;
    };
  }

  /** From now on answers close their connections, and HTTP/2 peers are told to open new streams elsewhere. */
  beginDrain(): void {
    this.#isDraining = true;
    for (const session of this.#sessions) announceEnd(session);
  }

  /** Ends connections without a request in flight; sessions end with their last stream. */
  closeIdle(): void {
    for (const session of this.#sessions) session.close();
    for (const [socket, entry] of this.#sockets) {
      if (entry.openRequests === 0 && !this.#isHttp2(socket)) socket.end();
    }
  }

  destroyAll(): void {
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  get openCount(): number {
    return this.#sockets.size;
  }

  #isHttp2(socket: Socket): boolean {
    return (socket as { alpnProtocol?: string | false }).alpnProtocol === 'h2';
  }
}

/** GOAWAY without refusing anything yet. */
export function announceEnd(session: Http2Session): void {
  if (!session.destroyed && !session.closed) session.goaway(constants.NGHTTP2_NO_ERROR, anyStream);
}
