// Where a watch's frames go: an HTTP response here, a WebSocket in websocket.ts.
import type { Socket } from 'node:net';
import { cut } from './cut.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import { drained, writeHead } from './respond.ts';

export interface WatchSink {
  /** Adds a frame to what the next flush sends. */
  write(frame: Uint8Array): void;
  /** False: the client is behind; wait for `drained` before the next events. */
  flush(): boolean;
  /** @throws the signal's reason. */
  drained(signal: AbortSignal): Promise<void>;
  end(): void;
  destroy(): void;
}

/** Headers go out at once: a client waits for them before the first event. */
export function httpSink(
  request: HttpRequest,
  response: HttpResponse,
  contentType: string,
): WatchSink {
  writeHead(request, response, { status: 200, contentType }, undefined);
  (response as { flushHeaders(): void }).flushHeaders();
  const socket = chunkedSocket(response);
  let gathered: Uint8Array[] = [];
  return {
    write: (frame) => void gathered.push(frame),
    flush() {
      if (gathered.length === 0) return !(socket ?? response).writableNeedDrain;
      const batch = joined(gathered);
      gathered = [];
      if (socket === undefined) {
        return (response as { write(chunk: Uint8Array): boolean }).write(batch.bytes);
      }
      batch.chunk ??= chunkOf(batch.bytes);
      return socket.write(batch.chunk);
    },
    drained: (signal) => {
      const sink = socket ?? response;
      return sink.writableNeedDrain ? drained(sink, signal) : Promise.resolve();
    },
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

function joined(frames: readonly Uint8Array[]): Batch {
  const isLast =
    last?.frames.length === frames.length &&
    frames.every((frame, at) => frame === last?.frames[at]);
  if (isLast && last !== undefined) return last;
  const [first] = frames;
  const bytes = frames.length === 1 && first !== undefined ? first : Buffer.concat(frames);
  last = { frames, bytes, chunk: undefined };
  return last;
}

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
