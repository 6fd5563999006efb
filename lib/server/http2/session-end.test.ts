// Clients that keep a connection after GOAWAY until they are sure, as those written in Go do: by
// frames, since Node's own client goes at once.
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { expect, test } from '@jest/globals';
import type { Filter } from '../request-context.ts';
import { sendNow } from '../respond.ts';
import { eventually, startTestServer } from '../testing/test-server.ts';

const answers: Filter = (request, response) => {
  sendNow(request, response, { status: 200, contentType: 'text/plain' }, Buffer.from('done'));
  return Promise.resolve();
};

const frameTypes = { headers: 1, settings: 4, ping: 6, goaway: 7 };

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** GET /: names out of the static table, so that none is compressed (RFC 7541). */
const getRoot = (stream: number): Buffer => {
  const fields = [0x82, 0x87, 0x84, 0x01, 0x01, 0x78]; // :method, :scheme, :path, :authority: x
  return frame(frameTypes.headers, 5, stream, Buffer.from(fields));
};

class FrameClient {
  readonly frames: Frame[] = [];
  readonly socket: TLSSocket;
  #rest = Buffer.alloc(0);

  constructor(port: number) {
    const to = { port, host: '127.0.0.1', ALPNProtocols: ['h2'], rejectUnauthorized: false };
    this.socket = connect(to);
    this.socket.on('error', () => undefined);
    this.socket.on('data', (chunk: Buffer) => {
      this.#receive(chunk);
    });
    this.socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    this.socket.write(frame(frameTypes.settings, 0, 0));
  }

  countOf(type: number, stream = 0): number {
    return this.frames.filter((one) => one.type === type && one.stream === stream).length;
  }

  #receive(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 9) {
      const length = this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < 9 + length) return;
      const [type = 0, flags = 0] = [this.#rest[3], this.#rest[4]];
      const payload = this.#rest.subarray(9, 9 + length);
      this.frames.push({ type, flags, stream: this.#rest.readUInt32BE(5), payload });
      this.#rest = this.#rest.subarray(9 + length);
      if (type === frameTypes.ping && flags === 0) {
        this.socket.write(frame(frameTypes.ping, 1, 0, payload));
      }
    }
  }
}

test('a client that waits after GOAWAY is let go by a drain at once', async () => {
  await using server = await startTestServer({ filters: [answers] });
  const client = new FrameClient(server.running.port);
  client.socket.write(getRoot(1));
  await eventually(() => client.countOf(frameTypes.headers, 1) === 1);
  const closed = once(client.socket, 'close');
  const draining = server.running.drain({ delayMs: 0, graceMs: 600_000 });
  await closed;
  await draining;
  expect(client.countOf(frameTypes.goaway)).toBeGreaterThan(0);
});

test('a request that crosses GOAWAY is above the last stream that it names', async () => {
  await using server = await startTestServer({ filters: [answers] });
  const client = new FrameClient(server.running.port);
  client.socket.write(getRoot(1));
  await eventually(() => client.countOf(frameTypes.headers, 1) === 1);
  const draining = server.running.drain({ delayMs: 100, graceMs: 600_000 });
  client.socket.write(getRoot(3));
  await once(client.socket, 'close');
  await draining;
  const last = client.frames
    .filter((one) => one.type === frameTypes.goaway)
    .map(({ payload }) => payload.readUInt32BE(0))
    .at(-1);
  expect(last).toBe(client.countOf(frameTypes.headers, 3) === 1 ? 3 : 1);
});

test('the end of a client that was told to go is seen', async () => {
  await using server = await startTestServer({ filters: [answers], goawayChance: 1 });
  const client = new FrameClient(server.running.port);
  client.socket.write(getRoot(1));
  await eventually(() => client.countOf(frameTypes.goaway) > 0);
  await eventually(() => client.countOf(frameTypes.headers, 1) === 1);
  const closed = once(client.socket, 'close');
  client.socket.end();
  await closed;
});
