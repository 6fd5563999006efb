import { describe, expect, test } from '@jest/globals';
import { testContext, testJwt } from '../testing/jwt-parts.ts';
import { userOf } from './claims.ts';
import { oidcConfiguration } from './oidc-flags.ts';
import type { OidcFlags } from './oidc-flags.ts';
import { compileJwt } from './validate.ts';

type Given = NonNullable<Parameters<typeof testJwt>[0]>;
const none = { claim: '', prefix: undefined, expression: '' };
const claims = { sub: 'jane', groups: ['dev', 'ops'], n: 5, empty: '', nothing: null };
const user = (given: Given, of: Record<string, unknown> = claims) =>
  userOf(compileJwt(testJwt(given), testContext()), of);
const mapped = (mappings: NonNullable<Given['claimMappings']>): Given => ({
  claimMappings: mappings,
});
const byExpression = (expression: string) => ({ ...none, expression });
const groupsBy = (claim: string, prefix = '') =>
  mapped({ groups: { claim, prefix, expression: '' } });
const extraBy = (valueExpression: string) =>
  mapped({ extra: [{ key: 'example.com/x', valueExpression }] });

describe('a user from claims (specification 3, jwt[].claimMappings)', () => {
  test.each<[claim: string, given: Given, expected: object]>([
    ['username: claim with prefix', {}, { name: 'a:jane', uid: '', groups: [], extra: {} }],
    [
      'username: prefix may be an empty string',
      mapped({ username: { claim: 'sub', prefix: '', expression: '' } }),
      { name: 'jane' },
    ],
    [
      'username: expression',
      mapped({ username: byExpression("claims.sub + '@b'") }),
      { name: 'jane@b' },
    ],
    ['groups: claim with prefix', groupsBy('groups', 'g-'), { groups: ['g-dev', 'g-ops'] }],
    ['groups: a claim that is a string', groupsBy('sub', 'g-'), { groups: ['g-jane'] }],
    ['groups: an absent claim', groupsBy('roles'), { groups: [] }],
    ['groups: a claim that is null', groupsBy('nothing'), { groups: [] }],
    [
      'groups: expression with a list of strings',
      mapped({ groups: byExpression("dyn(claims.groups).map(g, 'x/' + g)") }),
      { groups: ['x/dev', 'x/ops'] },
    ],
    [
      'groups: expression with a string',
      mapped({ groups: byExpression('claims.sub') }),
      { groups: ['jane'] },
    ],
    [
      'groups: empty strings of an expression vanish',
      mapped({ groups: byExpression('["", claims.sub, ""]') }),
      { groups: ['jane'] },
    ],
    ['uid: claim', mapped({ uid: { claim: 'sub', expression: '' } }), { uid: 'jane' }],
    [
      'uid: expression',
      mapped({ uid: { claim: '', expression: 'string(claims.n)' } }),
      { uid: '5' },
    ],
    ['extra: a string', extraBy('claims.sub'), { extra: { 'example.com/x': ['jane'] } }],
    ['extra: a list', extraBy('claims.groups'), { extra: { 'example.com/x': ['dev', 'ops'] } }],
    ['extra: an empty string vanishes', extraBy('claims.empty'), { extra: {} }],
    ['extra: an empty list vanishes', extraBy('[]'), { extra: {} }],
    ['extra: null vanishes', extraBy('claims.nothing'), { extra: {} }],
    ['extra: an absent claim by default', extraBy("claims.?x.orValue('')"), { extra: {} }],
  ])('%s', (_claim, given, expected) => {
    expect(user(given)).toMatchObject(expected);
  });

  test.each<[claim: string, given: Given, of: Record<string, unknown>, reason: RegExp]>([
    ['username: an absent claim', {}, {}, /username claim "sub" is missing/],
    ['username: a claim that is a number', {}, { sub: 7 }, /username claim "sub"/],
    ['username: an inherited member', {}, Object.create({ sub: 'x' }) as never, /missing/],
    ['username: an empty result fails', {}, { sub: '' }, /the username is empty/],
    [
      'username: an empty result of an expression',
      mapped({ username: byExpression('claims.empty') }),
      claims,
      /the username is empty/,
    ],
    [
      'username: an expression that is no string',
      mapped({ username: byExpression('claims.n') }),
      claims,
      /must return a string/,
    ],
    [
      'username: an expression on an absent claim',
      mapped({ username: byExpression('claims.name') }),
      claims,
      /no such key/,
    ],
    ['groups: numbers', groupsBy('n'), claims, /groups claim "n"/],
    ['groups: a list with a number', groupsBy('g'), { sub: 'a', g: ['a', 1] }, /groups claim "g"/],
    [
      'groups: an expression of another type',
      mapped({ groups: byExpression('[claims.n]') }),
      claims,
      /string or a list of strings/,
    ],
    [
      'uid: an absent claim',
      mapped({ uid: { claim: 'uid', expression: '' } }),
      claims,
      /uid claim/,
    ],
    ['uid: a number', mapped({ uid: { claim: 'n', expression: '' } }), claims, /uid claim "n"/],
    ['extra: an absent claim', extraBy('claims.x'), claims, /no such key/],
    ['extra: an optional value', extraBy('claims.?x'), claims, /string or a list of strings/],
  ])('no user: %s', (_claim, given, of, reason) => {
    expect(() => user(given, of)).toThrow(reason);
  });
});

describe('rules', () => {
  const required = { claimValidationRules: [{ claim: 'hd', requiredValue: 'a.b' }] };
  const short = {
    claimValidationRules: [{ expression: 'claims.exp - claims.iat <= 600', message: 'too long' }],
  };
  const notSystem = {
    userValidationRules: [
      { expression: "!user.username.startsWith('a:system:')", message: 'no system users' },
      { expression: "user.groups.all(g, !g.startsWith('system:'))", message: 'no system groups' },
    ],
    ...groupsBy('groups'),
  };

  test.each<[claim: string, given: Given, of: Record<string, unknown>]>([
    ['a required value', required, { sub: 'a', hd: 'a.b' }],
    ['an expression over claims', short, { sub: 'a', iat: 100, exp: 700 }],
    ['expressions over the user', notSystem, { sub: 'a', groups: ['dev'] }],
  ])('%s holds', (_claim, given, of) => {
    expect(user(given, of).name).toBe('a:a');
  });

  test.each<[claim: string, given: Given, of: Record<string, unknown>, reason: RegExp]>([
    ['a required value', required, { sub: 'a', hd: 'x' }, /required claim "hd"/],
    ['a required claim', required, { sub: 'a' }, /required claim "hd"/],
    ['a required claim as a list', required, { sub: 'a', hd: ['a.b'] }, /required claim "hd"/],
    ['an expression over claims', short, { sub: 'a', iat: 0, exp: 700 }, /failed: too long/],
    ['an expression on an absent claim', short, { sub: 'a' }, /no such key/],
    ['a user rule', notSystem, { sub: 'system:x' }, /failed: no system users/],
    ['a rule on groups', notSystem, { sub: 'a', groups: ['system:masters'] }, /system groups/],
  ])('%s fails', (_claim, given, of, reason) => {
    expect(() => user(given, of)).toThrow(reason);
  });

  test('an expression is bounded by its cost', () => {
    const list = Array.from({ length: 1_000 }, (_, at) => at);
    const dear = 'dyn(claims.l).all(a, dyn(claims.l).all(b, dyn(claims.l).all(c, a + b + c >= 0)))';
    const given = { claimValidationRules: [{ expression: dear }] };
    expect(() => user(given, { sub: 'a', l: list })).toThrow(/cost limit/);
  });
});

describe('flags (specification 3, OpenID Connect flags)', () => {
  const flags = (given: Partial<OidcFlags>): OidcFlags => ({
    'oidc-issuer-url': 'https://issuer.tests',
    'oidc-client-id': 'client',
    'oidc-username-claim': 'sub',
    'oidc-username-prefix': '',
    'oidc-groups-claim': '',
    'oidc-groups-prefix': '',
    'oidc-required-claim': new Map(),
    ...given,
  });
  const byFlags = (given: Partial<OidcFlags>, of: Record<string, unknown>) =>
    userOf(compileJwt(oidcConfiguration(flags(given), ''), testContext()), of);
  const email = { 'oidc-username-claim': 'email' };

  test.each<[claim: string, given: Partial<OidcFlags>, of: Record<string, unknown>, name: string]>([
    [
      '--oidc-username-prefix: default ISSUER# when the claim is not email',
      {},
      { sub: 'a' },
      'https://issuer.tests#a',
    ],
    ['--oidc-username-prefix: - disables', { 'oidc-username-prefix': '-' }, { sub: 'a' }, 'a'],
    ['--oidc-username-prefix: given', { 'oidc-username-prefix': 'o:' }, { sub: 'a' }, 'o:a'],
    ['--oidc-username-claim: email has no prefix', email, { email: 'a@b' }, 'a@b'],
    [
      '--oidc-username-claim: email with a prefix',
      { ...email, 'oidc-username-prefix': 'o:' },
      { email: 'a@b' },
      'o:a@b',
    ],
    [
      '--oidc-username-claim: a verified email',
      email,
      { email: 'a@b', email_verified: true },
      'a@b',
    ],
    [
      '--oidc-required-claim: token carries it',
      { 'oidc-required-claim': new Map([['hd', 'x']]), 'oidc-username-prefix': '-' },
      { sub: 'a', hd: 'x' },
      'a',
    ],
  ])('%s', (_claim, given, of, name) => {
    expect(byFlags(given, of)).toEqual({ name, uid: '', groups: [], extra: {} });
  });

  test.each<[claim: string, given: Partial<OidcFlags>, of: Record<string, unknown>]>([
    ['an email that is not verified', email, { email: 'a@b', email_verified: false }],
    ['an email whose check is a text', email, { email: 'a@b', email_verified: 'true' }],
    ['no email', email, { sub: 'a' }],
    ['no required claim', { 'oidc-required-claim': new Map([['hd', 'x']]) }, { sub: 'a', hd: 'y' }],
    ['an empty name', { 'oidc-username-prefix': '-' }, { sub: '' }],
  ])('no user: %s', (_claim, given, of) => {
    expect(() => byFlags(given, of)).toThrow();
  });

  test('--oidc-groups-claim and --oidc-groups-prefix', () => {
    const given = { 'oidc-groups-claim': 'groups', 'oidc-groups-prefix': 'oidc:' };
    expect(byFlags(given, { sub: 'a', groups: ['x'] }).groups).toEqual(['oidc:x']);
  });

  test('--oidc-issuer-url: https', () => {
    const given = flags({ 'oidc-issuer-url': 'http://issuer.tests' });
    expect(() => compileJwt(oidcConfiguration(given, ''), testContext())).toThrow(
      'issuer.url: Invalid value: "http://issuer.tests": URL scheme must be https',
    );
  });
});
