// The responses of one connection on their way to the socket: a frame of each stream in turn, as
// far as the client's windows and the socket take them.
import type { Socket } from 'node:net';
import { LinkedList } from '../../base/linked-list.ts';
import { defaultFrameBytesMax, frameFlag, frameHeadBytes } from '../../http2/frames.ts';
import { frameType, newFrame, putFrameHead } from '../../http2/frames.ts';
import { Sender } from '../../http2/sender.ts';
import type { StreamTable } from '../../http2/stream-table.ts';
import { responseBlock } from './response-head.ts';
import type { Http2Stream } from './stream.ts';

/**
 * Begins the first block: no field is kept in the client's table, whose size it may then set to
 * what it likes (RFC 7541, section 4.2).
 */
const noTable = Buffer.of(0x20);

export class ResponseSender extends Sender<Http2Stream> {
  readonly #onSent: (stream: Http2Stream) => void;
  readonly #unsent = new LinkedList<Http2Stream>();
  #hasSaidNoTable = false;

  /** `onSent`: the client has the whole response. */
  constructor(
    socket: Socket,
    streams: StreamTable<Http2Stream>,
    onSent: (stream: Http2Stream) => void,
  ) {
    super(socket, streams, 1);
    this.#onSent = onSent;
  }

  get newStreamWindow(): number {
    return this.streamWindow;
  }

  hasMore(stream: Http2Stream): void {
    this.#unsent.add(stream);
    this.schedule();
  }

  withdraw(stream: Http2Stream): void {
    this.#unsent.delete(stream);
  }

  sayContinue(stream: Http2Stream): void {
    this.#putBlock(stream.id, responseBlock(100, {}), 0);
    this.schedule();
  }

  protected get hasUnsent(): boolean {
    return this.#unsent.size > 0;
  }

  /** Nothing is pushed. */
  protected setStreamsMax(): void {
    // A client's limit is one for streams of the server.
  }

  /** Who has had its turn goes to the end: it is the next one's, also after a wait. */
  protected putStreams(): void {
    for (let stream = this.#unsent.first; stream !== undefined;) {
      if (this.isFull()) return;
      const { after } = stream;
      const isMoved = this.#put(stream) && this.#unsent.delete(stream);
      if (isMoved) this.#unsent.add(stream);
      const next = after ?? (isMoved ? stream : undefined);
      // Whoever is told that a stream has ended may end others.
      stream = next === undefined || this.#unsent.has(next) ? next : this.#unsent.first;
    }
  }

  /** What comes next of a stream, a frame of contents at most; false: it has to wait. */
  #put(stream: Http2Stream): boolean {
    const { outgoingHead } = stream;
    if (outgoingHead !== undefined) {
      stream.outgoingHead = undefined;
      const isAll = stream.isEnded && stream.chunk === undefined;
      const block = responseBlock(outgoingHead.status, outgoingHead.headers);
      this.#putBlock(stream.id, block, isAll ? frameFlag.endStream : 0);
      if (isAll) {
        this.#sent(stream);
        return true;
      }
    }
    if (stream.chunk !== undefined) return this.#putData(stream);
    if (stream.isEnded) {
      this.batch.put(lastFrame(stream.id));
      this.#sent(stream);
    } else {
      this.#unsent.delete(stream);
    }
    return true;
  }

  #sent(stream: Http2Stream): void {
    stream.isSent = true;
    this.#unsent.delete(stream);
    this.#onSent(stream);
  }

  #putBlock(streamId: number, block: Buffer, flags: number): void {
    const whole = this.#hasSaidNoTable ? block : Buffer.concat([noTable, block]);
    this.#hasSaidNoTable = true;
    let type: number = frameType.headers;
    let from = 0;
    do {
      const to = Math.min(from + defaultFrameBytesMax, whole.length);
      const isLast = to === whole.length ? frameFlag.endHeaders : 0;
      const slab = this.batch.room(frameHeadBytes + to - from);
      const { at } = this.batch;
      putFrameHead(slab, at, to - from, {
        type,
        flags: (type === frameType.headers ? flags : 0) | isLast,
        streamId,
      });
      whole.copy(slab, at + frameHeadBytes, from, to);
      this.batch.advance(at + frameHeadBytes + to - from);
      type = frameType.continuation;
      from = to;
    } while (from < whole.length);
  }

  /** As much of a chunk as one frame and the windows take; false: nothing. */
  #putData(stream: Http2Stream): boolean {
    const { chunk, sentBytes } = stream;
    if (chunk === undefined) return false;
    const { bytes: contents, onWritten } = chunk;
    const leftBytes = contents.length - sentBytes;
    const windowBytes = Math.max(Math.min(this.window, stream.sendWindow), 0);
    const bytes = Math.min(leftBytes, windowBytes, defaultFrameBytesMax);
    if (bytes === 0 && leftBytes > 0) return false;
    const isWholeChunk = bytes === leftBytes;
    const isAll = isWholeChunk && stream.isEnded && (stream.later?.length ?? 0) === 0;
    const slab = this.batch.room(frameHeadBytes + bytes);
    const { at } = this.batch;
    const flags = isAll ? frameFlag.endStream : 0;
    putFrameHead(slab, at, bytes, { type: frameType.data, flags, streamId: stream.id });
    const part =
      bytes === contents.length ? contents : contents.subarray(sentBytes, sentBytes + bytes);
    slab.set(part, at + frameHeadBytes);
    this.batch.advance(at + frameHeadBytes + bytes);
    this.window -= bytes;
    stream.sendWindow -= bytes;
    stream.unsentBytes -= bytes;
    stream.session.unsentBytes -= bytes;
    if (!isWholeChunk) {
      stream.sentBytes = sentBytes + bytes;
      return true;
    }
    stream.sentBytes = 0;
    stream.chunk = stream.later?.shift();
    onWritten?.();
    if (isAll) this.#sent(stream);
    else if (stream.chunk === undefined) this.#emptied(stream);
    return true;
  }

  #emptied(stream: Http2Stream): void {
    if (!stream.isEnded) this.#unsent.delete(stream);
    if (!stream.writableNeedDrain) return;
    stream.writableNeedDrain = false;
    stream.emit('drain');
  }
}

const nothing = Buffer.alloc(0);
const lastFrame = (streamId: number): Buffer =>
  newFrame({ type: frameType.data, flags: frameFlag.endStream, streamId }, nothing);
