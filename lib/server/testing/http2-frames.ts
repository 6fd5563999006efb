// HTTP/2 by hand: frames (RFC 9113 §4.1) that no client library would send.
import { newFrame, preface as prefaceBytes, settingsFrame } from '../../http2/frames.ts';

const nothing = Buffer.alloc(0);

export const frame = (type: number, flags: number, streamId: number, payload = nothing): Buffer =>
  newFrame({ type, flags, streamId }, payload);

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
export const preface = Buffer.concat([prefaceBytes, settingsFrame([])]);

/** GET https://a/ by HPACK's static table. */
export const getHeaders = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x61]);
