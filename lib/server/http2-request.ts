// A request of HTTP/2: its head as Node has read it, its body from the stream itself. Node's own
// request for those who know HTTP/1.1 is a second stream with eight listeners (measured: with its
// response a quarter of a GET).
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;
const nobody: Peer = { remoteAddress: undefined, remotePort: undefined };

export class Http2Request {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
  readonly method: string;
  readonly url: string;
  readonly httpVersion = '2.0';

  /** What Node calls it with. */
  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    _options: unknown,
    rawHeaders: string[],
  ) {
    this.stream = stream;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.method = headers[':method'] ?? '';
    this.url = headers[':path'] ?? '';
  }

  get socket(): Peer {
    const { session } = this.stream;
    return session === undefined || session.destroyed ? nobody : session.socket;
  }

  /** Nothing more of it is to come. */
  get complete(): boolean {
    const { stream } = this;
    return stream.endAfterHeaders || stream.readableEnded || stream.closed || stream.destroyed;
  }

  get destroyed(): boolean {
    return this.stream.destroyed;
  }

  resume(): void {
    this.stream.resume();
  }
}
