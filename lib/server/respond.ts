// Status, headers and bytes of every answer: whole bodies, streamed lists with back-pressure, gzip
// above the threshold.
import { createGzip, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import { limits } from '../base/limits.ts';
import { nextTurn, turnMs } from '../base/turn.ts';
import { giveChunk } from './chunk-pool.ts';
import { cut } from './cut.ts';
import { gather } from './gather.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import type { Pieces } from './pieces.ts';
import { writableOf } from './taken-over.ts';

const gzipBytes = promisify(gzip);
const { answerTurnMsMax, answerChunkBytes } = limits;
/** Kubernetes' level for large answers: most of the gain at a third of the CPU. */
const gzipLevel = 4;

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** Extra headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** No browser may take the text for anything else. */
const plainHeaders = { 'x-content-type-options': 'nosniff' };

/** Of a text for people and probes. */
export const plainHead = (status: number): Answer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  headers: plainHeaders,
});

export interface ResponseOptions {
  /** Gate APIResponseCompression. */
  readonly compress: boolean;
}

/** Sends a whole body, in this turn unless it is to be compressed. HEAD gets its headers alone. */
export function sendBytes(
  request: HttpRequest,
  response: HttpResponse,
  answer: Answer,
  body: Uint8Array,
  options: ResponseOptions,
): void | Promise<void> {
  if (options.compress && body.length >= limits.gzipThresholdBytes && acceptsGzip(request)) {
    return sendGzipped(request, response, answer, body);
  }
  sendNow(request, response, answer, body);
}

async function sendGzipped(
  request: HttpRequest,
  response: HttpResponse,
  answer: Answer,
  body: Uint8Array,
): Promise<void> {
  const zipped = await gzipBytes(body, { level: gzipLevel });
  sendNow(request, response, { ...answer, headers: zippedHeaders(answer) }, zipped);
}

function zippedHeaders({ headers }: Answer): NonNullable<Answer['headers']> {
  const vary = headers?.['vary'];
  return {
    ...headers,
    'content-encoding': 'gzip',
    vary: vary === undefined ? 'Accept-Encoding' : `${String(vary)}, Accept-Encoding`,
  };
}

/** Sends a body that needs no compression, in this turn. */
export function sendNow(
  request: HttpRequest,
  response: HttpResponse,
  answer: Answer,
  body: Uint8Array,
): void {
  if (response.headersSent || response.writableEnded) return;
  writeHead(request, response, answer, body.length);
  if (request.method === 'HEAD') response.end();
  else response.end(body);
  countBytes(request, body.length);
}

/**
 * Sends the pieces as one body, in chunks, as fast as the client reads. `totalBytes` is their sum.
 * Yields to the event loop at least every few milliseconds.
 */
export async function sendPieces(
  request: HttpRequest,
  response: HttpResponse,
  answer: Answer,
  pieces: Pieces,
  options: ResponseOptions,
): Promise<void> {
  const { totalBytes } = pieces;
  const isLarge = totalBytes >= limits.gzipThresholdBytes;
  if (isLarge && options.compress && acceptsGzip(request)) {
    await sendZipped(request, response, answer, pieces);
    return;
  }
  if (totalBytes <= answerChunkBytes) {
    sendNow(request, response, answer, Buffer.concat([...pieces], totalBytes));
    return;
  }
  writeHead(request, response, answer, totalBytes);
  // By itself: with the first chunk Node would copy both into a buffer of their size (measured).
  if (!('stream' in response)) response.flushHeaders();
  if (request.method !== 'HEAD') {
    await writePieces(response, pieces, request.context.signal);
    countBytes(request, totalBytes);
  }
  response.end();
}

async function sendZipped(
  request: HttpRequest,
  response: HttpResponse,
  answer: Answer,
  pieces: Pieces,
): Promise<void> {
  const headers = zippedHeaders(answer);
  writeHead(request, response, { ...answer, headers }, undefined);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const zip = createGzip({ level: gzipLevel });
  zip.on('error', () => cut(response));
  response.once('close', () => zip.destroy()); // its native memory does not wait for the collector
  zip.pipe(writableOf(response));
  await writePieces(zip, pieces, request.context.signal);
  zip.end();
  countBytes(request, pieces.totalBytes);
}

interface Sink {
  write(chunk: Uint8Array, onWritten: (error?: Error | null) => void): boolean;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'close', listener: () => void): unknown;
}

async function writePieces(sink: Sink, pieces: Pieces, signal: AbortSignal): Promise<void> {
  for (const { bytes, chunk } of gather(pieces)) {
    signal.throwIfAborted();
    const keepGoing = sink.write(bytes, (error) => {
      if (chunk !== undefined && (error ?? undefined) === undefined) giveChunk(chunk);
    });
    if (!keepGoing) {
      await drained(sink, signal);
    } else if (turnMs() > answerTurnMsMax) {
      await nextTurn();
    }
  }
}

/**
 * Resolves when the sink takes more; rejects with the signal's reason, so a stalled reader cannot
 * hold the turn.
 */
export function drained(sink: Sink, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      sink.off('drain', onDrain);
      sink.off('close', onDrain);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onDrain = (): void => finish(resolve);
    const onAbort = (): void => finish(() => reject(signal.reason as Error));
    sink.once('drain', onDrain);
    sink.once('close', onDrain);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

/** Headers that every answer has, then the answer's own. */
export function writeHead(
  request: HttpRequest,
  response: HttpResponse,
  answer: Answer,
  contentLength: number | undefined,
): void {
  const { warnings } = request.context;
  if (warnings.length === 0 && answer.headers === undefined && contentLength !== undefined) {
    writeUsualHead(request, response, answer, contentLength);
    return;
  }
  const headers: Record<string, string | number | readonly string[]> = {
    'audit-id': request.context.auditId,
    'cache-control': 'no-cache, private',
    'content-type': answer.contentType,
  };
  if (contentLength !== undefined) headers['content-length'] = contentLength;
  if (warnings.length > 0) headers['warning'] = warningHeaders(warnings);
  if (answer.headers !== undefined) Object.assign(headers, answer.headers);
  (response as { writeHead(status: number, headers: object): void }).writeHead(
    answer.status,
    headers,
  );
}

/** The same headers as pairs: node takes an object apart member by member (measured). */
function writeUsualHead(
  request: HttpRequest,
  response: HttpResponse,
  { status, contentType }: Answer,
  contentLength: number,
): void {
  if ('stream' in response) {
    response.writeHead(status, {
      'audit-id': request.context.auditId,
      'cache-control': 'no-cache, private',
      'content-type': contentType,
      'content-length': String(contentLength),
    });
    return;
  }
  (response as { writeHead(status: number, pairs: readonly string[]): void }).writeHead(status, [
    'audit-id',
    request.context.auditId,
    'cache-control',
    'no-cache, private',
    'content-type',
    contentType,
    'content-length',
    String(contentLength),
  ]);
}

/**
 * RFC 7234 §5.5 with code 299 and no agent, as Kubernetes sends them. Clients bound the size of
 * headers: past the bound texts are shortened, then left out.
 */
function warningHeaders(texts: readonly string[]): string[] {
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  const isLong = total > limits.warningsLengthMax;
  const lengthMax = isLong ? limits.warningLengthWhenManyMax : Infinity;
  const headers: string[] = [];
  let used = 0;
  for (const text of texts) {
    const short = text.slice(0, lengthMax);
    used += short.length;
    if (used > limits.warningsLengthMax) break;
    const clean = short
      .toWellFormed()
      .replace(/[\u0000-\u001f\u007f]/g, ' ')
      .replace(/[\\"]/g, '\\$&');
    headers.push(`299 - "${Buffer.from(clean, 'utf8').toString('latin1')}"`); // bytes as they are
  }
  return headers;
}

/** Only a client that names gzip gets it: `*` names nothing. */
function acceptsGzip(request: HttpRequest): boolean {
  const accepted = request.headers['accept-encoding'];
  if (accepted === undefined) return false;
  const text = Array.isArray(accepted) ? accepted.join(',') : accepted;
  return text.split(',').some((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    if (name !== 'gzip' && name !== 'x-gzip') return false;
    return !parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter));
  });
}

function countBytes(request: HttpRequest, bytes: number): void {
  request.context.responseBytes += bytes;
}
