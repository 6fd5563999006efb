// Node's own client with many requests at once, and clients that send random frames: those are told
// of their faults, others are served, and nothing is thrown.
import { once } from 'node:events';
import { beforeEach, expect, test } from '@jest/globals';
import { frameFlag, frameType, newFrame, preface, resetStream } from '../../http2/frames.ts';
import { settingsFrame, windowUpdate } from '../../http2/frames.ts';
import { randomOf } from '../../http2/testing/random.ts';
import type { Below } from '../../http2/testing/random.ts';
import { dataFrame, headersFrame } from '../../http2/testing/raw-connection.ts';
import type { Filter } from '../request-context.ts';
import { connect2, request2 } from '../testing/test-server.ts';
import { block, connectSocket, contents, counted, echo, get } from './testing/played-client.ts';
import { headBlock, pattern, post, playedServer } from './testing/played-client.ts';

const seed = Number(process.env['FRAMES_SEED'] ?? Date.now() % 1_000_000);
const count = Number(process.env['FRAMES_COUNT'] ?? 300);

/** By its path: a body of so many bytes, or the one that it has brought. */
const answer: Filter = (request, response, next) =>
  /^\/\d+$/.test(request.url ?? '')
    ? counted(request, response, next)
    : echo(request, response, next);

const played = playedServer();
beforeEach(() => {
  played.answer = answer;
});

test(`Node's client: bodies come back, many at once (FRAMES_SEED=${String(seed)})`, async () => {
  const below = randomOf(seed);
  // Without it the client refuses streams itself, at 10 MB.
  const session = await connect2(played.server, { maxSessionMemory: 100 });
  const all = Array.from({ length: 200 }, async (_, at) => {
    const body = Buffer.concat([Buffer.from(`${String(at)} `), pattern(below(2) * below(200_000))]);
    const length = below(2) === 0 ? {} : { 'content-length': body.length };
    const head = { ':path': '/', ':method': 'POST', ...length, cookie: ['a=b', 'c=d'] };
    const stream = session.request(head);
    stream.end(body);
    // By events: whoever begins to iterate when all has come is told of a premature close.
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(stream, 'end');
    return stream.rstCode === 0 && Buffer.concat(chunks).equals(body);
  });
  expect(new Set(await Promise.all(all))).toEqual(new Set([true]));
  expect(session.destroyed).toBe(false);
  session.destroy();
});

const some = (below: Below): Buffer =>
  Buffer.from(Array.from({ length: below(30) }, () => below(256)));
const kept = block(['x', 'kept']);
kept[0] = 0x40;

/** Mostly of what a client may send. */
function randomFrame(below: Below): Buffer {
  const id = 2 * below(8) + (below(8) === 0 ? 0 : 1);
  const last = below(2) === 0 ? frameFlag.endStream : 0;
  switch (below(14)) {
    case 0:
      return get(id, `/${String(below(100_000))}`);
    case 1:
      return post(id, below(2) === 0 ? {} : { 'content-length': String(below(40)) });
    case 2:
      return dataFrame(id, some(below), last);
    case 3:
      return contents(id, below(3) === 0 ? below(300_000) : below(20_000));
    case 4:
      return headersFrame(id, Buffer.concat([headBlock('POST'), kept, Buffer.of(0xbe)]), last);
    case 5:
      return get(id, `/${some(below).toString('latin1')}`, { expect: '100-continue' });
    case 6:
      return headersFrame(
        id,
        block([some(below).toString('latin1'), some(below).toString()]),
        last,
      );
    case 7:
      return windowUpdate(
        below(3) === 0 ? 0 : id,
        below(4) === 0 ? below(2 ** 31) : below(100_000),
      );
    case 8:
      return resetStream(id, below(14));
    case 9:
      return settingsFrame([[below(8), below(3) === 0 ? below(2 ** 32) : below(100_000)]]);
    case 10:
      return newFrame({ type: frameType.ping, flags: below(2) }, Buffer.alloc(8));
    case 11:
      return headersFrame(id, block(['trailer', 'x']), frameFlag.endStream);
    case 12: {
      const head = headBlock('PUT');
      const at = below(head.length);
      return Buffer.concat([
        newFrame({ type: frameType.headers, flags: last, streamId: id }, head.subarray(0, at)),
        newFrame({ type: frameType.continuation, flags: 4, streamId: id }, head.subarray(at)),
      ]);
    }
    default:
      return newFrame({ type: below(11), flags: below(64), streamId: id }, some(below));
  }
}

function randomFrames(below: Below): Buffer {
  const frames = [preface, settingsFrame([])];
  for (let left = below(25); left > 0; left--) frames.push(randomFrame(below));
  const bytes = Buffer.concat(frames);
  for (let faults = below(4) - 2; faults > 0; faults--) bytes[below(bytes.length)] = below(256);
  return bytes;
}

test(`random frames leave others served (FRAMES_SEED=${String(seed)})`, async () => {
  const thrown: unknown[] = [];
  const onThrown = (error: unknown): void => void thrown.push(error);
  process.on('uncaughtExceptionMonitor', onThrown);
  const other = await connect2(played.server);
  for (let index = 0; index < count; index++) {
    const below = randomOf(seed + index);
    const bytes = randomFrames(below);
    const socket = await connectSocket(played.server);
    socket.on('error', () => undefined).resume();
    const closed = once(socket, 'close');
    for (let at = 0; at < bytes.length && socket.writable;) {
      const to = at + 1 + below(below(2) === 0 ? 50_000 : 2_000);
      socket.write(bytes.subarray(at, to));
      at = to;
      if (below(3) === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (below(2) === 0) socket.end();
    else socket.destroy();
    await closed;
    if (index % 10 === 0 || thrown.length > 0) {
      const { status, body } = await request2(other, '/', { method: 'POST', body: 'x' });
      expect([index, status, body.toString(), thrown]).toEqual([index, 200, 'x', []]);
    }
  }
  process.off('uncaughtExceptionMonitor', onThrown);
  expect(played.server.log.filter((line) => line.includes('bug'))).toEqual([]);
  other.destroy();
});
