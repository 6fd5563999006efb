// Connections that another process has accepted are served as those of an own port.
import { expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import type { ConnectionSource } from './connection-source.ts';
import type { Filter } from './request-context.ts';
import { sendNow } from './respond.ts';
import {
  connect2,
  connectRaw,
  request1,
  request2,
  shortTimeouts,
  startTestServer,
} from './testing/test-server.ts';

const hello: Filter = (request, response) => {
  sendNow(request, response, { status: 200, contentType: 'text/plain' }, Buffer.from('hello'));
};

const taken = (server: Server, closed: string[]): ConnectionSource => ({
  open: ({ bindAddress, port }, take) =>
    new Promise((resolve) => {
      server.on('connection', take).listen(port, bindAddress, () => {
        resolve((server.address() as AddressInfo).port);
      });
    }),
  close: () => {
    closed.push('closed');
    server.close();
    return Promise.resolve();
  },
});

test('are served over both protocols, and drained', async () => {
  const closed: string[] = [];
  const source = taken(createServer({ pauseOnConnect: true }), closed);
  const server = await startTestServer({ filters: [hello], source });
  const session = await connect2(server);
  expect((await request1(server, '/a')).status).toBe(200);
  expect((await request2(session, '/a')).status).toBe(200);
  session.close();
  await server.running.drain({ delayMs: 0, graceMs: 1_000 });
  expect(closed).toEqual(['closed']);
});

test('are watched for heads that do not end', async () => {
  const source = taken(createServer({ pauseOnConnect: true }), []);
  const timeouts = { ...shortTimeouts, headersMs: 100 };
  await using server = await startTestServer({ filters: [hello], source, timeouts });
  const { socket, closed } = await connectRaw(server);
  socket.write('GET /a HTTP/1.1\r\nhost: a\r\n');
  expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
});
