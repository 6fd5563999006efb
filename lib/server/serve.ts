// One TLS port for HTTP/1.1, HTTP/2 and WebSocket: limits, the request's way into the chain, and
// drain.
import { constants, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { Server, ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, Server as TlsServer } from 'node:tls';
import type { SecureContext, SecureContextOptions, TLSSocket } from 'node:tls';
import { sleep } from '../base/abort.ts';
import { limits } from '../base/limits.ts';
import type { RequestMetrics } from '../telemetry/request-metrics.ts';
import type { ConnectionSource } from './connection-source.ts';
import type { Connections } from './connections.ts';
import { Http2Request } from './http2/request.ts';
import { Http2Response } from './http2/response.ts';
import { Http2Session } from './http2/session.ts';
import type { SessionOptions } from './http2/session.ts';
import type { Http2Stream } from './http2/stream.ts';
import { keepReading } from './keep-reading.ts';
import { framingFault } from './message-rules.ts';
import { NamedCertificates } from './named-certificates.ts';
import type { NamedPair } from './named-certificates.ts';
import { serverDraining } from './open-request.ts';
import type { OpenRequests } from './open-requests.ts';
import type { Filter, HttpRequest, HttpResponse, RequestContext } from './request-context.ts';
import { filterRunner } from './run-filters.ts';
import { upgradeResponse } from './upgrade.ts';

export interface ServeOptions {
  readonly bindAddress: string;
  /** 0: any free port. */
  readonly port: number;
  /** undefined: this process listens itself. */
  readonly source?: ConnectionSource | undefined;
  readonly tls: ServedTls;
  readonly filters: readonly Filter[];
  /** Whether a request that asks for another protocol gets it (`upgrade.ts`). */
  readonly upgrades: (request: IncomingMessage) => boolean;
  /** Held by the filters, watched by the listener and its drain. */
  readonly connections: Connections;
  readonly openRequests: OpenRequests<RequestContext>;
  readonly metrics: Pick<RequestMetrics, 'tlsHandshakeFailed'>;
  readonly timeouts: HttpTimeouts;
}

/** What is shown in handshakes; of PEM. */
export interface ServedTls {
  readonly key: string;
  readonly cert: string;
  readonly clientCa: string | undefined;
  /** For clients that ask for their names; default: none. */
  readonly named?: readonly NamedPair[];
}

export interface RunningServer {
  readonly port: number;
  /** Replaces keys and certificates for new connections. */
  setTls(tls: ServedTls): void;
  /**
   * Graceful end: connections are told to go at once, new ones are served for `delayMs` more, then
   * in-flight work gets `graceMs` and the rest is cut. Resolves when nothing is open.
   */
  drain(options: { readonly delayMs: number; readonly graceMs: number }): Promise<void>;
}

/** Time limits of connections and of what clients send. */
export interface HttpTimeouts {
  readonly headersMs: number;
  readonly bodyMs: number;
  readonly idleMs: number;
  readonly handshakeMs: number;
  /** Between two pings of an HTTP/2 connection with open streams. */
  readonly pingMs: number;
}

export const usualTimeouts: HttpTimeouts = {
  headersMs: limits.requestHeadersTimeoutMs,
  bodyMs: limits.requestBodyTimeoutMs,
  idleMs: limits.idleConnectionMs,
  handshakeMs: limits.tlsHandshakeTimeoutMs,
  pingMs: limits.http2PingIntervalMs,
};

export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { timeouts, connections, openRequests } = options;
  const run = filterRunner(options.filters);
  const refuse = (socket: Socket, status: string): void => {
    if (connections.ofSocket(socket)?.openRequests === 0) refuseMalformed(socket, status);
    else socket.destroy(); // the TLS handshake failed, or another answer is being written there
  };
  const accept = (request: IncomingMessage, response: HttpResponse): void => {
    if (!request.socket.writable) return; // refused before: what follows is no request
    keepReading(request.socket, connections);
    const fault = framingFault(request);
    if (fault !== undefined) {
      refuse(request.socket, fault);
      return;
    }
    response.on('error', ignore); // a write after the client left; 'close' tells the rest
    run(request as HttpRequest, response);
  };
  const onStream = (stream: Http2Stream): void => {
    const request = new Http2Request(stream);
    const response = new Http2Response(stream);
    if (request.method === 'CONNECT') {
      response.writeHead(405).end(); // no path of an API, and none for the filters
      return;
    }
    if (request.headers.expect?.toLowerCase() === '100-continue') stream.sayContinue();
    run(request as HttpRequest, response);
  };

  let named = namedContexts(options.tls);
  const server = createServer({
    ...tlsAndLimits(options.tls, timeouts),
    SNICallback: (name, done) => done(null, named.find(name)),
  });
  Object.assign(server, {
    maxHeadersCount: limits.requestHeadersCountMax + 1, // its options have none; `framingFault`
    shouldUpgradeCallback: options.upgrades,
  });
  server.on('request', accept).on('checkExpectation', accept);
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    accept(request, upgradeResponse(request, socket, head));
  });
  takeConnections(server, { onStream, connections, headersMs: timeouts.headersMs });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    options.metrics.tlsHandshakeFailed();
    if (error.code === 'ERR_SSL_HTTP_REQUEST') refusePlain(socket);
  });
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, statusOf(error));
  });
  const { source = ownPort(server) } = options;
  const port = await source.open(options, (socket) => void server.emit('connection', socket));
  // What watches over slow heads begins with this event, whoever listens.
  if (options.source !== undefined) server.emit('listening');

  return {
    port,
    setTls(tls) {
      named = namedContexts(tls);
      server.setSecureContext(secureContext(tls));
    },
    async drain({ delayMs, graceMs }) {
      connections.beginDrain();
      await sleep(delayMs, never);
      await source.close();
      await finish(connections, openRequests, graceMs);
    },
  };
}

/** Of two protocols; Node's server knows one of them. */
function takeConnections(
  server: Server,
  { connections, ...options }: SessionOptions & Pick<ServeOptions, 'connections'>,
): void {
  const [serveHttp1] = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[];
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') {
      connections.addSession(new Http2Session(socket, options));
    } else {
      connections.addSocket(socket);
      serveHttp1?.call(server, socket);
    }
  });
}

const { idleCloseGraceMs } = limits;
const never = new AbortController().signal;

async function finish(
  connections: Connections,
  openRequests: OpenRequests<RequestContext>,
  graceMs: number,
): Promise<void> {
  const endStreams = (): void => {
    for (const request of openRequests) if (request.isStreaming) request.end(serverDraining);
  };
  endStreams();
  await sleep(idleCloseGraceMs, never);
  const giveUpAt = performance.now() + graceMs;
  while (performance.now() < giveUpAt) {
    endStreams();
    connections.closeIdle();
    if (openRequests.count === 0 && connections.openCount === 0) return;
    await sleep(20, never);
  }
  connections.destroyAll();
}

function tlsAndLimits(tls: ServeOptions['tls'], timeouts: HttpTimeouts): ServerOptions {
  return {
    ...secureContext(tls),
    ALPNProtocols: ['h2', 'http/1.1'],
    requireHostHeader: false, // checkHead does
    requestCert: tls.clientCa !== undefined,
    rejectUnauthorized: false, // a bad certificate is answered with 401, in words
    minVersion: 'TLSv1.2',
    handshakeTimeout: timeouts.handshakeMs,
    keepAlive: true,
    keepAliveInitialDelay: limits.tcpKeepAliveMs,
    noDelay: true,
    maxHeaderSize: limits.requestHeaderBytesMax,
    insecureHTTPParser: false,
    // A request without a body has ended before it is handed out: no events, no turns for them.
    optimizeEmptyRequests: true,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.bodyMs,
    keepAliveTimeout: timeouts.idleMs,
    connectionsCheckingInterval: Math.min(5_000, timeouts.headersMs),
  };
}

const namedContexts = ({ named = [], clientCa }: ServedTls): NamedCertificates<SecureContext> =>
  new NamedCertificates(named, (pair) => createSecureContext(secureContext({ ...pair, clientCa })));

function secureContext({ key, cert, clientCa }: ServeOptions['tls']): SecureContextOptions {
  return {
    key,
    cert,
    // This and `crl` are why each connection shows all certificates of its client: ADR 0038.
    secureOptions: constants.SSL_OP_NO_TICKET,
    ...(clientCa === undefined ? {} : { ca: clientCa, crl: nobodysRevocations }),
  };
}

/** Of a CA that has signed nothing else, and whose key is gone: OpenSSL trusts no client by it. */
const nobodysRevocations = `-----BEGIN X509 CRL-----
MIGXMD8wCgYIKoZIzj0EAwIwETEPMA0GA1UEAwwGbm9ib2R5Fw0yNjExMjMwNjEy
MTJaGA8yMTI2MTAzMDA2MTIxMlowCgYIKoZIzj0EAwIDSAAwRQIhAJ/shHirxOnG
v2JQzhXJ5tTCppL4ywguWaA6E0nl5mSgAiB3J7qAPZLGokr+P1wL3bB3826xNMFG
IrxjYcNcLdp6Ig==
-----END X509 CRL-----
`;

/** `reason`: the parser's own words. */
type ParserError = NodeJS.ErrnoException & { readonly reason?: string };

function statusOf({ code = '', reason = '' }: ParserError): string {
  // Of two ways to tell the length of a body one is wrong, which is no matter of codings.
  const isUnknownCoding =
    code === 'HPE_INVALID_TRANSFER_ENCODING' && !reason.includes('Content-Length');
  return isUnknownCoding ? '501 Not Implemented' : (refusals.get(code) ?? '400 Bad Request');
}

const refusals: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
]);

/** Bytes that are no request are answered in words, once. */
function refuseMalformed(socket: Socket, status: string): void {
  if (socket.writableEnded) return; // there may be more of what was refused already
  if (socket.writable) {
    const head = `HTTP/1.1 ${status}\r\nAudit-Id: ${randomUUID()}\r\n`;
    socket.write(`${head}Connection: close\r\nContent-Length: 0\r\n\r\n`);
  }
  socket.destroySoon();
}

/** Whoever forgot the `s` of https is told so, in the clear: there is no TLS to say it in. */
function refusePlain(socket: TLSSocket): void {
  // Node has no public name for the connection below a TLS socket.
  const { _parent: below } = socket as TLSSocket & { readonly _parent?: Socket };
  below?.end('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
}

/** The server takes its connections by itself. */
const ownPort = (server: Server): ConnectionSource => ({
  open: ({ port, bindAddress }) =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, bindAddress, () => {
        server.off('error', reject);
        resolve((server.address() as AddressInfo).port);
      });
    }),
  // Stops listening and no more: The server's own close() would cut idle connections at
  // once, with requests on their way in them.
  close() {
    TlsServer.prototype.close.call(server);
    return Promise.resolve();
  },
});

const ignore = (): void => undefined;
