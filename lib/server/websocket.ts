// Watches over WebSocket: the same path with an Upgrade, one message per event.
import { limits } from '../base/limits.ts';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { IncomingMessage } from 'node:http';
import type { NamingProfile } from '../api/vendor.ts';
import { invariant } from '../base/invariant.ts';
import { badRequest, upgradeRequired } from '../base/status.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import type { StreamSerializer } from './serializers.ts';
import { switchingProtocols, upgradeOf } from './upgrade.ts';
import type { WatchSink } from './watch-sink.ts';

const { websocketBufferedBytesMax, websocketFrameBytesMax } = limits;
/** The one of RFC 6455. */
const protocolVersion = '13';

/** How frames of a watch become messages. */
type MessageForm = Pick<StreamSerializer, 'contentType' | 'message'>;

/** Subprotocols that the client offers, in its order. */
export const offeredSubprotocols = (request: HttpRequest): string[] =>
  (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** As if the client had offered no others, in both forms that Node has of its headers. */
export function offerOnly({ headers, rawHeaders }: HttpRequest, names: readonly string[]): void {
  const offer = names.join(', ');
  headers['sec-websocket-protocol'] = offer;
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    if (rawHeaders[at]?.toLowerCase() === 'sec-websocket-protocol') rawHeaders.splice(at, 2);
  }
  rawHeaders.push('Sec-WebSocket-Protocol', offer);
}

/** Carries a bearer token and is never chosen. */
export const isBearerSubprotocol = (name: string): boolean => name.startsWith('base64url.bearer.');

export interface Websockets {
  /** Before anything is opened for the request. @throws StatusError 400, 426. */
  check(request: HttpRequest, response: HttpResponse): void;
  /**
   * Answers 101 and takes the connection over from HTTP.
   * @throws StatusError 400 for a handshake that is none.
   */
  accept(request: HttpRequest, response: HttpResponse, stream: MessageForm): Promise<WatchSink>;
}

export function createWebsockets(naming: Pick<NamingProfile, 'resolve'>): Websockets {
  // All that clients offer for plain streams; the messages of a watch are the same in each.
  const known = ['binary.{v}', 'base64.binary.{v}'].map((name) => naming.resolve(name));
  const acceptor = new WebSocketServer({
    noServer: true,
    maxPayload: websocketFrameBytesMax,
    perMessageDeflate: false,
    handleProtocols: (offered) => [...offered].find((name) => known.includes(name)) ?? false,
  });
  /** Handshakes that ws refuses: their requests' ways to say so over HTTP. */
  const refused = new WeakMap<IncomingMessage, (error: Error) => void>();
  acceptor.on('wsClientError', (error, _socket, request) => refused.get(request)?.(error));
  return {
    check(request, response) {
      if (request.headers['sec-websocket-version'] !== protocolVersion) {
        const name = 'sec-websocket-version';
        if (!('stream' in response)) response.setHeader(name, protocolVersion);
        throw upgradeRequired(`WebSocket handshake: ${name} must be ${protocolVersion}`);
      }
      const offered = offeredSubprotocols(request).filter((name) => !isBearerSubprotocol(name));
      if (offered.length > 0 && !offered.some((name) => known.includes(name))) {
        const names = known.join(' and ');
        throw badRequest(`WebSocket handshake: of subprotocols only ${names} are known`);
      }
    },
    async accept(request, response, stream) {
      const upgrade = upgradeOf(request);
      invariant(upgrade !== undefined, 'the connection is still HTTP');
      const { socket, head } = upgrade;
      const handshake = request as IncomingMessage;
      const connection = await new Promise<WebSocket>((resolve, reject) => {
        refused.set(handshake, (error) =>
          reject(badRequest(`WebSocket handshake: ${error.message}`)),
        );
        acceptor.handleUpgrade(handshake, socket, head, resolve);
      });
      response.statusCode = switchingProtocols; // ws has written it
      connection.on('error', () => connection.terminate());
      return sinkOf(connection, stream);
    },
  };
}

/** The response keeps the socket and closes with it. */
function sinkOf(connection: WebSocket, stream: MessageForm): WatchSink {
  const binary = !stream.contentType.startsWith('application/json');
  let waiting: (() => void) | undefined;
  const hasRoom = (): boolean => connection.bufferedAmount < websocketBufferedBytesMax;
  const onSent = (): void => {
    if (hasRoom()) waiting?.();
  };
  const write = (frame: Uint8Array): void =>
    connection.send(stream.message(frame), { binary }, onSent);
  return {
    write,
    writeAll(frames) {
      for (const frame of frames) write(frame);
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
