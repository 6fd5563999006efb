// May answer 401. Sets context.user; without credentials the user is system:anonymous.
import type { TLSSocket } from 'node:tls';
import type { X509Certificate } from 'node:crypto';
import { anonymousUser } from '../../authn/authenticator.ts';
import type { Authentication, Authenticator, Credentials } from '../../authn/authenticator.ts';
import { unauthorized } from '../../base/status.ts';
import type { Filter, HttpRequest } from '../request-context.ts';

export function authenticateFilter(options: {
  readonly authenticator: Authenticator;
  /** `--anonymous-auth`: off, requests without credentials are 401 too. */
  readonly allowAnonymous: boolean;
}): Filter {
  const certificates = new WeakMap<TLSSocket, X509Certificate | null>();

  return function authenticate(request, _response, next) {
    const credentials: Credentials = {
      token: bearerToken(request),
      certificate: peerCertificate(request, certificates),
    };
    const answer = options.authenticator.authenticate(credentials, request.context.signal);
    if (answer instanceof Promise) return answer.then((late) => settle(late, request, next));
    settle(answer, request, next);
  };

  function settle(answer: Authentication, request: HttpRequest, next: () => void): void {
    if (answer.outcome === 'accepted') request.context.user = answer.user;
    else if (answer.outcome === 'absent' && options.allowAnonymous) {
      request.context.user = anonymousUser;
    } else throw unauthorized();
    delete request.headers.authorization;
    next();
  }
}

/** The token of `Authorization: Bearer …` or of a WebSocket's subprotocol; an empty or odd header is no credential. */
function bearerToken(request: HttpRequest): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined) return websocketToken(request);
  const space = header.indexOf(' ');
  if (space < 0 || header.slice(0, space).toLowerCase() !== 'bearer') return undefined;
  const token = header.slice(space + 1).trim();
  return token === '' ? undefined : token;
}

/** Browsers cannot set headers on WebSockets: `base64url.bearer.authorization.<profile>.<token>` as a subprotocol. */
function websocketToken(request: HttpRequest): string | undefined {
  const protocols = request.headers['sec-websocket-protocol'];
  if (protocols === undefined) return undefined;
  const pattern = /(?:^|,)\s*base64url\.bearer\.authorization\.[\w.]+?\.io\.([\w-]+)\s*(?:,|$)/;
  const encoded = pattern.exec(protocols)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64url').toString('utf8');
}

function peerCertificate(
  request: HttpRequest,
  known: WeakMap<TLSSocket, X509Certificate | null>,
): X509Certificate | undefined {
  const socket = tlsSocketOf(request);
  if (socket === undefined) return undefined;
  let certificate = known.get(socket);
  if (certificate === undefined) {
    certificate = socket.authorized ? (socket.getPeerX509Certificate() ?? null) : null;
    known.set(socket, certificate);
  }
  return certificate ?? undefined;
}

/** The real TLS socket: HTTP/2 requests show a proxy object, which is no stable key. */
function tlsSocketOf(request: HttpRequest): TLSSocket | undefined {
  if ('stream' in request) {
    return request.stream.session?.socket as TLSSocket | undefined;
  }
  const { socket } = request;
  return 'authorized' in socket ? (socket as TLSSocket) : undefined;
}
