// A response of HTTP/2 over the stream itself. It has what filters and handlers use of Node's
// response of HTTP/1.1, and its own idea of an end: Node ends a stream that the client has left.
import type {
  OutgoingHttpHeaders,
  ServerHttp2Stream,
  ServerStreamResponseOptions,
} from 'node:http2';

/**
 * After each write Node looks in a turn of its own whether it was the last one, unless trailers are
 * to follow, which it asks for in another frame at the end.
 */
const writtenOften = { waitForTrailers: true };

export class Http2Response {
  readonly stream: ServerHttp2Stream;
  statusCode = 200;
  #isEnded = false;

  /** What Node calls it with. */
  constructor(stream: ServerHttp2Stream) {
    this.stream = stream;
    stream.on('error', ignore); // a write after the client left; 'close' tells the rest
  }

  get headersSent(): boolean {
    return this.stream.headersSent;
  }

  /** Somebody has ended it, whether all of it was sent or not. */
  get writableEnded(): boolean {
    return this.#isEnded;
  }

  get writableNeedDrain(): boolean {
    return this.stream.writableNeedDrain;
  }

  /** Only a body whose length is told is taken to be written with few calls. */
  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    const options = headers['content-length'] === undefined ? writtenOften : undefined;
    this.respond({ ':status': status, ...headers }, options);
    return this;
  }

  /** The same on the way of most answers: the status is among the headers. */
  respond(
    headers: OutgoingHttpHeaders & { readonly ':status': number },
    options?: ServerStreamResponseOptions,
  ): void {
    if (this.#isGone) return;
    this.statusCode = headers[':status'];
    this.stream.respond(headers, options);
  }

  flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
  }

  write(chunk: Uint8Array, onWritten?: (error?: Error | null) => void): boolean {
    this.flushHeaders();
    return this.stream.write(chunk, onWritten);
  }

  end(chunk?: Uint8Array): this {
    if (this.#isEnded || this.#isGone) return this;
    this.#isEnded = true;
    this.flushHeaders();
    this.stream.end(chunk);
    return this;
  }

  /** Answers of 100, as Node calls it. */
  writeContinue(): void {
    if (!this.#isGone) this.stream.additionalHeaders({ ':status': 100 });
  }

  on(event: string, listener: () => void): this {
    this.stream.on(event, listener);
    return this;
  }

  once(event: string, listener: () => void): this {
    this.stream.once(event, listener);
    return this;
  }

  off(event: string, listener: () => void): this {
    this.stream.off(event, listener);
    return this;
  }

  get #isGone(): boolean {
    return this.stream.destroyed || this.stream.closed;
  }
}

const ignore = (): void => undefined;
