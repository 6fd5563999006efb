// The open connections of one listener: what drain needs to know, and how connections are told to
// go.
import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ClientConnection, ShownToken } from '../authn/authenticator.ts';
import { limits } from '../base/limits.ts';
import type { StreamSession } from './http2/stream.ts';

/** One connection; requests count themselves in and out. */
export class Connection implements ClientConnection {
  openRequests = 0;
  /** Answers of 401 since somebody was last known on it. */
  badCredentialsCount = 0;
  /** Of HTTP/2: pings since the client last answered one. */
  unansweredPings = 0;
  /** Of a drain: how many turns on end found no request here. */
  idleTurns = 0;
  readonly remoteAddress: string;
  readonly certificate: X509Certificate | undefined;
  readonly intermediates: readonly X509Certificate[];
  shownToken: ShownToken | undefined = undefined;

  /** Reads all at once: a socket that has closed knows nothing more. */
  constructor(socket: TLSSocket) {
    this.remoteAddress = socket.remoteAddress ?? '';
    this.certificate = socket.getPeerX509Certificate();
    this.intermediates = issuersOf(this.certificate);
  }
}

/** As many as matter. */
function issuersOf(certificate: X509Certificate | undefined): X509Certificate[] {
  const issuers: X509Certificate[] = [];
  let next = certificate?.issuerCertificate;
  while (next !== undefined && issuers.length < limits.certificatePathLengthMax) {
    issuers.push(next);
    next = next.issuerCertificate;
  }
  return issuers;
}

export class Connections {
  /** Of HTTP/1.1. */
  readonly #sockets = new Map<Socket, Connection>();
  readonly #sessions = new Map<StreamSession, Connection>();
  readonly #idleMs: number;
  readonly #pingMs: number;
  #pings: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor({ idleMs, pingMs }: { readonly idleMs: number; readonly pingMs: number }) {
    this.#idleMs = idleMs;
    this.#pingMs = pingMs;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  addSocket(socket: TLSSocket): void {
    this.#sockets.set(socket, new Connection(socket));
    socket.once('close', () => this.#sockets.delete(socket));
  }

  addSession(session: StreamSession): void {
    const { socket } = session;
    const connection = new Connection(socket);
    this.#sessions.set(session, connection);
    this.#pings ??= setInterval(() => this.#ping(), this.#pingMs);
    socket.once('close', () => {
      this.#sessions.delete(session);
      if (this.#sessions.size > 0) return;
      clearInterval(this.#pings);
      this.#pings = undefined;
    });
    // Silence with a request open is a quiet watch; without one nobody needs the connection.
    socket.setTimeout(this.#idleMs, () => {
      if (connection.openRequests === 0) session.close();
    });
  }

  /** Watches may be quiet for long: only an answer tells that somebody is there. */
  #ping(): void {
    for (const [session, connection] of this.#sessions) {
      if (connection.unansweredPings >= limits.http2UnansweredPingsMax) session.destroy();
      else if (connection.openRequests > 0) {
        connection.unansweredPings++;
        session.ping(() => {
          connection.unansweredPings = 0;
        });
      }
    }
  }

  ofSocket(socket: Socket): Connection | undefined {
    return this.#sockets.get(socket);
  }

  /** While draining, a session that came late is told to go once it has been of use. */
  ofSession(session: StreamSession): Connection | undefined {
    if (this.#isDraining) session.announceEnd();
    return this.#sessions.get(session);
  }

  /** From now on answers close their connections, and HTTP/2 peers are told to go elsewhere. */
  beginDrain(): void {
    this.#isDraining = true;
    for (const session of this.#sessions.keys()) session.announceEnd();
  }

  /**
   * One turn of a drain's end: sessions end with their last stream, other connections once they
   * were idle for `idleCloseTurns` of them. A stream that the drain has ended leaves a connection
   * that was never told to close: its client asks on it next. In a turn, unlike in any time, what
   * has come is read.
   */
  closeIdle(): void {
    for (const session of this.#sessions.keys()) session.close();
    for (const [socket, connection] of this.#sockets) {
      if (connection.openRequests > 0) connection.idleTurns = 0;
      else if (++connection.idleTurns > limits.idleCloseTurns) socket.destroySoon();
    }
  }

  destroyAll(): void {
    for (const { socket } of this.#sessions.keys()) socket.destroy();
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  get openCount(): number {
    return this.#sockets.size + this.#sessions.size;
  }
}
