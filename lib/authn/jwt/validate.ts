// The rules of an authentication configuration, with the field paths and texts of kube-apiserver.
// What passes is compiled on the way: nothing is parsed twice.
import { FieldErrors, childPath } from '../../api/field-errors.ts';
import { formatOf } from '../../api/formats.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import { limits } from '../../base/limits.ts';
import { fieldErrorMessage } from '../../base/status.ts';
import { SettingsError } from '../../client/settings-error.ts';
import { makeSettings } from '../../client/target-settings.ts';
import type {
  AuthenticationConfiguration,
  ClaimMappings,
  ClaimValidationRule,
  ExpressionRule,
  IssuerConfiguration,
  JwtConfiguration,
  PrefixedClaimOrExpression,
} from './configuration.ts';
import { compileExpression, readsClaim } from './expressions.ts';
import type { CompiledExpression, ExpressionSubject } from './expressions.ts';

/** A configuration with its expressions compiled; undefined where there is none. */
export interface CompiledJwt {
  readonly configuration: JwtConfiguration;
  readonly username: CompiledExpression | undefined;
  readonly groups: CompiledExpression | undefined;
  readonly uid: CompiledExpression | undefined;
  readonly extra: readonly { readonly key: string; readonly value: CompiledExpression }[];
  readonly claimRules: readonly CompiledRule[];
  readonly userRules: readonly CompiledRule[];
}

export interface CompiledRule {
  readonly expression: CompiledExpression;
  readonly message: string;
}

export interface ValidationContext {
  readonly naming: NamingProfile;
  /** Whose tokens are those of service accounts. */
  readonly disallowedIssuers: readonly string[];
  /** Gate StructuredAuthenticationConfigurationEgressSelector. */
  readonly hasEgressSelector: boolean;
}

/** @throws Error with all that is wrong, each with its field. */
export function compileConfiguration(
  { jwt, anonymous }: AuthenticationConfiguration,
  context: ValidationContext,
): readonly CompiledJwt[] {
  const errors = new FieldErrors();
  const { jwtAuthenticatorsMax } = limits;
  let compiled: readonly CompiledJwt[] = [];
  if (jwt.length > jwtAuthenticatorsMax) errors.tooMany('jwt', jwt.length, jwtAuthenticatorsMax);
  else {
    const urls = new Set<string>();
    const discoveryUrls = new Set<string>();
    compiled = jwt.map((one, at) => {
      const path = `jwt[${String(at)}]`;
      const made = new JwtCompiler(context, errors).compile(one, path);
      const { url, discoveryURL } = one.issuer;
      noteUnique(urls, url, `${path}.issuer.url`, errors);
      if (discoveryURL !== '')
        noteUnique(discoveryUrls, discoveryURL, `${path}.issuer.discoveryURL`, errors);
      return made;
    });
  }
  if (anonymous?.enabled === false && anonymous.conditions.length > 0) {
    errors.invalid(
      'anonymous.conditions',
      anonymous.conditions,
      'enabled should be set to true when conditions are defined',
    );
  }
  refuse(errors);
  return compiled;
}

/**
 * A single authenticator, as the flags of OpenID Connect say it.
 * @throws Error as compileConfiguration
 */
export function compileJwt(jwt: JwtConfiguration, context: ValidationContext): CompiledJwt {
  const errors = new FieldErrors();
  const compiled = new JwtCompiler(context, errors).compile(jwt, '');
  refuse(errors);
  return compiled;
}

function refuse({ list }: FieldErrors): void {
  if (list.length === 0) return;
  const texts = list.map((error) => `${error.field}: ${fieldErrorMessage(error)}`);
  throw new Error(aggregateText(texts));
}

/** Notes the value, which must not have been there. */
function noteUnique(seen: Set<string>, value: string, path: string, errors: FieldErrors): boolean {
  if (seen.has(value)) {
    errors.duplicate(path, value);
    return false;
  }
  seen.add(value);
  return true;
}

const domainPathProblems = formatOf('domainPath') ?? (() => []);
const both = "claim and expression can't both be set";
const neither = 'claim or expression is required';
const emailRule =
  'claims.email_verified must be used in claimMappings.username.expression or ' +
  'claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when ' +
  'claims.email is used in claimMappings.username.expression';

class JwtCompiler {
  readonly #context: ValidationContext;
  readonly #errors: FieldErrors;

  constructor(context: ValidationContext, errors: FieldErrors) {
    this.#context = context;
    this.#errors = errors;
  }

  compile(jwt: JwtConfiguration, path: string): CompiledJwt {
    const at = (name: string): string => childPath(path, name);
    this.#checkIssuer(jwt.issuer, at('issuer'));
    const claimRules = this.#claimRules(jwt.claimValidationRules, at('claimValidationRules'));
    const mappings = this.#mappings(jwt.claimMappings, at('claimMappings'));
    const { username, extra } = mappings;
    const checking = [username, ...extra.map(({ value }) => value)];
    checking.push(...claimRules.map(({ expression }) => expression));
    const readsEmail = username !== undefined && readsClaim(username.checked, 'email');
    if (readsEmail && !checking.some((one) => one && readsClaim(one.checked, 'email_verified'))) {
      const text = jwt.claimMappings.username.expression;
      this.#errors.invalid(at('claimMappings.username.expression'), text, emailRule);
    }
    const userRules = this.#userRules(jwt.userValidationRules, at('userValidationRules'));
    return { configuration: jwt, ...mappings, claimRules, userRules };
  }

  #checkIssuer(issuer: IssuerConfiguration, path: string): void {
    const errors = this.#errors;
    const { url, discoveryURL, certificateAuthority, egressSelectorType } = issuer;
    if (url === '') errors.required(`${path}.url`);
    else this.#checkUrl(url, `${path}.url`, this.#context.disallowedIssuers);
    if (discoveryURL !== '') {
      const discoveryPath = `${path}.discoveryURL`;
      if (url !== '' && trimSlashes(url) === trimSlashes(discoveryURL)) {
        errors.invalid(discoveryPath, discoveryURL, 'discoveryURL must be different from URL');
      }
      this.#checkUrl(discoveryURL, discoveryPath, []);
    }
    this.#checkAudiences(issuer, path);
    const problem = caProblem(certificateAuthority);
    if (problem !== undefined) {
      errors.invalid(`${path}.certificateAuthority`, '<omitted>', problem);
    }
    this.#checkEgress(egressSelectorType, `${path}.egressSelectorType`);
  }

  #checkUrl(text: string, path: string, disallowed: readonly string[]): void {
    const errors = this.#errors;
    if (disallowed.includes(text)) {
      const listed = [...disallowed].sort().join(' ');
      errors.invalid(path, text, `URL must not overlap with disallowed issuers: [${listed}]`);
    }
    const url = URL.parse(text);
    if (url === null) {
      errors.invalid(path, text, 'URL cannot be parsed');
      return;
    }
    if (url.protocol !== 'https:') errors.invalid(path, text, 'URL scheme must be https');
    if (url.username !== '' || url.password !== '') {
      errors.invalid(path, text, 'URL must not contain a username or password');
    }
    if (url.search !== '') errors.invalid(path, text, 'URL must not contain a query');
    if (url.hash !== '') errors.invalid(path, text, 'URL must not contain a fragment');
  }

  #checkAudiences({ audiences, audienceMatchPolicy: policy }: IssuerConfiguration, path: string) {
    const errors = this.#errors;
    const audiencesPath = `${path}.audiences`;
    if (audiences.length === 0) {
      errors.required(audiencesPath, `at least one ${audiencesPath} is required`);
      return;
    }
    const seen = new Set<string>();
    for (const [at, audience] of audiences.entries()) {
      const onePath = `${audiencesPath}[${String(at)}]`;
      if (audience === '') errors.required(onePath);
      noteUnique(seen, audience, onePath, errors);
    }
    if (policy === 'MatchAny' || (audiences.length === 1 && policy === '')) return;
    const detail =
      audiences.length > 1
        ? 'audienceMatchPolicy must be MatchAny for multiple audiences'
        : 'audienceMatchPolicy must be empty or MatchAny for single audience';
    errors.invalid(`${path}.audienceMatchPolicy`, policy, detail);
  }

  #checkEgress(type: string, path: string): void {
    if (type === '') return;
    const errors = this.#errors;
    if (!this.#context.hasEgressSelector) {
      const gate = 'StructuredAuthenticationConfigurationEgressSelector';
      const detail = `egress selector is not supported when ${gate} feature gate is disabled`;
      errors.invalid(path, type, detail);
    }
    if (type !== 'controlplane' && type !== 'cluster') {
      errors.invalid(path, type, 'egress selector must be either controlplane or cluster');
      return;
    }
    const detail = 'there is no egress selector: this server has no --egress-selector-config-file';
    errors.invalid(path, type, detail);
  }

  #claimRules(rules: readonly ClaimValidationRule[], path: string): readonly CompiledRule[] {
    const errors = this.#errors;
    const claims = new Set<string>();
    const expressions = new Set<string>();
    return rules.flatMap((rule, at): CompiledRule[] => {
      const rulePath = `${path}[${String(at)}]`;
      const { claim, expression, message, requiredValue } = rule;
      if (claim !== '' && expression !== '') errors.invalid(rulePath, claim, both);
      else if (claim === '' && expression === '') errors.required(rulePath, neither);
      else if (claim !== '') {
        const detail = 'may not be specified when claim is set';
        if (message !== '') errors.invalid(`${rulePath}.message`, message, detail);
        noteUnique(claims, claim, `${rulePath}.claim`, errors);
      } else {
        const detail = 'may not be specified when expression is set';
        if (requiredValue !== '') {
          errors.invalid(`${rulePath}.requiredValue`, requiredValue, detail);
        }
        return this.#rule(rule, `${rulePath}.expression`, { seen: expressions, subject: 'claims' });
      }
      return [];
    });
  }

  #userRules(rules: readonly ExpressionRule[], path: string): readonly CompiledRule[] {
    const seen = new Set<string>();
    return rules.flatMap((rule, at) => {
      const rulePath = `${path}[${String(at)}].expression`;
      if (rule.expression !== '') return this.#rule(rule, rulePath, { seen, subject: 'user' });
      this.#errors.required(rulePath);
      return [];
    });
  }

  #rule(
    { expression: text, message }: ExpressionRule,
    path: string,
    { seen, subject }: { readonly seen: Set<string>; readonly subject: ExpressionSubject },
  ): CompiledRule[] {
    if (!noteUnique(seen, text, path, this.#errors)) return [];
    const expression = this.#expression(text, path, { subject, result: 'bool' });
    return expression === undefined ? [] : [{ expression, message }];
  }

  #mappings(
    mappings: ClaimMappings,
    path: string,
  ): Pick<CompiledJwt, 'username' | 'groups' | 'uid' | 'extra'> {
    const { username, groups, uid } = mappings;
    if (username.claim === '' && username.expression === '') {
      this.#errors.required(`${path}.username`, neither);
    }
    if (uid.claim !== '' && uid.expression !== '') this.#errors.invalid(`${path}.uid`, '', both);
    return {
      username: this.#prefixed(username, `${path}.username`),
      groups: this.#prefixed(groups, `${path}.groups`),
      uid:
        uid.expression === '' || uid.claim !== ''
          ? undefined
          : this.#expression(uid.expression, `${path}.uid.expression`),
      extra: this.#extra(mappings.extra, `${path}.extra`),
    };
  }

  #prefixed(
    { claim, prefix, expression }: PrefixedClaimOrExpression,
    path: string,
  ): CompiledExpression | undefined {
    if (claim !== '' && expression !== '') this.#errors.invalid(path, '', both);
    else if (expression !== '') {
      if (prefix !== undefined) {
        const detail = 'may not be specified when expression is set';
        this.#errors.invalid(`${path}.prefix`, prefix, detail);
      }
      return this.#expression(expression, `${path}.expression`);
    } else if (claim !== '' && prefix === undefined) {
      this.#errors.required(
        `${path}.prefix`,
        'prefix is required when claim is set. It can be set to an empty string to disable ' +
          'prefixing',
      );
    }
    return undefined;
  }

  #extra(mappings: ClaimMappings['extra'], path: string): CompiledJwt['extra'] {
    const errors = this.#errors;
    const seen = new Set<string>();
    return mappings.flatMap(({ key, valueExpression }, at) => {
      const keyPath = `${path}[${String(at)}].key`;
      const valuePath = `${path}[${String(at)}].valueExpression`;
      this.#checkKey(key, keyPath);
      if (!noteUnique(seen, key, keyPath, errors)) return [];
      if (valueExpression === '') {
        errors.required(valuePath);
        return [];
      }
      const value = this.#expression(valueExpression, valuePath);
      return value === undefined ? [] : [{ key, value }];
    });
  }

  #checkKey(key: string, path: string): void {
    const errors = this.#errors;
    const { naming } = this.#context;
    if (key === '') errors.required(path);
    else errors.problems(path, key, domainPathProblems(key));
    if (key !== key.toLowerCase()) errors.invalid(path, key, 'must be lowercase');
    const [domain = '', ...rest] = key.split('/');
    const reserved = [...new Set([naming.resolve('{v}'), naming.metadataDomain])];
    if (rest.length === 0 || !reserved.some((own) => `.${domain}`.endsWith(`.${own}`))) return;
    const names = reserved.join(', ');
    errors.invalid(path, key, `${names} and their subdomains are reserved for Kubernetes use`);
  }

  #expression(
    text: string,
    path: string,
    of: { readonly subject: ExpressionSubject; readonly result: 'bool' | 'any' } = {
      subject: 'claims',
      result: 'any',
    },
  ): CompiledExpression | undefined {
    const compiled = compileExpression(text, { ...of, naming: this.#context.naming });
    if (typeof compiled !== 'string') return compiled;
    this.#errors.invalid(path, text, compiled);
    return undefined;
  }
}

const trimSlashes = (url: string): string => url.replace(/\/+$/, '');

function caProblem(pem: string): string | undefined {
  if (pem === '') return undefined;
  try {
    makeSettings({ url: 'https://localhost/', ca: pem });
    return undefined;
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
}
