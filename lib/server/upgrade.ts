// Requests that change the protocol of their connection (RFC 9110 §7.8): watches to a WebSocket,
// and those that a subresource takes over to whatever it likes. HTTP/2 has none.
import { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectRequest } from '../registry/requests.ts';
import type { FindEntry } from './open-request.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import { parseRequestInfo } from './request-info.ts';

/** The status of a response whose connection is no longer HTTP. */
export const switchingProtocols = 101;

type UpgradeRequest = IncomingMessage & { upgradeHead?: Buffer };

/**
 * Whether a request that asks for another protocol gets it. Any other is answered as if it had not
 * asked, and its connection stays HTTP. Node hands out what comes after an upgrade as it is: a
 * watch with a body would wait for it for ever.
 */
export function upgradeRule(findEntry: FindEntry): (request: IncomingMessage) => boolean {
  return ({ headers, method = '', url = '' }) => {
    const info = parseRequestInfo(method, url);
    if (info.subresource !== '') {
      const entry = findEntry(info);
      if (entry === undefined || 'proxy' in entry) return false;
      return entry.subresources.get(info.subresource)?.connect !== undefined;
    }
    const isWebsocket = headers.upgrade?.toLowerCase() === 'websocket' && method === 'GET';
    return isWebsocket && info.verb === 'watch';
  };
}

/**
 * What Node gives for an upgrade is a bare socket; failures before the upgrade are HTTP answers.
 */
export function upgradeResponse(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): HttpResponse {
  (request as UpgradeRequest).upgradeHead = head;
  socket.on('error', () => undefined); // Node took its listener off; 'close' tells the rest
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  return response;
}

/** Node has taken the connection out of HTTP for this request. */
export const isUpgrade = (request: HttpRequest): boolean => 'upgradeHead' in request;

/** undefined: the request goes on over HTTP. */
export function upgradeOf(request: HttpRequest): ConnectRequest['upgrade'] {
  if ('stream' in request) return undefined;
  const { socket, upgradeHead } = request as UpgradeRequest;
  return upgradeHead === undefined ? undefined : { socket, head: upgradeHead };
}
