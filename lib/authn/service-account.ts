// Tokens of service accounts: JWTs that this server, or one with its keys, has signed. Signatures
// are verified once; times, audiences and the objects that a token is tied to are looked at in
// every request. Tokens that lie in Secrets are believed as long as the Secret holds them.
import type { JWTPayload } from 'jose';
import type { NamingProfile } from '../api/vendor.ts';
import type { WaitEnd } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { authenticatedGroup, serviceAccountGroups, serviceAccountUser } from '../base/user.ts';
import type { User } from '../base/user.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { Authentication, Authenticator, Credentials } from './authenticator.ts';
import { legacyIssuer, readBoundClaims, readLegacyClaims } from './service-account/claims.ts';
import type { BoundTokenClaims, LegacyTokenClaims } from './service-account/claims.ts';
import type { TokenKey } from './service-account/keys.ts';
import { legacyUseOf } from './service-account/legacy-secret.ts';
import type { LegacyUse } from './service-account/legacy-secret.ts';
import { LiveObject } from './service-account/live-object.ts';
import type { TiedResource, ViewOf } from './service-account/live-object.ts';
import { VerifiedTokens } from './service-account/verified-tokens.ts';
import type { Refused } from './service-account/verified-tokens.ts';

export interface ServiceAccountOptions {
  /** `--service-account-issuer`. */
  readonly issuers: readonly string[];
  /** `--api-audiences`: whom a token must be for, where a request asks for nobody else. */
  readonly audiences: readonly string[];
  readonly keys: readonly TokenKey[];
  /** `--service-account-lookup`: whether tokens in Secrets are looked up; others always are. */
  readonly looksUp: boolean;
  readonly viewOf: ViewOf;
  readonly naming: NamingProfile;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly observer: TokenObserver;
}

/** Told of uses of tokens. Must be cheap and not throw. */
export interface TokenObserver {
  /** Of a token that is reported once it is older than was asked for. */
  onAge(age: 'valid' | 'stale'): void;
  /** Of a token that names no audience: they lie in Secrets. */
  onUnaddressed(): void;
  /** The Secret holds the token; it is refused where the Secret says so. */
  onLegacyUse(use: LegacyUse, secret: Item): void;
}

interface KnownToken {
  readonly subject: string;
  readonly user: User;
  /** Empty: it names none. */
  readonly audiences: readonly string[];
  /** Those that this server's own audiences and the token's have in common. */
  readonly ownAudiences: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly warnAfterSeconds: number | undefined;
  /** What ends the token with its end; the account first. */
  readonly tied: readonly LiveObject[];
  readonly legacy: LegacyTokenClaims | undefined;
  /** On the monotonic clock: until then it is known that what it is tied to is gone. */
  endedUntilMs: number;
}

export function serviceAccountAuthenticator(options: ServiceAccountOptions): Authenticator {
  const issuers = new Set([...options.issuers, legacyIssuer(options.naming)]);
  const read = (payload: JWTPayload): KnownToken | Refused => knownToken(payload, options);
  const tokens = new VerifiedTokens<KnownToken>({ ...options, issuers, read });
  return {
    name: 'service-account',
    authenticate(credentials, end): MaybePromise<Authentication> {
      const { token } = credentials;
      if (token === undefined) return absent;
      const known = tokens.of(token, credentials);
      if (known instanceof Promise) {
        return known.then((verified) => judge(verified, { token, credentials, end }, options));
      }
      return judge(known, { token, credentials, end }, options);
    },
  };
}

const absent: Authentication = { outcome: 'absent' };
const rejected = (reason: string): Authentication => ({ outcome: 'rejected', reason });

function knownToken(payload: JWTPayload, options: ServiceAccountOptions): KnownToken | Refused {
  const { naming, viewOf } = options;
  const isLegacy = payload.iss === legacyIssuer(naming);
  const bound = isLegacy ? undefined : readBoundClaims(payload, naming);
  const legacy = isLegacy ? readLegacyClaims(payload, naming) : undefined;
  const claims = bound ?? legacy;
  if (claims === undefined) return { refused: 'the token does not say whose it is' };
  const { aud = [], exp, nbf, iat, sub = '', jti = '' } = payload;
  if (![exp, nbf, iat].every(isTime)) return { refused: 'a time of the token is no number' };
  const audiences = typeof aud === 'string' ? [aud] : aud;
  const { tokenLeewayMs, tokenAheadMs } = limits;
  return {
    subject: sub,
    user: userOf(claims, bound, { jti, naming }),
    audiences,
    ownAudiences: common(audiences, options.audiences, options),
    notBeforeMs: Math.max(nbf ?? 0, iat ?? 0) * 1000 - tokenAheadMs,
    notAfterMs: exp === undefined ? Infinity : exp * 1000 + tokenLeewayMs,
    warnAfterSeconds: bound?.warnAfterSeconds,
    tied: tiedObjects(claims, bound).map((of) => new LiveObject(of, viewOf)),
    legacy,
    endedUntilMs: 0,
  };
}

/** Claims are what somebody with a key has written: no type holds for them. */
const isTime = (claim: unknown): boolean => claim === undefined || Number.isFinite(claim);

interface Tied {
  readonly resource: TiedResource;
  readonly key: { readonly namespace: string; readonly name: string };
  readonly uid: string;
}

/** The node of a pod's token is said of the pod alone: it ends with the pod. */
function tiedObjects(
  { namespace, account }: BoundTokenClaims | LegacyTokenClaims,
  bound: BoundTokenClaims | undefined,
): Tied[] {
  const { pod, secret, node } = bound ?? {};
  const of = (resource: TiedResource, named: typeof pod, within = namespace): Tied[] =>
    named === undefined
      ? []
      : [{ resource, key: { namespace: within, name: named.name }, uid: named.uid }];
  return [
    ...of('serviceaccounts', account),
    ...of('secrets', secret),
    ...of('pods', pod),
    ...of('nodes', pod === undefined ? node : undefined, ''),
  ];
}

function userOf(
  { namespace, account }: BoundTokenClaims | LegacyTokenClaims,
  { pod, node }: Partial<BoundTokenClaims> = {},
  { jti, naming }: { readonly jti: string; readonly naming: NamingProfile },
): User {
  const key = (name: string): string => `authentication.${naming.metadataDomain}/${name}`;
  const extra: Record<string, readonly string[]> = {};
  if (jti !== '') extra[key('credential-id')] = [`JTI=${jti}`];
  if (node !== undefined && node.name !== '') {
    extra[key('node-name')] = [node.name];
    if (node.uid !== '') extra[key('node-uid')] = [node.uid];
  }
  if (pod !== undefined && pod.name !== '' && pod.uid !== '') {
    extra[key('pod-name')] = [pod.name];
    extra[key('pod-uid')] = [pod.uid];
  }
  return {
    name: serviceAccountUser(namespace, account.name),
    uid: account.uid,
    groups: [...serviceAccountGroups(namespace), authenticatedGroup],
    extra,
  };
}

interface Use {
  readonly token: string;
  readonly credentials: Credentials;
  readonly end: WaitEnd;
}

function judge(
  known: KnownToken | Refused,
  use: Use,
  options: ServiceAccountOptions,
): MaybePromise<Authentication> {
  if ('refused' in known) return rejected(known.refused);
  const { clock } = options;
  if (clock.monotonicMs() < known.endedUntilMs) return rejected(ended);
  const nowMs = clock.nowMs();
  if (nowMs >= known.notAfterMs) return rejected('the token has expired');
  if (nowMs < known.notBeforeMs) return rejected('the token is not valid yet');
  const asked = use.credentials.audiences;
  const audiences =
    asked.length === 0 ? known.ownAudiences : common(known.audiences, asked, options);
  if (audiences.length === 0) return rejected('the token is meant for others');
  if (known.audiences.length === 0) options.observer.onUnaddressed();
  if (known.legacy !== undefined && !options.looksUp) return accepted(known, audiences, {});
  let isUnknown = false;
  for (const object of known.tied) {
    const liveness = object.now(nowMs);
    if (liveness === 'ended') return rejected(ended);
    if (liveness === 'unknown') isUnknown = true;
  }
  if (isUnknown) return lookUp(known, audiences, use, options);
  if (known.legacy !== undefined) return judgeLegacy(known, audiences, use, options);
  return known.warnAfterSeconds === undefined
    ? accepted(known, audiences, {})
    : aged(known, audiences, nowMs, options);
}

const ended = 'what the token is tied to is gone';

/** Memory may lag behind: etcd's present state decides, and what is gone does not come back. */
async function lookUp(
  known: KnownToken,
  audiences: readonly string[],
  use: Use,
  options: ServiceAccountOptions,
): Promise<Authentication> {
  const { clock } = options;
  const nowMs = clock.nowMs();
  for (const object of known.tied) {
    if (object.now(nowMs) === 'live') continue;
    if ((await object.look(nowMs, use.end)) === 'live') continue;
    known.endedUntilMs = clock.monotonicMs() + limits.refusedTokenMs;
    return rejected(ended);
  }
  if (known.legacy !== undefined) return judgeLegacy(known, audiences, use, options);
  return aged(known, audiences, nowMs, options);
}

/** Audiences of a token that names none are this server's. */
function common(
  audiences: readonly string[],
  asked: readonly string[],
  { audiences: own }: Pick<ServiceAccountOptions, 'audiences'>,
): readonly string[] {
  const meant = audiences.length === 0 ? own : audiences;
  return meant.filter((audience) => asked.includes(audience));
}

type Remarks = Pick<Extract<Authentication, { outcome: 'accepted' }>, 'annotations' | 'warnings'>;

const accepted = (
  { user }: KnownToken,
  audiences: readonly string[],
  remarks: Remarks,
): Authentication => ({ outcome: 'accepted', user, audiences, ...remarks });

/** Of a token that lives longer than was asked for: its late use is reported, not refused. */
function aged(
  known: KnownToken,
  audiences: readonly string[],
  nowMs: number,
  { observer, naming }: ServiceAccountOptions,
): Authentication {
  const { warnAfterSeconds, subject } = known;
  if (warnAfterSeconds === undefined) return accepted(known, audiences, {});
  const lateSeconds = Math.floor(nowMs / 1000) - warnAfterSeconds;
  if (nowMs <= warnAfterSeconds * 1000) {
    observer.onAge('valid');
    return accepted(known, audiences, {});
  }
  observer.onAge('stale');
  const text = `subject: ${subject}, seconds after warning threshold: ${String(lateSeconds)}`;
  return accepted(known, audiences, {
    annotations: new Map([[naming.resolve('authentication.{v}/stale-token'), text]]),
  });
}

const generatedWarning =
  'Use tokens from the TokenRequest API or manually created secret-based tokens instead of ' +
  'auto-generated secret-based tokens.';

async function judgeLegacy(
  known: KnownToken,
  audiences: readonly string[],
  { token, end }: Use,
  options: ServiceAccountOptions,
): Promise<Authentication> {
  const { viewOf, naming, clock, observer } = options;
  const { legacy } = known;
  if (legacy === undefined) return rejected(ended);
  const { namespace, secretName, account: named } = legacy;
  const keys = {
    secret: { namespace, name: secretName },
    account: { namespace, name: named.name },
  };
  const [secrets, accounts] = [viewOf('secrets'), viewOf('serviceaccounts')];
  let secret = secrets.peek(keys.secret);
  let account = accounts.peek(keys.account);
  let use = useOf();
  if (use === undefined) {
    secret = await secrets.get(keys.secret, { mode: 'latest' }, end);
    account = await accounts.get(keys.account, { mode: 'latest' }, end);
    use = useOf();
  }
  if (use === undefined || secret === undefined) {
    known.endedUntilMs = clock.monotonicMs() + limits.refusedTokenMs;
    return rejected('the Secret of the token does not hold it any more');
  }
  observer.onLegacyUse(use, secret);
  if (use === 'invalidated') return rejected('the Secret of the token is marked as invalid');
  const annotate = (name: string, text: string): readonly [string, string] => [
    naming.resolve(`authentication.{v}/${name}`),
    text,
  ];
  const isGenerated = use === 'generated';
  const kind = isGenerated ? 'legacy-token-autogenerated-secret' : 'legacy-token-manual-secret';
  return accepted(known, audiences, {
    annotations: new Map([annotate('legacy-token', known.subject), annotate(kind, secretName)]),
    ...(isGenerated ? { warnings: [generatedWarning] } : {}),
  });

  function useOf(): LegacyUse | undefined {
    if (secret === undefined || account === undefined) return undefined;
    if (secret.corrupted || account.corrupted) return undefined;
    return legacyUseOf(token, { secret, account }, naming);
  }
}
