// One TLS port for HTTP/1.1, HTTP/2 and WebSocket: limits, the request's way into the chain, and drain.
import express from 'express';
import type { Router } from 'express';
import { createSecureServer } from 'node:http2';
import type { Http2SecureServer, Http2Session, SecureServerOptions } from 'node:http2';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { sleep } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import type { RequestMetrics } from '../telemetry/request-metrics.ts';
import { Connections } from './connections.ts';
import { Deadlines } from './deadlines.ts';
import { beginRequest } from './filters/begin.ts';
import type { FailureHandler } from './filters/panic.ts';
import { serverDraining } from './open-request.ts';
import type { OpenRequest } from './open-request.ts';
import type { Filter, HttpRequest, HttpResponse } from './request-context.ts';

export interface ServeOptions {
  readonly bindAddress: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: { readonly key: string; readonly cert: string; readonly clientCa: string | undefined };
  readonly filters: readonly Filter[];
  /** Paths that are no resources: health, metrics, version, discovery. Runs after the filters. */
  readonly operatorPaths: Router;
  readonly onFailure: FailureHandler;
  readonly isServed: (request: OpenRequest) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: RequestMetrics;
  readonly requestTimeoutMs: number;
  readonly goawayChance: number;
}

export interface RunningServer {
  readonly port: number;
  /** Replaces key and certificate for new connections. */
  setTls(tls: { readonly key: string; readonly cert: string; readonly clientCa: string | undefined }): void;
  /**
   * Graceful end: connections are told to go at once, new ones are served for `delayMs` more, then in-flight work
   * gets `graceMs` and the rest is cut. Resolves when nothing is open.
   */
  drain(options: { readonly delayMs: number; readonly graceMs: number }): Promise<void>;
}

export async function serve(options: ServeOptions): Promise<RunningServer> {
  const connections = new Connections();
  const deadlines = new Deadlines(options.clock);
  const open = new Set<OpenRequest>();
  const router = routerOf(options);
  const accept = (request: HttpRequest, response: HttpResponse): void => {
    const context = beginRequest(request, response, { ...options, connections, deadlines });
    open.add(context);
    response.once('close', () => open.delete(context));
    response.on('error', ignore); // a write after the client left; 'close' tells the rest
    const fail = (error: unknown): void => options.onFailure(error, request, response);
    router(request as never, response as never, fail);
  };

  const server = createSecureServer(tlsAndLimits(options.tls));
  limitHttp1(server);
  server.on('request', (request, response) => accept(request as HttpRequest, response as HttpResponse));
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const upgrade = request as IncomingMessage & { upgradeHead?: Buffer };
    upgrade.upgradeHead = head;
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.end());
    accept(request as unknown as HttpRequest, response);
  });
  server.on('secureConnection', (socket: Socket) => connections.addSocket(socket));
  server.on('session', (session: Http2Session) => connections.addSession(session));
  server.on('sessionError', ignore);
  server.on('tlsClientError', () => options.metrics.tlsHandshakeFailed());
  server.on('clientError', (_error: Error, socket: Socket) => refuseMalformed(socket));
  await listen(server, options);

  return {
    port: (server.address() as AddressInfo).port,
    setTls: (tls) => server.setSecureContext(secureContext(tls)),
    async drain({ delayMs, graceMs }) {
      connections.beginDrain();
      await sleep(delayMs, new AbortController().signal);
      server.close();
      await finish(connections, open, graceMs);
    },
  };
}

function routerOf(options: ServeOptions): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const filter of options.filters) router.use(filter as never);
  router.use(options.operatorPaths);
  return router;
}

/** How long an idle connection is left open after GOAWAY: a request may be on its way (measured in round trips). */
const idleGraceMs = 300;

async function finish(
  connections: Connections,
  open: ReadonlySet<OpenRequest>,
  graceMs: number,
): Promise<void> {
  for (const request of open) if (request.isStreaming) request.end(serverDraining);
  const signal = new AbortController().signal;
  await sleep(idleGraceMs, signal);
  const giveUpAt = performance.now() + graceMs;
  while (performance.now() < giveUpAt) {
    for (const request of open) if (request.isStreaming) request.end(serverDraining);
    connections.closeIdle();
    if (open.size === 0 && connections.openCount === 0) return;
    await sleep(20, signal);
  }
  connections.destroyAll();
}

function tlsAndLimits(tls: ServeOptions['tls']): SecureServerOptions {
  return {
    ...secureContext(tls),
    allowHTTP1: true,
    requestCert: tls.clientCa !== undefined,
    rejectUnauthorized: false, // a certificate that does not verify is no credential; tokens still work
    minVersion: 'TLSv1.2',
    maxHeaderSize: limits.requestHeaderBytesMax,
    insecureHTTPParser: false,
    maxSessionMemory: limits.http2SessionMegabytesMax,
    maxSettings: 32,
    maxOutstandingPings: 10,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    streamResetBurst: limits.http2ResetBurstMax,
    streamResetRate: limits.http2ResetsPerSecondMax,
    settings: {
      maxConcurrentStreams: limits.http2StreamsPerConnectionMax,
      maxHeaderListSize: limits.requestHeaderBytesMax,
      initialWindowSize: 256 * 1024,
      enablePush: false,
    },
  } as SecureServerOptions;
}

function secureContext(tls: ServeOptions['tls']): { key: string; cert: string; ca?: string } {
  return { key: tls.key, cert: tls.cert, ...(tls.clientCa === undefined ? {} : { ca: tls.clientCa }) };
}

/** Http2SecureServer carries the HTTP/1.1 limits too, but its type does not say so. */
function limitHttp1(server: Http2SecureServer): void {
  Object.assign(server, {
    headersTimeout: limits.requestHeadersTimeoutMs,
    requestTimeout: limits.requestBodyTimeoutMs,
    keepAliveTimeout: limits.idleConnectionMs,
    maxHeadersCount: limits.requestHeadersCountMax,
  });
}

function refuseMalformed(socket: Socket): void {
  if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  else socket.destroy();
}

function listen(server: Http2SecureServer, options: ServeOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.bindAddress, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

const ignore = (): void => undefined;
