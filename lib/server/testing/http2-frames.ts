// HTTP/2 by hand: frames (RFC 9113 §4.1) that no client library would send.

export const frameTypes = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  reset: 0x3,
  settings: 0x4,
  ping: 0x6,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;

export const endOfStream = 0x1;
export const endOfHeaders = 0x4;

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

/** The whole ones of what was received. */
export function framesIn(bytes: Buffer): { type: number; flags: number; streamId: number }[] {
  const frames = [];
  for (let at = 0; at + 9 <= bytes.length;) {
    const next = at + 9 + bytes.readUIntBE(at, 3);
    if (next > bytes.length) break;
    const streamId = bytes.readUInt32BE(at + 5);
    frames.push({ type: bytes.readUInt8(at + 3), flags: bytes.readUInt8(at + 4), streamId });
    at = next;
  }
  return frames;
}

/** What a client begins with, and its settings. */
export const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(frameTypes.settings, 0, 0),
]);

/** GET https://a/ by HPACK's static table. */
export const getHeaders = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x61]);
