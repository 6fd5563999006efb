// Where a watch's frames go: an HTTP response here, a WebSocket in websocket.ts.
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
  let gathered: Uint8Array[] = [];
  return {
    write: (frame) => void gathered.push(frame),
    flush() {
      const [first] = gathered;
      if (first === undefined) return !response.writableNeedDrain;
      const bytes = gathered.length === 1 ? first : Buffer.concat(gathered);
      gathered = [];
      return (response as { write(chunk: Uint8Array): boolean }).write(bytes);
    },
    drained: (signal) =>
      response.writableNeedDrain ? drained(response, signal) : Promise.resolve(),
    end: () => response.end(),
    destroy: () => cut(response),
  };
}
