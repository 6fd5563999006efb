// What `--authentication-config` says, read from its file and not checked: who issues tokens, and
// what their claims mean (specification 3, Authentication configuration file).
import { flagAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { readStrictDocument } from '../../codec/strict-document.ts';
import type { DocumentShape } from '../../codec/strict-document.ts';

export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtConfiguration[];
  /** undefined: `--anonymous-auth` says it. */
  readonly anonymous: AnonymousConfiguration | undefined;
}

export interface AnonymousConfiguration {
  readonly enabled: boolean;
  /** None: all paths. */
  readonly conditions: readonly { readonly path: string }[];
}

/** Texts are '' where the file has none. */
export interface JwtConfiguration {
  readonly issuer: IssuerConfiguration;
  readonly claimValidationRules: readonly ClaimValidationRule[];
  readonly claimMappings: ClaimMappings;
  readonly userValidationRules: readonly ExpressionRule[];
}

export interface IssuerConfiguration {
  readonly url: string;
  readonly discoveryURL: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly audiences: readonly string[];
  readonly audienceMatchPolicy: string;
  readonly egressSelectorType: string;
}

export interface ExpressionRule {
  readonly expression: string;
  readonly message: string;
}

export interface ClaimValidationRule extends ExpressionRule {
  readonly claim: string;
  readonly requiredValue: string;
}

export interface ClaimOrExpression {
  readonly claim: string;
  readonly expression: string;
}

export interface PrefixedClaimOrExpression extends ClaimOrExpression {
  /** undefined is not the empty one. */
  readonly prefix: string | undefined;
}

export interface ClaimMappings {
  readonly username: PrefixedClaimOrExpression;
  readonly groups: PrefixedClaimOrExpression;
  readonly uid: ClaimOrExpression;
  readonly extra: readonly { readonly key: string; readonly valueExpression: string }[];
}

const texts = (...names: readonly string[]): Record<string, DocumentShape> =>
  Object.fromEntries(names.map((name) => [name, 'text']));
const listOf = (fields: Record<string, DocumentShape>): DocumentShape => ({ listOf: { fields } });
const prefixed = { fields: texts('claim', 'prefix', 'expression') };

const jwtShape: Record<string, DocumentShape> = {
  issuer: {
    fields: {
      ...texts('url', 'discoveryURL', 'certificateAuthority', 'audienceMatchPolicy'),
      ...texts('egressSelectorType'),
      audiences: { listOf: 'text' },
    },
  },
  claimValidationRules: listOf(texts('claim', 'requiredValue', 'expression', 'message')),
  claimMappings: {
    fields: {
      username: prefixed,
      groups: prefixed,
      uid: { fields: texts('claim', 'expression') },
      extra: listOf(texts('key', 'valueExpression')),
    },
  },
  userValidationRules: listOf(texts('expression', 'message')),
};

const anonymousShape: DocumentShape = {
  fields: { enabled: 'flag', conditions: listOf(texts('path')) },
};

/**
 * @param text YAML or JSON
 * @throws Error that says what is wrong and where, without the name of the file
 */
export function readAuthenticationConfiguration(
  text: string,
  naming: NamingProfile,
): AuthenticationConfiguration {
  const document = readStrictDocument(text, {
    kind: 'AuthenticationConfiguration',
    apiVersions: ['v1', 'v1beta1', 'v1alpha1'].map((version) =>
      naming.resolve(`apiserver.config.{v}/${version}`),
    ),
    fields: { jwt: listOf(jwtShape), anonymous: anonymousShape },
  });
  const anonymous = recordAt(document, 'anonymous');
  return {
    jwt: recordsAt(document, 'jwt').map(readJwt),
    anonymous: anonymous && {
      enabled: flagAt(anonymous, 'enabled'),
      conditions: recordsAt(anonymous, 'conditions').map((one) => ({ path: textAt(one, 'path') })),
    },
  };
}

function readJwt(jwt: JsonObject): JwtConfiguration {
  const issuer = recordAt(jwt, 'issuer');
  const mappings = recordAt(jwt, 'claimMappings');
  return {
    issuer: {
      url: textAt(issuer, 'url'),
      discoveryURL: textAt(issuer, 'discoveryURL'),
      certificateAuthority: textAt(issuer, 'certificateAuthority'),
      audiences: textsAt(issuer, 'audiences'),
      audienceMatchPolicy: textAt(issuer, 'audienceMatchPolicy'),
      egressSelectorType: textAt(issuer, 'egressSelectorType'),
    },
    claimValidationRules: recordsAt(jwt, 'claimValidationRules').map((rule) => ({
      claim: textAt(rule, 'claim'),
      requiredValue: textAt(rule, 'requiredValue'),
      ...readRule(rule),
    })),
    claimMappings: {
      username: readPrefixed(recordAt(mappings, 'username')),
      groups: readPrefixed(recordAt(mappings, 'groups')),
      uid: readSource(recordAt(mappings, 'uid')),
      extra: recordsAt(mappings, 'extra').map((one) => ({
        key: textAt(one, 'key'),
        valueExpression: textAt(one, 'valueExpression'),
      })),
    },
    userValidationRules: recordsAt(jwt, 'userValidationRules').map(readRule),
  };
}

const readRule = (rule: JsonObject): ExpressionRule => ({
  expression: textAt(rule, 'expression'),
  message: textAt(rule, 'message'),
});

const readSource = (of: JsonObject | undefined): ClaimOrExpression => ({
  claim: textAt(of, 'claim'),
  expression: textAt(of, 'expression'),
});

function readPrefixed(of: JsonObject | undefined): PrefixedClaimOrExpression {
  const prefix = of?.['prefix'];
  return { ...readSource(of), prefix: typeof prefix === 'string' ? prefix : undefined };
}
