// The numbers of HTTP/2 (RFC 9113), and the frames that this side sends.

export const frameType = {
  data: 0,
  headers: 1,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const frameFlag = {
  /** Of DATA and HEADERS. */
  endStream: 0x01,
  /** Of SETTINGS and PING. */
  ack: 0x01,
  endHeaders: 0x04,
  padded: 0x08,
  priority: 0x20,
} as const;

export const settingId = {
  headerTableSize: 1,
  enablePush: 2,
  concurrentStreamsMax: 3,
  initialWindowSize: 4,
  frameSizeMax: 5,
  headerListSizeMax: 6,
} as const;

export const http2Code = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
} as const;

export const frameHeadBytes = 9;
/** Of a window, of a stream's id. */
export const uint31Max = 2 ** 31 - 1;
/** What holds until a side says otherwise. */
export const defaultWindowBytes = 65_535;
export const defaultFrameBytesMax = 16_384;

/** The other side broke the protocol: the connection ends, and tells it `code`. */
export class Http2Error extends Error {
  readonly code: number;
  constructor(code: number, details: string) {
    super(details);
    this.code = code;
  }
}

/** @throws Http2Error */
export function requireConnection(streamId: number): void {
  if (streamId === 0) return;
  throw new Http2Error(http2Code.protocolError, 'a frame of the connection, on a stream');
}

/** @throws Http2Error */
export function requireLength(payload: Buffer, bytes: number): void {
  if (payload.length === bytes) return;
  const words = `a frame of ${String(payload.length)} bytes where ${String(bytes)} belong`;
  throw new Http2Error(http2Code.frameSizeError, words);
}

export interface FrameHead {
  readonly type: number;
  readonly flags?: number;
  readonly streamId?: number;
}

export function newFrame({ type, flags = 0, streamId = 0 }: FrameHead, payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(frameHeadBytes + payload.length);
  frame.writeUIntBE(payload.length, 0, 3);
  frame[3] = type;
  frame[4] = flags;
  frame.writeUInt32BE(streamId, 5);
  frame.set(payload, frameHeadBytes);
  return frame;
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export const settingsAck = newFrame(
  { type: frameType.settings, flags: frameFlag.ack },
  Buffer.alloc(0),
);

export const pingFrame = (payload: Buffer, flags = 0): Buffer =>
  newFrame({ type: frameType.ping, flags }, payload);

/** Of a stream, or of all together (0). */
export const windowUpdate = (streamId: number, bytes: number): Buffer =>
  newFrame({ type: frameType.windowUpdate, streamId }, uint32(bytes));

export const resetStream = (streamId: number, code: number): Buffer =>
  newFrame({ type: frameType.resetStream, streamId }, uint32(code));

/** The other side has begun no stream. */
export const goAway = (code: number, details: string): Buffer =>
  newFrame(
    { type: frameType.goAway },
    Buffer.concat([uint32(0), uint32(code), Buffer.from(details)]),
  );

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export interface OwnSettings {
  readonly windowBytes: number;
  readonly headerListBytesMax: number;
}

/** The first bytes of a connection: no dynamic table, no pushes, large windows. */
export function greeting({ windowBytes, headerListBytesMax }: OwnSettings): Buffer {
  const settings = Buffer.concat(
    [
      [settingId.headerTableSize, 0] as const,
      [settingId.enablePush, 0] as const,
      [settingId.initialWindowSize, windowBytes] as const,
      [settingId.headerListSizeMax, headerListBytesMax] as const,
    ].map(([id, value]) => Buffer.concat([Buffer.of(0, id), uint32(value)])),
  );
  return Buffer.concat([
    preface,
    newFrame({ type: frameType.settings }, settings),
    windowUpdate(0, windowBytes - defaultWindowBytes),
  ]);
}
