import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import { testContext, testJwt } from '../testing/jwt-parts.ts';
import { issuerTls } from '../testing/token-issuer.ts';
import type { AuthenticationConfiguration, JwtConfiguration } from './configuration.ts';
import { compileConfiguration } from './validate.ts';
import type { ValidationContext } from './validate.ts';

type Given = NonNullable<Parameters<typeof testJwt>[0]>;
const none = { claim: '', prefix: undefined, expression: '' };
const compile = (
  jwt: readonly JwtConfiguration[],
  context: Partial<ValidationContext> = {},
  anonymous?: AuthenticationConfiguration['anonymous'],
) => compileConfiguration({ jwt, anonymous }, testContext(context));
const numbered = (count: number) =>
  Array.from({ length: count }, (_, at) => testJwt({ issuer: { url: `https://${String(at)}.t` } }));
const name = (expression: string) => ({ username: { ...none, expression } });
const extra = (key: string, valueExpression = 'claims.a') => ({
  claimMappings: { extra: [{ key, valueExpression }] },
});

describe('issuers', () => {
  test.each<[claim: string, given: Given, problem: string]>([
    ['url: required', { issuer: { url: '' } }, 'jwt[0].issuer.url: Required value'],
    [
      'url: https',
      { issuer: { url: 'http://a.tests' } },
      'jwt[0].issuer.url: Invalid value: "http://a.tests": URL scheme must be https',
    ],
    [
      'url: no user',
      { issuer: { url: 'https://u:p@a.tests' } },
      'URL must not contain a username or password',
    ],
    ['url: no query', { issuer: { url: 'https://a.tests?x=1' } }, 'must not contain a query'],
    ['url: no fragment', { issuer: { url: 'https://a.tests#x' } }, 'must not contain a fragment'],
    ['url: one that can be read', { issuer: { url: 'https://[' } }, 'URL cannot be parsed'],
    [
      'url: must not equal the service-account issuer',
      { issuer: { url: 'https://accounts.tests' } },
      'jwt[0].issuer.url: Invalid value: "https://accounts.tests": URL must not overlap with ' +
        'disallowed issuers: [https://accounts.tests]',
    ],
    [
      'discoveryURL: differs from url, trailing slashes aside',
      { issuer: { discoveryURL: 'https://issuer.tests//' } },
      'jwt[0].issuer.discoveryURL: Invalid value: "https://issuer.tests//": discoveryURL must be ' +
        'different from URL',
    ],
    [
      'discoveryURL: https',
      { issuer: { discoveryURL: 'http://d.tests/x' } },
      'jwt[0].issuer.discoveryURL: Invalid value: "http://d.tests/x": URL scheme must be https',
    ],
    [
      'certificateAuthority: PEM',
      { issuer: { certificateAuthority: 'no pem' } },
      'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>"',
    ],
    [
      'audiences: required',
      { issuer: { audiences: [] } },
      'jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required',
    ],
    [
      'audiences: not empty',
      { issuer: { audiences: [''] } },
      'jwt[0].issuer.audiences[0]: Required value',
    ],
    [
      'audiences: each once',
      { issuer: { audiences: ['a', 'a'], audienceMatchPolicy: 'MatchAny' } },
      'jwt[0].issuer.audiences[1]: Duplicate value: "a"',
    ],
    [
      'audienceMatchPolicy: required when several audiences are listed',
      { issuer: { audiences: ['a', 'b'] } },
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be ' +
        'MatchAny for multiple audiences',
    ],
    [
      'audienceMatchPolicy: MatchAny or nothing',
      { issuer: { audienceMatchPolicy: 'MatchAll' } },
      'audienceMatchPolicy must be empty or MatchAny for single audience',
    ],
  ])('%s', (_claim, given, problem) => {
    expect(() => compile([testJwt(given)])).toThrow(problem);
  });

  test.each<[claim: string, given: Given]>([
    ['audienceMatchPolicy: MatchAny with one', { issuer: { audienceMatchPolicy: 'MatchAny' } }],
    ['several audiences', { issuer: { audiences: ['a', 'b'], audienceMatchPolicy: 'MatchAny' } }],
    ['a discovery URL below the issuer', { issuer: { discoveryURL: 'https://issuer.tests/d' } }],
  ])('%s is good', (_claim, given) => {
    expect(compile([testJwt(given)])).toHaveLength(1);
  });

  test('certificateAuthority: certificates in PEM are good', async () => {
    const { ca } = await issuerTls();
    expect(compile([testJwt({ issuer: { certificateAuthority: ca } })])).toHaveLength(1);
  });

  test('jwt: at most 64; issuer.url: unique across entries; issuer.discoveryURL: unique', () => {
    expect(compile(numbered(64))).toHaveLength(64);
    expect(() => compile(numbered(65))).toThrow('jwt: Too many: 65: must have at most 64 items');
    expect(() => compile([testJwt(), testJwt()])).toThrow(
      'jwt[1].issuer.url: Duplicate value: "https://issuer.tests"',
    );
    const twice = numbered(2).map((jwt) => ({
      ...jwt,
      issuer: { ...jwt.issuer, discoveryURL: 'https://d.tests/x' },
    }));
    expect(() => compile(twice)).toThrow('jwt[1].issuer.discoveryURL: Duplicate value');
  });

  test('issuer.egressSelectorType: controlplane or cluster, needs its gate', () => {
    const of = (egressSelectorType: string) => [testJwt({ issuer: { egressSelectorType } })];
    const path = 'jwt[0].issuer.egressSelectorType: Invalid value: ';
    expect(() => compile(of('cluster'), { hasEgressSelector: false })).toThrow(
      `${path}"cluster": egress selector is not supported when ` +
        'StructuredAuthenticationConfigurationEgressSelector feature gate is disabled',
    );
    expect(() => compile(of('etcd'))).toThrow(
      `${path}"etcd": egress selector must be either controlplane or cluster`,
    );
    for (const type of ['cluster', 'controlplane']) {
      expect(() => compile(of(type))).toThrow(`${path}"${type}": there is no egress selector`);
    }
  });

  test('nothing, and anonymous alone, is a configuration', () => {
    expect(compile([])).toEqual([]);
    const conditions = [{ path: '/livez' }];
    expect(compile([], {}, { enabled: true, conditions })).toEqual([]);
    expect(() => compile([], {}, { enabled: false, conditions })).toThrow(
      'enabled should be set to true when conditions are defined',
    );
  });
});

describe('claims and expressions', () => {
  test.each<[claim: string, given: Given, problem: string]>([
    [
      'claimValidationRules: claim or expression',
      { claimValidationRules: [{ claim: 'a', expression: 'true' }] },
      `jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression can't both be set`,
    ],
    [
      'claimValidationRules: one of them',
      { claimValidationRules: [{}] },
      'jwt[0].claimValidationRules[0]: Required value: claim or expression is required',
    ],
    [
      'claimValidationRules: message is of an expression',
      { claimValidationRules: [{ claim: 'a', message: 'm' }] },
      'jwt[0].claimValidationRules[0].message: Invalid value: "m": may not be specified when',
    ],
    [
      'claimValidationRules: requiredValue is of a claim',
      { claimValidationRules: [{ expression: 'true', requiredValue: 'v' }] },
      'jwt[0].claimValidationRules[0].requiredValue: Invalid value: "v": may not be specified',
    ],
    [
      'claimValidationRules: each claim once',
      { claimValidationRules: [{ claim: 'a' }, { claim: 'a' }] },
      'jwt[0].claimValidationRules[1].claim: Duplicate value: "a"',
    ],
    [
      'claimValidationRules: each expression once',
      { claimValidationRules: [{ expression: 'true' }, { expression: 'true' }] },
      'jwt[0].claimValidationRules[1].expression: Duplicate value: "true"',
    ],
    [
      'claimValidationRules: boolean',
      { claimValidationRules: [{ expression: 'claims.a' }] },
      'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.a": must evaluate to bool',
    ],
    [
      'claimValidationRules: an expression',
      { claimValidationRules: [{ expression: 'claims.' }] },
      'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.": compilation failed: ',
    ],
    [
      'claimValidationRules: the variable is claims',
      { claimValidationRules: [{ expression: 'user.username == ""' }] },
      "undeclared reference to 'user'",
    ],
    [
      'claimMappings.username: required',
      { claimMappings: { username: none } },
      'jwt[0].claimMappings.username: Required value: claim or expression is required',
    ],
    [
      'claimMappings.username: exclusive',
      { claimMappings: { username: { claim: 'sub', prefix: '', expression: 'claims.sub' } } },
      `jwt[0].claimMappings.username: Invalid value: "": claim and expression can't both be set`,
    ],
    [
      'claimMappings.username: prefix required',
      { claimMappings: { username: { ...none, claim: 'sub' } } },
      'jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is ' +
        'set. It can be set to an empty string to disable prefixing',
    ],
    [
      'claimMappings.username: no prefix with an expression',
      { claimMappings: { username: { claim: '', prefix: '', expression: 'claims.sub' } } },
      'jwt[0].claimMappings.username.prefix: Invalid value: "": may not be specified when',
    ],
    [
      'claimMappings.groups: prefix required',
      { claimMappings: { groups: { ...none, claim: 'groups' } } },
      'jwt[0].claimMappings.groups.prefix: Required value',
    ],
    [
      'claimMappings.uid: claim or expression',
      { claimMappings: { uid: { claim: 'a', expression: 'claims.a' } } },
      `jwt[0].claimMappings.uid: Invalid value: "": claim and expression can't both be set`,
    ],
    ['claimMappings.extra: key required', extra(''), 'jwt[0].claimMappings.extra[0].key: Required'],
    ['claimMappings.extra: domain-prefixed', extra('tenant'), 'must be a domain-prefixed path'],
    [
      'claimMappings.extra: lower case',
      extra('example.com/Tenant'),
      'jwt[0].claimMappings.extra[0].key: Invalid value: "example.com/Tenant": must be lowercase',
    ],
    ...['k8s.io/a', 'x.k8s.io/a', 'kubernetes.io/a', 'x.kubernetes.io/a'].map(
      (key): [string, Given, string] => [
        `claimMappings.extra: ${key} is reserved`,
        extra(key),
        `Invalid value: "${key}": k8s.io, kubernetes.io and their subdomains are reserved`,
      ],
    ),
    [
      'claimMappings.extra: unique',
      {
        claimMappings: {
          extra: ['a', 'b'].map((one) => ({ key: 'a.b/c', valueExpression: `claims.${one}` })),
        },
      },
      'jwt[0].claimMappings.extra[1].key: Duplicate value: "a.b/c"',
    ],
    [
      'claimMappings.extra: valueExpression required',
      extra('example.com/a', ''),
      'jwt[0].claimMappings.extra[0].valueExpression: Required value',
    ],
    [
      'userValidationRules: expression required',
      { userValidationRules: [{}] },
      'jwt[0].userValidationRules[0].expression: Required value',
    ],
    [
      'userValidationRules: boolean',
      { userValidationRules: [{ expression: 'user.username' }] },
      'jwt[0].userValidationRules[0].expression: Invalid value: "user.username": must evaluate to',
    ],
    [
      'userValidationRules: each once',
      { userValidationRules: [{ expression: 'true' }, { expression: 'true' }] },
      'jwt[0].userValidationRules[1].expression: Duplicate value',
    ],
    [
      'userValidationRules: fields of the user alone',
      { userValidationRules: [{ expression: 'user.name == ""' }] },
      'jwt[0].userValidationRules[0].expression: Invalid value',
    ],
  ])('%s', (_claim, given, problem) => {
    expect(() => compile([testJwt(given)])).toThrow(problem);
  });

  test('claimMappings.extra: not under the vendor reserved domains', () => {
    const svc = { naming: namingProfile('svc') };
    expect(compile([testJwt(extra('x.k8s.io/a'))], svc)).toHaveLength(1);
    expect(compile([testJwt(extra('notk8s.io/a'))])).toHaveLength(1);
    expect(() => compile([testJwt(extra('x.svc.io/a'))], svc)).toThrow('are reserved');
  });

  test('all that is wrong is said at once', () => {
    const given = { issuer: { url: '', audiences: [] }, userValidationRules: [{}] };
    expect(() => compile([testJwt(given)])).toThrow(
      /^\[jwt\[0\]\.issuer\.url: .*, jwt\[0\]\.issuer\.audiences: .*userValidationRules.*\]$/,
    );
  });

  const emailRule = /claims\.email_verified must be used/;
  test.each([
    'claims.email',
    'claims.?email.orValue("")',
    'claims["email"]',
    'claims[?"email"].orValue("")',
    'has(claims.email) ? "a" : "b"',
    '[claims].map(c, claims.email)[0]',
    'true ? {"a": claims.email}.a : ""',
    '"email_verified" + claims.email', // a text is no check
    '[{"email_verified": true}].map(claims, claims.email_verified)[0] ? claims.email : ""',
  ])('a name by %s must check that the address is verified', (expression) => {
    expect(() => compile([testJwt({ claimMappings: name(expression) })])).toThrow(emailRule);
  });

  test.each<[claim: string, given: Given]>([
    ['the name', { claimMappings: name('claims.email_verified ? claims.email : claims.sub') }],
    [
      'the name, optional',
      { claimMappings: name('claims.?email_verified.orValue(true) ? claims.email : ""') },
    ],
    [
      'extra',
      {
        claimMappings: {
          ...name('claims.email'),
          ...extra('a.b/c', 'string(claims.email_verified)').claimMappings,
        },
      },
    ],
    [
      'a rule',
      {
        claimMappings: name('claims.email'),
        claimValidationRules: [{ expression: 'claims.email_verified == true' }],
      },
    ],
    ['nothing, where another claim is read', { claimMappings: name('claims.email_address') }],
    ['nothing, where another map has one', { claimMappings: name('claims.user.email') }],
    [
      'nothing, where a loop has claims of its own',
      { claimMappings: name('[{"email": ""}].map(claims, claims.email)[0]') },
    ],
    [
      'nothing, where groups read it',
      { claimMappings: { groups: { ...none, expression: 'claims.email' } } },
    ],
  ])('the address is checked in %s', (_claim, given) => {
    expect(compile([testJwt(given)])).toHaveLength(1);
  });

  test('a check in user rules or groups does not count', () => {
    const given = {
      claimMappings: {
        ...name('claims.email'),
        groups: { ...none, expression: 'string(claims.email_verified)' },
      },
    };
    expect(() => compile([testJwt(given)])).toThrow(emailRule);
  });
});
