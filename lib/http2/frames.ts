// The numbers of HTTP/2 (RFC 9113), and frames that are sent.

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
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

export interface FrameHead {
  readonly type: number;
  readonly flags?: number;
  readonly streamId?: number;
}

export function newFrame(head: FrameHead, payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(frameHeadBytes + payload.length);
  putFrameHead(frame, 0, payload.length, head);
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

/** `lastId`: streams above it that the other side has begun are not, and will not be, looked at. */
export const goAway = (lastId: number, code: number, details = ''): Buffer =>
  newFrame(
    { type: frameType.goAway },
    Buffer.concat([uint32(lastId), uint32(code), Buffer.from(details)]),
  );

export const settingsFrame = (
  settings: readonly (readonly [id: number, value: number])[],
): Buffer =>
  newFrame(
    { type: frameType.settings },
    Buffer.concat(settings.map(([id, value]) => Buffer.concat([Buffer.of(0, id), uint32(value)]))),
  );

/** What a client says first, before its SETTINGS. */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export function putFrameHead(
  slab: Buffer,
  at: number,
  length: number,
  { type, flags = 0, streamId = 0 }: FrameHead,
): void {
  slab[at] = length >>> 16;
  slab[at + 1] = length >>> 8;
  slab[at + 2] = length;
  slab[at + 3] = type;
  slab[at + 4] = flags;
  slab[at + 5] = streamId >>> 24;
  slab[at + 6] = streamId >>> 16;
  slab[at + 7] = streamId >>> 8;
  slab[at + 8] = streamId;
}
