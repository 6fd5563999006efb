// Watches over WebSocket: the same path with an Upgrade, one text frame per event.
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { badRequest } from '../base/status.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import type { WatchSink } from './watch-sink.ts';

/** Bytes on their way to the client above which its watch waits. */
const bufferedBytesMax = 1024 * 1024;
/** Frames of clients carry nothing in a watch. */
const clientFrameBytesMax = 64 * 1024;

type UpgradeRequest = IncomingMessage & { readonly upgradeHead?: Buffer };

export const isUpgrade = (request: HttpRequest): boolean => 'upgradeHead' in request;

const acceptor = new WebSocketServer({
  noServer: true,
  maxPayload: clientFrameBytesMax,
  perMessageDeflate: false,
  handleProtocols: (offered) =>
    [...offered].find((name) => !name.startsWith('base64url.bearer.')) ?? false,
});

/** Answers 101 and takes the connection over from HTTP. @throws StatusError 400 for another protocol. */
export async function websocketSink(
  request: HttpRequest,
  response: HttpResponse,
): Promise<WatchSink> {
  const upgrade = request as unknown as UpgradeRequest;
  if (upgrade.headers.upgrade?.toLowerCase() !== 'websocket') {
    throw badRequest('the only protocol to upgrade to is websocket');
  }
  const socket = upgrade.socket as Duplex;
  (response as { detachSocket(socket: Duplex): void }).detachSocket(socket);
  const connection = await new Promise<WebSocket>((resolve) => {
    acceptor.handleUpgrade(upgrade, socket, upgrade.upgradeHead ?? Buffer.alloc(0), resolve);
  });
  connection.on('error', () => connection.terminate());
  connection.once('close', () => response.destroy());
  return sinkOf(connection, response);
}

function sinkOf(connection: WebSocket, response: HttpResponse): WatchSink {
  let waiting: (() => void) | undefined;
  const onSent = (): void => {
    if (connection.bufferedAmount < bufferedBytesMax) waiting?.();
  };
  return {
    write(frame) {
      // A frame's last byte is the newline that separates events of a plain stream.
      connection.send(frame.subarray(0, frame.length - 1), { binary: false }, onSent);
      return connection.bufferedAmount < bufferedBytesMax;
    },
    flush: () => undefined,
    drained: (signal) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => reject(signal.reason as Error);
        signal.addEventListener('abort', onAbort, { once: true });
        waiting = () => {
          waiting = undefined;
          signal.removeEventListener('abort', onAbort);
          resolve();
        };
        onSent();
      }),
    end() {
      connection.close(1000);
      response.end();
    },
    destroy() {
      connection.terminate();
      response.destroy();
    },
  };
}
