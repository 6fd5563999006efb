// What `--authentication-config` says, read from its file and not checked: who issues tokens, and
// what their claims mean (specification 3, Authentication configuration file).
import type { NamingProfile } from '../../api/vendor.ts';
import { StrictFields } from '../../codec/strict-fields.ts';

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

const kind = 'AuthenticationConfiguration';
const versions = ['v1', 'v1beta1', 'v1alpha1'];

/**
 * @param text YAML or JSON
 * @throws Error that says what is wrong and where, without the name of the file
 */
export function readAuthenticationConfiguration(
  text: string,
  naming: NamingProfile,
): AuthenticationConfiguration {
  const apiVersions = versions.map((version) => naming.resolve(`apiserver.config.{v}/${version}`));
  const root = StrictFields.read(text, { kind, apiVersions });
  const anonymous = root.object('anonymous');
  const configuration = {
    jwt: root.objects('jwt').map(readJwt),
    anonymous: anonymous && {
      enabled: anonymous.flag('enabled') ?? false,
      conditions: anonymous.objects('conditions').map((one) => ({ path: one.text('path') })),
    },
  };
  root.finish();
  return configuration;
}

function readJwt(jwt: StrictFields): JwtConfiguration {
  const issuer = jwt.objectOrEmpty('issuer');
  const mappings = jwt.objectOrEmpty('claimMappings');
  return {
    issuer: {
      url: issuer.text('url'),
      discoveryURL: issuer.text('discoveryURL'),
      certificateAuthority: issuer.text('certificateAuthority'),
      audiences: issuer.texts('audiences'),
      audienceMatchPolicy: issuer.text('audienceMatchPolicy'),
      egressSelectorType: issuer.text('egressSelectorType'),
    },
    claimValidationRules: jwt.objects('claimValidationRules').map((rule) => ({
      claim: rule.text('claim'),
      requiredValue: rule.text('requiredValue'),
      ...readRule(rule),
    })),
    claimMappings: {
      username: readPrefixed(mappings.objectOrEmpty('username')),
      groups: readPrefixed(mappings.objectOrEmpty('groups')),
      uid: readSource(mappings.objectOrEmpty('uid')),
      extra: mappings.objects('extra').map((one) => ({
        key: one.text('key'),
        valueExpression: one.text('valueExpression'),
      })),
    },
    userValidationRules: jwt.objects('userValidationRules').map(readRule),
  };
}

const readRule = (rule: StrictFields): ExpressionRule => ({
  expression: rule.text('expression'),
  message: rule.text('message'),
});

const readSource = (of: StrictFields): ClaimOrExpression => ({
  claim: of.text('claim'),
  expression: of.text('expression'),
});

const readPrefixed = (of: StrictFields): PrefixedClaimOrExpression => ({
  ...readSource(of),
  prefix: of.optionalText('prefix'),
});
