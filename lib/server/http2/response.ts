// The response of HTTP/2 as filters and handlers see it: what they use of Node's response of
// HTTP/1.1, over the stream.
import type { OutgoingHttpHeaders } from 'node:http2';
import type { Http2Stream } from './stream.ts';

export class Http2Response {
  readonly stream: Http2Stream;
  statusCode = 200;

  constructor(stream: Http2Stream) {
    this.stream = stream;
  }

  get headersSent(): boolean {
    return this.stream.headersSent;
  }

  /** Somebody has ended it, whether all of it was sent or not. */
  get writableEnded(): boolean {
    return this.stream.isEnded;
  }

  get writableNeedDrain(): boolean {
    return this.stream.writableNeedDrain;
  }

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    if (this.stream.isClosed) return this;
    this.statusCode = status;
    this.stream.respond(status, headers);
    return this;
  }

  flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
  }

  write(chunk: Uint8Array, onWritten?: (error?: Error | null) => void): boolean {
    this.flushHeaders();
    return this.stream.write(chunk, onWritten);
  }

  end(chunk?: Uint8Array | string): this {
    this.flushHeaders();
    this.stream.end(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    return this;
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
}
