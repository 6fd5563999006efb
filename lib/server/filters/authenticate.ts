// May answer 401. Sets context.user; without credentials the user is system:anonymous.
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { anonymousUser } from '../../base/user.ts';
import type { AllowsAnonymous } from '../../authn/anonymous.ts';
import type { Authentication, Authenticator, Credentials } from '../../authn/authenticator.ts';
import { unauthorized } from '../../base/status.ts';
import type { Filter, HttpRequest, Next } from '../request-context.ts';
import { isUpgrade } from '../upgrade.ts';
import { isBearerSubprotocol, offeredSubprotocols } from '../websocket.ts';

export function authenticateFilter(options: {
  readonly authenticator: Authenticator;
  /** Whether a path may be asked for without credentials; where it may not, that is 401 too. */
  readonly allowsAnonymous: AllowsAnonymous;
}): Filter {
  return function authenticate(request, _response, next) {
    const credentials: Credentials = {
      token: bearerToken(request),
      connection: request.context.connection,
      rawHeaders: request.rawHeaders,
      audiences: ownAudiences,
    };
    const answer = options.authenticator.authenticate(credentials, request.context);
    if (answer instanceof Promise) return answer.then((late) => settle(late, request, next));
    return settle(answer, request, next);
  };

  function settle(answer: Authentication, request: HttpRequest, next: Next): MaybePromise<void> {
    if (answer.outcome === 'accepted') request.context.user = answer.user;
    else if (answer.outcome === 'absent' && options.allowsAnonymous(request.context.info.path)) {
      request.context.user = anonymousUser;
    } else throw unauthorized();
    if (request.headers.authorization !== undefined) request.headers.authorization = '';
    return next();
  }
}

const ownAudiences: readonly string[] = [];

/**
 * The token of `Authorization: Bearer …` or of a WebSocket's subprotocol; an empty or odd header is
 * no credential.
 */
function bearerToken(request: HttpRequest): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined) return websocketToken(request);
  const space = header.indexOf(' ');
  if (space < 0 || header.slice(0, space).toLowerCase() !== 'bearer') return undefined;
  const token = header.slice(space + 1).trim();
  return token === '' ? undefined : token;
}

/**
 * Browsers cannot set headers on WebSockets: `base64url.bearer.authorization.<profile>.<token>` as
 * a subprotocol, beside one that can be chosen.
 * @throws StatusError 401.
 */
function websocketToken(request: HttpRequest): string | undefined {
  if (!isUpgrade(request)) return undefined;
  const offered = offeredSubprotocols(request);
  const [carrier, ...more] = offered.filter(isBearerSubprotocol);
  if (carrier === undefined) return undefined;
  const encoded = /^base64url\.bearer\.authorization\.[\w.]+?\.io\.([\w-]+)$/.exec(carrier)?.[1];
  if (encoded === undefined || more.length > 0 || offered.length === 1) throw unauthorized();
  const others = offered.filter((name) => name !== carrier);
  request.headers['sec-websocket-protocol'] = others.join(', '); // may be passed on to a backend
  return Buffer.from(encoded, 'base64url').toString('utf8');
}
