// Where a watch's frames go: an HTTP response here, a WebSocket in websocket.ts.
import type { HttpRequest, HttpResponse } from './request-context.ts';
import { drained, writeHead } from './respond.ts';

export interface WatchSink {
  /** False: the client is behind; wait for `drained` before the next events. */
  write(frame: Uint8Array): boolean;
  /** Sends what the writes since the last flush gathered. */
  flush(): void;
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
  const send = (bytes: Uint8Array): boolean =>
    (response as { write(chunk: Uint8Array): boolean }).write(bytes);
  return {
    write(frame) {
      gathered.push(frame);
      return !response.writableNeedDrain;
    },
    flush() {
      const [only] = gathered;
      if (only === undefined) return;
      send(gathered.length === 1 ? only : Buffer.concat(gathered));
      gathered = [];
    },
    drained: (signal) =>
      response.writableNeedDrain ? drained(response, signal) : Promise.resolve(),
    end: () => response.end(),
    destroy: () => response.destroy(),
  };
}
