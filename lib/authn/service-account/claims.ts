// What tokens of service accounts say: of those that TokenRequests ask for, and of the older ones
// that lie in Secrets. Names and shapes as kube-apiserver has them.
import type { JWTPayload } from 'jose';
import { recordAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { serviceAccountUser } from '../../base/user.ts';

/** An object by name and identity. */
export interface NamedObject {
  readonly name: string;
  /** '' where only the name is known: of the node of a pod that is not registered. */
  readonly uid: string;
}

/** What a token is tied to beside its account. */
export interface TokenBinding {
  readonly pod?: NamedObject;
  readonly secret?: NamedObject;
  /** Alone, or the node that the pod runs on. */
  readonly node?: NamedObject;
}

export interface BoundTokenClaims extends TokenBinding {
  readonly namespace: string;
  readonly account: NamedObject;
  /** From when on its use is reported, in seconds since the epoch; undefined: never. */
  readonly warnAfterSeconds: number | undefined;
}

export interface LegacyTokenClaims {
  readonly namespace: string;
  readonly account: NamedObject;
  readonly secretName: string;
}

/** Issuer of the tokens that lie in Secrets. */
export const legacyIssuer = (naming: NamingProfile): string =>
  naming.resolve('{kubernetes}/serviceaccount');

export interface NewToken extends BoundTokenClaims {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly issuedAtSeconds: number;
  readonly expiresAtSeconds: number;
  readonly id: string;
}

export function boundPayload(token: NewToken, naming: NamingProfile): JWTPayload {
  const { pod, secret, node, warnAfterSeconds: warnafter } = token;
  return {
    iss: token.issuer,
    sub: serviceAccountUser(token.namespace, token.account.name),
    aud: [...token.audiences],
    iat: token.issuedAtSeconds,
    nbf: token.issuedAtSeconds,
    exp: token.expiresAtSeconds,
    jti: token.id,
    [naming.metadataDomain]: {
      namespace: token.namespace,
      ...(node === undefined ? {} : { node: shown(node) }),
      ...(pod === undefined ? {} : { pod: shown(pod) }),
      ...(secret === undefined ? {} : { secret: shown(secret) }),
      serviceaccount: shown(token.account),
      ...(warnafter === undefined ? {} : { warnafter }),
    },
  };
}

const shown = ({ name, uid }: NamedObject): JsonObject => ({
  name,
  ...(uid === '' ? {} : { uid }),
});

/** undefined: the private claims are not those of a token that was asked for. */
export function readBoundClaims(
  payload: JWTPayload,
  naming: NamingProfile,
): BoundTokenClaims | undefined {
  const claims = recordAt(payload as JsonObject, naming.metadataDomain);
  const account = namedAt(claims, 'serviceaccount');
  const namespace = textAt(claims, 'namespace');
  if (claims === undefined || account === undefined || namespace === '') return undefined;
  const [pod, secret, node] = ['pod', 'secret', 'node'].map((member) => namedAt(claims, member));
  const warnAfter = claims['warnafter'];
  return {
    namespace,
    account,
    ...(pod === undefined ? {} : { pod }),
    ...(secret === undefined ? {} : { secret }),
    ...(node === undefined ? {} : { node }),
    warnAfterSeconds: typeof warnAfter === 'number' && warnAfter !== 0 ? warnAfter : undefined,
  };
}

function namedAt(claims: Readonly<JsonObject> | undefined, member: string) {
  const named = recordAt(claims, member);
  return named && { name: textAt(named, 'name'), uid: textAt(named, 'uid') };
}

export function legacyPayload(
  { namespace, account, secretName }: LegacyTokenClaims,
  naming: NamingProfile,
): JWTPayload {
  const names = legacyNames(naming);
  return {
    iss: legacyIssuer(naming),
    [names.namespace]: namespace,
    [names.secretName]: secretName,
    [names.accountName]: account.name,
    [names.accountUid]: account.uid,
    sub: serviceAccountUser(namespace, account.name),
  };
}

/** undefined: a claim is missing, or the subject is another account's. */
export function readLegacyClaims(
  payload: JWTPayload,
  naming: NamingProfile,
): LegacyTokenClaims | undefined {
  const names = legacyNames(naming);
  const claims = payload as JsonObject;
  const namespace = textAt(claims, names.namespace);
  const secretName = textAt(claims, names.secretName);
  const account = {
    name: textAt(claims, names.accountName),
    uid: textAt(claims, names.accountUid),
  };
  if ([namespace, secretName, account.name, account.uid].includes('')) return undefined;
  if (payload.sub !== serviceAccountUser(namespace, account.name)) return undefined;
  return { namespace, account, secretName };
}

const legacyNames = (naming: NamingProfile) => {
  const prefix = `${naming.metadataDomain}/serviceaccount`;
  return {
    namespace: `${prefix}/namespace`,
    secretName: `${prefix}/secret.name`,
    accountName: `${prefix}/service-account.name`,
    accountUid: `${prefix}/service-account.uid`,
  };
};
