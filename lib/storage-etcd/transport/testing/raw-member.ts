// A member that a test plays frame by frame: what it says goes out as it is, what it is told can be
// read one frame after the other.
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { encodeField } from '../../../http2/hpack.ts';
import { frameFlag } from '../../../http2/frames.ts';
import { dataFrame, headersFrame, RawConnection } from '../../../http2/testing/raw-connection.ts';
import { newMessage } from './messages.ts';

export class RawMember {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  readonly #connections: RawConnection[] = [];
  #wake: (() => void) | undefined;

  static async listen(): Promise<RawMember> {
    const member = new RawMember();
    await new Promise<void>((resolve) => member.#server.listen(0, '127.0.0.1', resolve));
    return member;
  }

  private constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.push(socket);
      this.#connections.push(new RawConnection(socket, { ofClient: true }));
      this.#wake?.();
    });
  }

  get target(): string {
    return `127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** The next connection. */
  async accepted(): Promise<RawConnection> {
    for (;;) {
      const connection = this.#connections.shift();
      if (connection !== undefined) return connection;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** `:status` 200 and the type of the content. */
export const answerHead = Buffer.concat([
  Buffer.of(0x88),
  encodeField('content-type', 'application/grpc'),
]);
export const okTrailers = encodeField('grpc-status', '0');

export const trailersFrame = (streamId: number, block: Buffer = okTrailers): Buffer =>
  headersFrame(streamId, block, frameFlag.endStream);

/** A whole answer. */
export const answerFrames = (streamId: number, text: string): Buffer =>
  Buffer.concat([
    headersFrame(streamId, answerHead),
    dataFrame(streamId, newMessage(Buffer.from(text))),
    trailersFrame(streamId),
  ]);
