import { expect, test } from '@jest/globals';
import { readBody } from './body.ts';
import type { Filter } from './request-context.ts';
import { connectRaw, eventually, request1, startTestServer } from './testing/test-server.ts';

const answerBytes = 20_000_000; // more than the kernel keeps of a connection
const bodyBytes = 300_000; // several records of TLS

/** GET: a large answer. PUT: the length of its body. `begun` counts both. */
function sizes(): { readonly filter: Filter; readonly begun: () => number } {
  let count = 0;
  const filter: Filter = async (request, response) => {
    count++;
    if (request.method === 'GET') {
      response.end('x'.repeat(answerBytes));
      return;
    }
    const body = await readBody(request, request.context.signal);
    response.end(`put ${String(body.length)}\n`);
  };
  return { filter, begun: () => count };
}

const get = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n';
const put =
  `PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(bodyBytes)}\r\n\r\n` +
  'y'.repeat(bodyBytes);

test('a request that comes while the answer before it is still being sent is served', async () => {
  const { filter, begun } = sizes();
  await using server = await startTestServer({ filters: [filter] });
  const { socket, received } = await connectRaw(server);
  socket.pause();
  socket.write(get);
  await eventually(() => begun() === 1);
  socket.write(put);
  await eventually(() => begun() === 2);
  socket.resume();
  await eventually(() => received().endsWith(`put ${String(bodyBytes)}\n`));
  socket.destroy();
});

test('who sends on without reading any answer is not read further', async () => {
  const { filter, begun } = sizes();
  await using server = await startTestServer({ filters: [filter] });
  const { socket } = await connectRaw(server);
  socket.pause();
  for (let count = 0; count < 50; count++) {
    socket.write(get);
    await request1(server, '/other', { method: 'PUT' });
  }
  expect(begun() - 50).toBeLessThan(5);
  socket.destroy();
});
