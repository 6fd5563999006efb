// Where a watch's frames go: an HTTP response here, a WebSocket in websocket.ts.
import type { Socket } from 'node:net';
import { cut } from './cut.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import { drained, writeHead } from './respond.ts';

export interface WatchSink {
  /** Adds a frame to what the next flush sends. */
  write(frame: Uint8Array): void;
  /** The same of several, which others may be given, too. */
  writeAll(frames: readonly Uint8Array[]): void;
  /** False: the client is behind; wait for `drained` before the next events. */
  flush(): boolean;
  /** @throws the signal's reason. */
  drained(signal: AbortSignal): Promise<void>;
  end(): void;
  destroy(): void;
}

/**
 * Headers go out at once: a client waits for them before the first event. Over HTTP/2 the stream is
 * written to, without the response that stands before it.
 */
export function httpSink(
  request: HttpRequest,
  response: HttpResponse,
  contentType: string,
): WatchSink {
  writeHead(request, response, { status: 200, contentType }, undefined);
  (response as { flushHeaders(): void }).flushHeaders();
  const socket = chunkedSocket(response);
  const sink = socket ?? ('stream' in response ? response.stream : response);
  let gathered: readonly Uint8Array[] = nothing;
  const add = (frames: readonly Uint8Array[]): void => {
    gathered = gathered.length === 0 ? frames : [...gathered, ...frames];
  };
  return {
    write: (frame) => add([frame]),
    writeAll: add,
    flush() {
      if (gathered.length === 0) return !sink.writableNeedDrain;
      const batch = joined(gathered);
      gathered = nothing;
      const bytes = socket === undefined ? batch.bytes : (batch.chunk ??= chunkOf(batch.bytes));
      return (sink as { write(chunk: Uint8Array): boolean }).write(bytes);
    },
    drained: (signal) => (sink.writableNeedDrain ? drained(sink, signal) : Promise.resolve()),
    end: () => response.end(),
    destroy: () => cut(response),
  };
}

/**
 * Frames that were sent together. Many watchers send the same ones in the same turn: made once for
 * all of them.
 */
interface Batch {
  readonly frames: readonly Uint8Array[];
  readonly bytes: Uint8Array;
  /** `bytes` as a chunk of HTTP/1.1. */
  chunk: Uint8Array | undefined;
}
let last: Batch | undefined;
const nothing: readonly Uint8Array[] = [];

function joined(frames: readonly Uint8Array[]): Batch {
  if (last !== undefined && isSame(last.frames, frames)) return last;
  const [first] = frames;
  const bytes = frames.length === 1 && first !== undefined ? first : Buffer.concat(frames);
  last = { frames, bytes, chunk: undefined };
  return last;
}

const isSame = (one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean =>
  one === other ||
  (one.length === other.length && one.every((frame, index) => frame === other[index]));

/**
 * The socket of an HTTP/1.1 response whose body goes out in chunks; undefined: only the response
 * can write. Node's response writes length, bytes and end of a chunk one by one, which costs a
 * watch as much as the bytes do.
 */
function chunkedSocket(response: HttpResponse): Socket | undefined {
  if ('stream' in response || !response.chunkedEncoding) return undefined;
  return response.socket ?? undefined;
}

const chunkEnd = Buffer.from('\r\n');
const chunkOf = (bytes: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`, 'latin1'), bytes, chunkEnd]);
