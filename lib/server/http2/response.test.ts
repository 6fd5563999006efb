import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http2';
import { Readable } from 'node:stream';
import { silentRequestMetrics } from '../../telemetry/testing/silent-request-metrics.ts';
import { readBody } from '../body.ts';
import type { Filter, RequestContext } from '../request-context.ts';
import { sendNow } from '../respond.ts';
import { writableOf } from '../taken-over.ts';
import { connect2, eventually, request2, startTestServer } from '../testing/test-server.ts';

const text = { status: 200, contentType: 'text/plain' };
const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR } = http2.constants;

describe('a client that leaves', () => {
  test.each(['GET', 'HEAD', 'POST'])(
    'before the answer to a %s ends its request',
    async (method) => {
      let open: RequestContext | undefined;
      const codes: number[] = [];
      const filter: Filter = async (request, response) => {
        open = request.context;
        await once(open.signal, 'abort');
        sendNow(request, response, text, Buffer.from('nobody reads this'));
      };
      const metrics = {
        ...silentRequestMetrics,
        finished: (_kind: unknown, _labels: unknown, { code }: { readonly code: number }) =>
          void codes.push(code),
      };
      await using server = await startTestServer({ filters: [filter], metrics });
      const session = await connect2(server);
      const stream = session.request({ ':path': '/', ':method': method }, { endStream: false });
      await eventually(() => open !== undefined);
      stream.close(NGHTTP2_CANCEL);
      await eventually(() => codes.length > 0);
      expect(open?.endedWith?.message).toBe('the client closed the connection');
      expect(codes).toEqual([0]); // it was never answered
      session.close();
    },
  );

  test('in the middle of its body is not taken to have sent all of it', async () => {
    const outcomes: unknown[] = [];
    const filter: Filter = async (request) => {
      await readBody(request, request.context.signal).then(
        ({ length }) => outcomes.push(length),
        (error: unknown) => outcomes.push(String(error)),
      );
      throw request.context.endedWith ?? new Error('it is there');
    };
    await using server = await startTestServer({ filters: [filter] });
    const session = await connect2(server);
    const stream = session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    stream.on('error', () => undefined).write('a part');
    await new Promise((resolve) => setTimeout(resolve, 50));
    session.destroy(); // the end of a stream alone would send the end of its body first
    await eventually(() => outcomes.length > 0);
    expect(outcomes).toEqual(['RequestEnded: the client closed the connection']);
  });
});

test('a client that asks for it is told to send its body, once', async () => {
  const filter: Filter = async (request, response) => {
    sendNow(request, response, text, await readBody(request, request.context.signal));
  };
  await using server = await startTestServer({ filters: [filter] });
  const session = await connect2(server);
  const head = { ':path': '/', ':method': 'POST', expect: '100-continue' };
  const stream = session.request(head, { endStream: false });
  await once(stream, 'continue');
  const answered = once(stream, 'response');
  stream.end('abc');
  expect(((await answered) as [IncomingHttpHeaders])[0][':status']).toBe(200);
  expect(String((await stream.toArray())[0])).toBe('abc');
  session.close();
});

test('CONNECT is no method', async () => {
  await using server = await startTestServer();
  const session = await connect2(server);
  const stream = session.request({ ':method': 'CONNECT', ':authority': 'a' });
  const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  expect(Number(head[':status'])).toBe(405);
  session.destroy();
});

describe('what is piped through a response', () => {
  const length = 3_000_000;

  test('arrives whole, with its status, at a client that reads late', async () => {
    const filter: Filter = (_request, response) => {
      const writable = writableOf(response);
      writable.statusCode = 203;
      Readable.from([Buffer.alloc(length, 'a'), Buffer.from('end')]).pipe(writable);
    };
    await using server = await startTestServer({ filters: [filter] });
    const session = await connect2(server);
    const stream = session.request({ ':path': '/' });
    const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    await new Promise((resolve) => setTimeout(resolve, 100));
    const body = Buffer.concat(await stream.toArray());
    expect([head[':status'], body.length, body.subarray(-4).toString()]).toEqual([
      203,
      length + 3,
      'aend',
    ]);
    expect((await request2(session, '/')).status).toBe(203);
    session.close();
  });

  test('is cut where it fails', async () => {
    const filter: Filter = (_request, response) => {
      const writable = writableOf(response);
      writable.write('a part');
      setTimeout(() => writable.destroy(new Error('the backend is gone')), 50);
    };
    await using server = await startTestServer({ filters: [filter] });
    const session = await connect2(server);
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => undefined).resume();
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    expect(stream.rstCode).toBe(NGHTTP2_INTERNAL_ERROR);
    session.close();
  });
});
