// Watches over WebSocket: the same path with an Upgrade, one message per event.
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { badRequest } from '../base/status.ts';
import type { WatchRepresentation } from './representation.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import type { WatchSink } from './watch-sink.ts';

/** Bytes on their way to the client above which its watch waits. */
const bufferedBytesMax = 1024 * 1024;
/** Frames of clients carry nothing in a watch. */
const clientFrameBytesMax = 64 * 1024;

type UpgradeRequest = IncomingMessage & { readonly upgradeHead?: Buffer };

/** How frames of a watch become messages. */
type MessageForm = Pick<WatchRepresentation, 'contentType' | 'message'>;

export const isUpgrade = (request: HttpRequest): boolean => 'upgradeHead' in request;

const acceptor = new WebSocketServer({
  noServer: true,
  maxPayload: clientFrameBytesMax,
  perMessageDeflate: false,
  handleProtocols: (offered) =>
    [...offered].find((name) => !name.startsWith('base64url.bearer.')) ?? false,
});
/** Handshakes that ws refuses: their requests' ways to say so over HTTP. */
const refused = new WeakMap<IncomingMessage, (error: Error) => void>();
acceptor.on('wsClientError', (error, _socket, request) => refused.get(request)?.(error));

/**
 * Answers 101 and takes the connection over from HTTP.
 * @throws StatusError 400 for a handshake that is none.
 */
export async function websocketSink(
  request: HttpRequest,
  response: HttpResponse,
  stream: MessageForm,
): Promise<WatchSink> {
  const upgrade = request as unknown as UpgradeRequest;
  const socket = upgrade.socket as Duplex;
  const connection = await new Promise<WebSocket>((resolve, reject) => {
    refused.set(upgrade, (error) => reject(badRequest(`WebSocket handshake: ${error.message}`)));
    acceptor.handleUpgrade(upgrade, socket, upgrade.upgradeHead ?? Buffer.alloc(0), resolve);
  });
  response.statusCode = 101; // for the metrics; ws has written it
  connection.on('error', () => connection.terminate());
  return sinkOf(connection, stream);
}

/** The response keeps the socket and closes with it. */
function sinkOf(connection: WebSocket, stream: MessageForm): WatchSink {
  const binary = !stream.contentType.startsWith('application/json');
  let waiting: (() => void) | undefined;
  const hasRoom = (): boolean => connection.bufferedAmount < bufferedBytesMax;
  const onSent = (): void => {
    if (hasRoom()) waiting?.();
  };
  return {
    write(frame) {
      connection.send(stream.message(frame), { binary }, onSent);
    },
    flush: hasRoom,
    drained: (signal) =>
      new Promise((resolve, reject) => {
        const finish = (settle: () => void): void => {
          waiting = undefined;
          signal.removeEventListener('abort', onAbort);
          settle();
        };
        const onAbort = (): void => finish(() => reject(signal.reason as Error));
        waiting = () => finish(resolve);
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) onAbort();
        else onSent();
      }),
    end: () => connection.close(1000),
    destroy: () => connection.terminate(),
  };
}
