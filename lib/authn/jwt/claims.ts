// From the claims of a verified token to a user, or to the reason why it gives none. Claims are
// read as own members only: their names are the issuer's and the configuration's.
import type { User } from '../../base/user.ts';
import type { CompiledExpression } from './expressions.ts';
import { evaluate, textsOf } from './expressions.ts';
import type { CompiledJwt, CompiledRule } from './validate.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** Why a token that its issuer signed gives no user here. */
class ClaimError extends Error {
  override readonly name = 'ClaimError';
}

const claimOf = (claims: Claims, name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined;

/** @throws ClaimError */
export function userOf(compiled: CompiledJwt, claims: Claims): User {
  const user: User = {
    name: nameOf(compiled, claims),
    groups: groupsOf(compiled, claims),
    uid: uidOf(compiled, claims),
    extra: extraOf(compiled, claims),
  };
  checkRequired(compiled, claims);
  checkRules(compiled.claimRules, { claims }, 'claim validation');
  const { name: username, uid, groups, extra } = user;
  checkRules(compiled.userRules, { user: { username, uid, groups, extra } }, 'user validation');
  return user;
}

function nameOf({ configuration, username }: CompiledJwt, claims: Claims): string {
  const name =
    username === undefined
      ? claimedName(configuration, claims)
      : textOf('username', username, claims);
  if (name === '') throw new ClaimError('the username is empty');
  return name;
}

function claimedName({ claimMappings }: CompiledJwt['configuration'], claims: Claims): string {
  const { claim, prefix = '' } = claimMappings.username;
  const name = claimedText('username', claim, claims);
  // An address that its issuer has not verified may be anybody's.
  if (claim === 'email' && Object.hasOwn(claims, 'email_verified')) {
    if (claims['email_verified'] !== true) throw new ClaimError('the email is not verified');
  }
  return name === '' ? '' : `${prefix}${name}`;
}

function groupsOf({ configuration, groups }: CompiledJwt, claims: Claims): readonly string[] {
  if (groups !== undefined) return textsIn('groups', groups, claims);
  const { claim, prefix = '' } = configuration.claimMappings.groups;
  const value = claim === '' ? undefined : claimOf(claims, claim);
  if (value === undefined || value === null) return [];
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  return names.map((name) => {
    if (typeof name !== 'string') {
      throw new ClaimError(`the groups claim "${claim}" is neither a string nor a list of them`);
    }
    return `${prefix}${name}`;
  });
}

function uidOf({ configuration, uid }: CompiledJwt, claims: Claims): string {
  if (uid !== undefined) return textOf('uid', uid, claims);
  const { claim } = configuration.claimMappings.uid;
  return claim === '' ? '' : claimedText('uid', claim, claims);
}

function extraOf({ extra }: CompiledJwt, claims: Claims): User['extra'] {
  const entries = extra.map(
    ({ key, value }) => [key, textsIn(`extra ${key}`, value, claims)] as const,
  );
  return Object.fromEntries(entries.filter(([, values]) => values.length > 0));
}

function checkRequired({ configuration }: CompiledJwt, claims: Claims): void {
  for (const { claim, requiredValue } of configuration.claimValidationRules) {
    if (claim === '' || claimOf(claims, claim) === requiredValue) continue;
    throw new ClaimError(`the required claim "${claim}" is missing or has another value`);
  }
}

function checkRules(
  rules: readonly CompiledRule[],
  bindings: Readonly<Record<string, unknown>>,
  what: string,
): void {
  for (const { expression, message } of rules) {
    if (valueOf(what, expression, bindings) === true) continue;
    throw new ClaimError(`${what} expression '${expression.program.text}' failed: ${message}`);
  }
}

function claimedText(what: string, claim: string, claims: Claims): string {
  const value = claimOf(claims, claim);
  if (typeof value === 'string') return value;
  throw new ClaimError(`the ${what} claim "${claim}" is missing or not a string`);
}

function textOf(what: string, expression: CompiledExpression, claims: Claims): string {
  const value = valueOf(what, expression, { claims });
  if (typeof value === 'string') return value;
  throw new ClaimError(`${what}: expression must return a string`);
}

const textsIn = (what: string, expression: CompiledExpression, claims: Claims): readonly string[] =>
  orClaimError(what, () => textsOf(evaluate(expression, { claims })));

const valueOf = (
  what: string,
  expression: CompiledExpression,
  bindings: Readonly<Record<string, unknown>>,
): unknown => orClaimError(what, () => evaluate(expression, bindings));

function orClaimError<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw new ClaimError(`${what}: ${(cause as Error).message}`, { cause });
  }
}
