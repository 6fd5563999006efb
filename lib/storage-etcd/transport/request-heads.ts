// The header fields of requests as blocks: everything that is the same in every call of a method is
// encoded once.
import { grpcStatus } from '../grpc-status.ts';
import { EtcdError } from '../etcd-error.ts';
import { encodeField } from '../../http2/hpack.ts';
import { defaultFrameBytesMax } from '../../http2/frames.ts';

/** A block is one frame; this leaves room for what is the same in every call. */
const ownBytesMax = defaultFrameBytesMax / 2;

export class RequestHeads {
  readonly #scheme: 'http' | 'https';
  readonly #authority: string;
  readonly #byPath = new Map<string, Buffer>();

  constructor({ isSecure, authority }: { isSecure: boolean; authority: string }) {
    this.#scheme = isSecure ? 'https' : 'http';
    this.#authority = authority;
  }

  of(path: string): Buffer {
    let head = this.#byPath.get(path);
    if (head === undefined) {
      head = encoded({
        ':method': 'POST',
        ':scheme': this.#scheme,
        ':path': path,
        ':authority': this.#authority,
        'content-type': 'application/grpc',
        te: 'trailers',
        'user-agent': 'grpc-node-http2',
        hasleader: 'true', // See `Endpoint`.
      });
      this.#byPath.set(path, head);
    }
    return head;
  }

  /** Fields of one call. @throws EtcdError: there are too many */
  own(headers: Readonly<Record<string, string>>): Buffer {
    const head = encoded(headers);
    if (head.length > ownBytesMax) {
      throw new EtcdError(grpcStatus.INTERNAL, 'the headers of a call are too long');
    }
    return head;
  }
}

const encoded = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(Object.entries(headers).map(([name, value]) => encodeField(name, value)));
