// The transport of its own beside Node's HTTP/2 and TLS.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import type { TlsOptions } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { writeTlsFiles } from '../testing/tls-files.ts';
import type { Channel, TlsSecrets } from './channel.ts';
import { Http2Channel } from './http2-channel.ts';
import { frameType } from '../../http2/frames.ts';
import { closeAll, echo, failureOf, onClosing, play, soon } from './testing/played-channel.ts';
import { terms } from './testing/played-channel.ts';
import { answerFrames } from './testing/raw-member.ts';
import { newFrame } from '../../http2/frames.ts';
import { RawConnection, uint32 } from '../../http2/testing/raw-connection.ts';

afterEach(closeAll);

async function channelTo(
  server: Server,
  secrets?: TlsSecrets,
  host = '127.0.0.1',
): Promise<Channel> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target = `${host}:${String((server.address() as AddressInfo).port)}`;
  const options = { target, secrets, keepaliveMs: 10_000, onLost: () => {} };
  const channel = new Http2Channel(options);
  onClosing(() => {
    channel.close();
    server.close();
  });
  return channel;
}

test('every character of a field, in the Huffman code of another implementation', async () => {
  const server = createHttp2Server();
  // Frequent letters around them: a string is coded where that makes it shorter.
  const messages: string[] = [];
  for (let code = 0x20; code <= 0xff; code++) {
    if (code !== 0x7f && code !== 0x25)
      messages.push(`${'e'.repeat(20)}${String.fromCharCode(code)}o`);
  }
  let index = 0;
  server.on('stream', (stream) => {
    const status = { 'grpc-status': '13', 'grpc-message': messages[index++] };
    stream.respond({ ':status': 200, ...status }, { endStream: true });
  });
  const channel = await channelTo(server);
  expect(await channel.connect(soon())).toBe(true);
  const seen: string[] = [];
  for (const _ of messages) seen.push((await failureOf(channel.call(echo, '', terms()))).message);
  expect(seen).toEqual(messages.map((message) => message));
});

test('a channel that is closed ends calls on the connections that took no more', async () => {
  const { channel, connection } = await play();
  const call = channel.call(echo, 'x', terms());
  await connection.next(frameType.data);
  connection.write(newFrame({ type: frameType.goAway }, uint32(1, 0)));
  await connection.untilPong();
  channel.close();
  expect((await failureOf(call)).message).not.toMatch(/took no call/);
  expect(await connection.frame()).toBeUndefined();
});

describe('over TLS', () => {
  async function member(
    own: TlsOptions,
  ): Promise<{ server: Server; secrets: TlsSecrets; sockets: Socket[] }> {
    const folder = mkdtempSync(join(tmpdir(), 'etcd-tls-'));
    onClosing(() => {
      rmSync(folder, { recursive: true });
    });
    const files = await writeTlsFiles(folder);
    const sockets: Socket[] = [];
    const server = createTlsServer(
      {
        cert: readFileSync(files.serverCertFile),
        key: readFileSync(files.serverKeyFile),
        ca: readFileSync(files.caFile),
        requestCert: true,
        ...own,
      },
      (socket) => sockets.push(socket),
    );
    server.on('connection', (socket: Socket) => {
      onClosing(() => socket.destroy());
    });
    const secrets = {
      ca: readFileSync(files.caFile),
      cert: readFileSync(files.certFile),
      key: readFileSync(files.keyFile),
    };
    return { server, secrets, sockets };
  }

  test('a member that shows its certificate, asks for ours, and speaks HTTP/2', async () => {
    const { server, secrets } = await member({ ALPNProtocols: ['h2'], rejectUnauthorized: true });
    const connected = new Promise<RawConnection>((resolve) => {
      server.on('secureConnection', (socket: Socket) => {
        resolve(new RawConnection(socket, { ofClient: true }));
      });
    });
    const channel = await channelTo(server, secrets);
    const connecting = channel.connect(soon());
    const connection = await connected;
    connection.greet();
    expect(await connecting).toBe(true);
    const text = 'x'.repeat(50_000);
    const calls = [1, 3, 5].map(() => channel.call(echo, text, terms()));
    await connection.next(frameType.data);
    connection.write(...[1, 3, 5].map((id) => answerFrames(id, String(id))));
    expect(await Promise.all(calls)).toEqual(['1', '3', '5']);
  });

  test.each<[string, TlsOptions]>([
    ['no protocol', {}],
    ['another protocol', { ALPNProtocols: ['http/1.1'] }],
    ['that it wants another client', { ALPNProtocols: ['h2'], rejectUnauthorized: true, ca: [] }],
  ])('a member that says %s is not connected to', async (_claim, own) => {
    const { server, secrets } = await member(own);
    server.on('secureConnection', (socket: Socket) => {
      socket.on('error', () => undefined);
    });
    const channel = await channelTo(server, secrets);
    expect(await channel.connect(soon())).toBe(false);
  });

  test('a member whose certificate is of somebody else is not connected to', async () => {
    const { server } = await member({ ALPNProtocols: ['h2'] });
    const channel = await channelTo(server, { ca: null, cert: null, key: null });
    expect(await channel.connect(soon())).toBe(false);
  });
});
