// A listening server around the filters of a test, and small clients for both protocols.
import { once } from 'node:events';
import http2 from 'node:http2';
import type { ClientHttp2Session, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import https from 'node:https';
import tls from 'node:tls';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { createTestCa } from '../../base/testing/certificates.ts';
import type { TestCa, TestPair } from '../../base/testing/certificates.ts';
import type { RequestMetrics } from '../../telemetry/request-metrics.ts';
import { silentRequestMetrics } from '../../telemetry/testing/silent-request-metrics.ts';
import { outerFilters } from '../chain.ts';
import { Connections } from '../connections.ts';
import type { FindEntry } from '../open-request.ts';
import { OpenRequests } from '../open-requests.ts';
import type { Filter, RequestContext } from '../request-context.ts';
import { serve, usualTimeouts } from '../serve.ts';
import type { HttpTimeouts, RunningServer, ServeOptions } from '../serve.ts';
import { upgradeRule } from '../upgrade.ts';

let made: Promise<{ readonly ca: TestCa; readonly pair: TestPair }> | undefined;

/** One CA and serving pair for all servers of a test file. */
export function testTls(): Promise<{ readonly ca: TestCa; readonly pair: TestPair }> {
  made ??= (async () => {
    const ca = await createTestCa();
    return { ca, pair: await ca.issue({ use: 'serverAuth', commonName: 'server' }) };
  })();
  return made;
}

export interface TestServerOptions {
  readonly source?: ServeOptions['source'];
  /** Inside of the outer ones of the product. */
  readonly filters?: readonly Filter[];
  readonly requestTimeoutMs?: number;
  readonly timeouts?: HttpTimeouts;
  readonly goawayChance?: number;
  readonly metrics?: RequestMetrics;
  readonly findEntry?: FindEntry;
}

export interface TestServer {
  readonly port: number;
  readonly ca: string;
  readonly running: RunningServer;
  /** Lines of the server's log. */
  readonly log: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

export const shortTimeouts: HttpTimeouts = {
  headersMs: 400,
  bodyMs: 800,
  idleMs: 600,
  handshakeMs: 400,
  pingMs: 100,
};

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { ca, pair } = await testTls();
  const log: string[] = [];
  const logger = createLogger('debug', (line) => void log.push(line));
  const { timeouts = usualTimeouts, metrics = silentRequestMetrics } = options;
  const findEntry = options.findEntry ?? (() => undefined);
  const connections = new Connections(timeouts);
  const openRequests = new OpenRequests<RequestContext>(systemClock);
  const outer = outerFilters({
    clock: systemClock,
    findEntry,
    metrics,
    connections,
    openRequests,
    requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
    goawayChance: options.goawayChance ?? 0,
    logger,
    encodeStatus: (error) => ({
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(error.toBody())),
    }),
  });
  const running = await serve({
    bindAddress: '127.0.0.1',
    port: 0,
    source: options.source,
    tls: { ...pair, clientCa: ca.cert },
    filters: [...outer, ...(options.filters ?? [])],
    upgrades: upgradeRule(findEntry),
    connections,
    openRequests,
    metrics,
    timeouts,
  });
  return {
    port: running.port,
    ca: ca.cert,
    running,
    log,
    [Symbol.asyncDispose]: () => running.drain({ delayMs: 0, graceMs: 0 }),
  };
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface TestRequest {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Uint8Array | string;
  readonly agent?: https.Agent;
  readonly client?: TestPair;
}

/** One HTTP/1.1 request. */
export async function request1(
  server: { readonly port: number; readonly ca: string },
  path: string,
  { method = 'GET', headers = {}, body, agent, client }: TestRequest = {},
): Promise<TestAnswer> {
  const request = https.request({
    host: '127.0.0.1',
    port: server.port,
    path,
    method,
    headers,
    ca: server.ca,
    agent: agent ?? false,
    ...client,
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [AsyncIterable<Buffer> & TestResponse];
  const bytes = await collected(response);
  return { status: response.statusCode, headers: response.headers, body: bytes };
}

interface TestResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
}

export async function connect2(
  server: { readonly port: number; readonly ca: string },
  options: http2.SecureClientSessionOptions = {},
): Promise<ClientHttp2Session> {
  const url = `https://127.0.0.1:${String(server.port)}`;
  const session = http2.connect(url, { ca: server.ca, ...options });
  session.on('error', () => undefined); // seen by the streams too
  await once(session, 'remoteSettings');
  return session;
}

/** One request on an HTTP/2 session. */
export async function request2(
  session: ClientHttp2Session,
  path: string,
  { method = 'GET', headers = {}, body }: TestRequest = {},
): Promise<TestAnswer> {
  const stream = session.request({ ':path': path, ':method': method, ...headers });
  // Read as it comes: one that arrives whole at once may be closed before an iterator asks for it.
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = once(stream, 'end');
  stream.end(body);
  const [[answer]] = (await Promise.all([once(stream, 'response'), ended])) as [
    [IncomingHttpHeaders],
    unknown,
  ];
  return { status: Number(answer[':status']), headers: answer, body: Buffer.concat(chunks) };
}

async function collected(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export interface RawConnection {
  readonly socket: tls.TLSSocket;
  /** All that has arrived, as Latin-1. */
  readonly received: () => string;
  /** Resolves with all that arrived once the server has closed the connection. */
  readonly closed: Promise<string>;
}

/** A bare TLS connection that speaks HTTP/1.1 by hand. */
export async function connectRaw(server: {
  readonly port: number;
  readonly ca: string;
}): Promise<RawConnection> {
  const socket = tls.connect({
    host: '127.0.0.1',
    port: server.port,
    ca: server.ca,
    ALPNProtocols: ['http/1.1'],
  });
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  await once(socket, 'secureConnect');
  return { socket, received: () => received, closed };
}

/** Waits until the claim holds. */
export async function eventually(claim: () => boolean, withinMs = 5_000): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!claim()) {
    if (performance.now() > giveUpAt)
      throw new Error(`not within ${withinMs} ms: ${String(claim)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
