// A TLS server for tests that answers with whatever bytes a test wants, when it wants.
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import tls from 'node:tls';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { createTestCa } from '../../base/testing/certificates.ts';
import type { TestCa, TestPair } from '../../base/testing/certificates.ts';

export interface RawRequest {
  /** Request line and headers, without the empty line. */
  readonly head: string;
  readonly body: string;
  readonly socket: TLSSocket;
  /** From 0: of this server, and of its connection. */
  readonly index: number;
  readonly connectionIndex: number;
}

/** Called for each complete request. */
export type Answering = (request: RawRequest) => void;

let made: Promise<{ readonly ca: TestCa; readonly pair: TestPair }> | undefined;
export const hookNames = ['localhost', '127.0.0.1', '127.0.0.2', 'hook.tests.svc'];

/** One CA and serving pair for all servers of a test file. */
export function hookTls(): Promise<{ readonly ca: TestCa; readonly pair: TestPair }> {
  made ??= (async () => {
    const ca = await createTestCa('hook-ca');
    const pair = await ca.issue({ use: 'serverAuth', commonName: 'hook', names: hookNames });
    return { ca, pair };
  })();
  return made;
}

export class RawServer {
  readonly requests: RawRequest[] = [];
  /** Connections that came through their handshake. */
  connectionCount = 0;
  tcpCount = 0;
  tcpOpenCount = 0;
  readonly #server: tls.Server;
  readonly #open = new Set<TLSSocket>();
  readonly #rawByPort = new Map<number, Socket>();
  #isReading = true;
  #answering: Answering;

  private constructor(options: TlsOptions, answering: Answering) {
    this.#answering = answering;
    this.#server = tls.createServer(options, (socket) => this.#serve(socket));
    this.#server.on('tlsClientError', () => undefined);
    this.#server.on('connection', (raw: Socket) => {
      this.#rawByPort.set(raw.remotePort ?? 0, raw);
      this.tcpCount++;
      this.tcpOpenCount++;
      raw.once('close', () => this.tcpOpenCount--);
    });
  }

  static async start(
    answering: Answering,
    options: TlsOptions & { readonly host?: string; readonly port?: number } = {},
  ): Promise<RawServer> {
    const { pair } = await hookTls();
    const { host = '127.0.0.1', port = 0, ...tlsOptions } = options;
    const server = new RawServer({ ...pair, ...tlsOptions }, answering);
    server.#server.listen(port, host);
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
  get url(): string {
    return `https://127.0.0.1:${String(this.port)}/hook`;
  }
  get openCount(): number {
    return this.#open.size;
  }

  answerWith(answering: Answering): void {
    this.#answering = answering;
  }

  /** Serves with another certificate from now on. */
  present(options: TestPair & { readonly ca?: string }): void {
    this.#server.setSecureContext(options);
  }

  /** What clients send from now on stays in their buffers. */
  readNothing(): void {
    this.#isReading = false;
  }

  /** Ends every connection, as a server does that is stopped. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Resets the connection of a request, below its TLS. */
  reset({ socket }: RawRequest): void {
    this.#rawByPort.get(socket.remotePort ?? 0)?.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    for (const raw of this.#rawByPort.values()) raw.destroy(); // also amid their handshakes
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(socket: TLSSocket): void {
    const connectionIndex = this.connectionCount++;
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket)).on('error', () => undefined);
    if (!this.#isReading) return;
    let pending = '';
    socket.on('data', (chunk: Buffer) => {
      pending += chunk.toString('latin1');
      for (;;) {
        const headEnd = pending.indexOf('\r\n\r\n');
        if (headEnd === -1) return;
        const head = pending.slice(0, headEnd);
        const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
        const bodyEnd = headEnd + 4 + length;
        if (pending.length < bodyEnd) return;
        const body = pending.slice(headEnd + 4, bodyEnd);
        pending = pending.slice(bodyEnd);
        const request = { head, body, socket, connectionIndex, index: this.requests.length };
        this.requests.push(request);
        this.#answering(request);
      }
    });
  }
}

/** A whole answer. */
export function answerText(
  body: string,
  options: { readonly status?: string; readonly headers?: readonly string[] } = {},
): string {
  const { status = '200 OK', headers = ['content-type: application/json'] } = options;
  const length = `content-length: ${String(Buffer.byteLength(body))}`;
  const lines = [`HTTP/1.1 ${status}`, length, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

export const answerOk: Answering = ({ socket }) => void socket.write(answerText('{"ok":true}'));
