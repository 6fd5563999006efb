// May answer 401. Sets context.user; without credentials the user is system:anonymous. Whoever
// follows sees no header that tells who asks.
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { anonymousUser } from '../../base/user.ts';
import type { AllowsAnonymous } from '../../authn/anonymous.ts';
import type { Authentication, Authenticator, Credentials } from '../../authn/authenticator.ts';
import { noteShown, shownAgain } from '../../authn/token-digest.ts';
import { identityStripper } from '../../authn/identity-headers.ts';
import type { IdentityHeaders } from '../../authn/identity-headers.ts';
import { unauthorized } from '../../base/status.ts';
import type { StatusError } from '../../base/status.ts';
import type { Filter, HttpRequest, Next, RequestContext } from '../request-context.ts';
import { isUpgrade } from '../upgrade.ts';
import { isBearerSubprotocol, offeredSubprotocols, offerOnly } from '../websocket.ts';

export interface AuthenticateFilterOptions {
  readonly authenticator: Authenticator;
  /** Whether a path may be asked for without credentials; where it may not, that is 401 too. */
  readonly allowsAnonymous: AllowsAnonymous;
  /** Of front proxies; with the usual ones they are taken out of every request. */
  readonly identityHeaders?: IdentityHeaders;
  /** Told of whom nobody knows, before the answer; absent: nobody is. */
  readonly onRefused?: OnRefused | undefined;
}

export type OnRefused = (request: HttpRequest, error: StatusError) => Promise<void>;

export function authenticateFilter(options: AuthenticateFilterOptions): Filter {
  const { authenticator, allowsAnonymous, onRefused } = options;
  const strip = identityStripper(options.identityHeaders);
  return function authenticate(request, _response, next) {
    const { connection } = request.context;
    const shown = shownAgain(connection, request.headers.authorization);
    const token = shown?.token ?? headerToken(request) ?? websocketToken(request);
    if (token === noToken) return refuse(request);
    const credentials: Credentials = {
      token,
      tokenDigest: shown?.digest,
      connection,
      rawHeaders: request.rawHeaders,
      audiences: ownAudiences,
    };
    const answer = authenticator.authenticate(credentials, request.context);
    if (answer instanceof Promise) {
      return answer.then((late) => settle(late, credentials, request, next));
    }
    return settle(answer, credentials, request, next);
  };

  function settle(
    answer: Authentication,
    credentials: Credentials,
    request: HttpRequest,
    next: Next,
  ): MaybePromise<void> {
    const { context } = request;
    if (answer.outcome === 'accepted') {
      noteShown(credentials, request.headers.authorization);
      accept(answer, context);
    } else if (answer.outcome === 'absent' && allowsAnonymous(context.info.path)) {
      context.user = anonymousUser;
    } else return refuse(request);
    strip(request);
    return next();
  }

  /** @throws StatusError 401. */
  function refuse(request: HttpRequest): Promise<never> {
    const error = unauthorized();
    if (onRefused === undefined) throw error;
    return onRefused(request, error).then(() => {
      throw error;
    });
  }
}

function accept(
  { user, annotations, warnings }: Extract<Authentication, { outcome: 'accepted' }>,
  context: RequestContext,
): void {
  context.user = user;
  if (context.connection !== undefined) context.connection.badCredentialsCount = 0;
  if (warnings !== undefined) context.warnings.push(...warnings);
  if (annotations === undefined) return;
  const told = (context.auditAnnotations ??= new Map());
  for (const [key, text] of annotations) told.set(key, text);
}

const ownAudiences: readonly string[] = [];

/** As kube-apiserver words it. */
const extraSpace =
  'the provided Authorization header contains extra space before the bearer token, and is ignored';

/**
 * The token of `Authorization: Bearer …`, up to the next space. An empty or odd header is no
 * credential; one with a space too many is said to be none.
 */
function headerToken({ headers, context }: HttpRequest): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const [scheme, token, rest] = authorization.trim().split(' ', 3);
  if (token === undefined || scheme?.toLowerCase() !== 'bearer') return undefined;
  if (token !== '') return token;
  if (rest !== undefined) context.warnings.push(extraSpace);
  return undefined;
}

/**
 * Browsers cannot set headers on WebSockets: `base64url.bearer.authorization.<profile>.<token>` as
 * a subprotocol, beside one that can be chosen. `noToken`: one that cannot be read.
 */
function websocketToken(request: HttpRequest): string | undefined {
  if (!isUpgrade(request)) return undefined;
  const offered = offeredSubprotocols(request);
  const [carrier, ...more] = offered.filter(isBearerSubprotocol);
  if (carrier === undefined) return undefined;
  const encoded = /^base64url\.bearer\.authorization\.[\w.]+?\.io\.([\w-]*)$/.exec(carrier)?.[1];
  if (encoded === undefined || more.length > 0 || offered.length === 1) return noToken;
  offerOnly(
    request,
    offered.filter((name) => name !== carrier), // may be passed on to a backend
  );
  if (encoded === '') return undefined;
  try {
    return utf8.decode(Buffer.from(encoded, 'base64url'));
  } catch {
    return noToken;
  }
}

const noToken = '';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
