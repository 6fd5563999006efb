// A request of HTTP/2 as filters and handlers see it; its body comes from the stream.
import type { IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import type { Http2Stream } from './stream.ts';

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;
const nobody: Peer = { remoteAddress: undefined, remotePort: undefined };

export class Http2Request {
  readonly stream: Http2Stream;
  headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
  readonly method: string;
  readonly url: string;
  readonly httpVersion = '2.0';

  constructor(stream: Http2Stream) {
    const { head } = stream;
    this.stream = stream;
    this.headers = head.newHeaders();
    this.rawHeaders = head.newFields();
    this.method = head.method;
    this.url = head.path;
  }

  get socket(): Peer {
    const { socket } = this.stream.session;
    return socket.destroyed ? nobody : socket;
  }

  /** Nothing more of it is to come. */
  get complete(): boolean {
    return this.stream.isComplete || this.stream.isClosed;
  }

  get destroyed(): boolean {
    return this.stream.isClosed;
  }

  resume(): void {
    this.stream.resume();
  }
}
