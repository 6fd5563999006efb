// Asks authenticators in order: the first that accepts wins; a rejection is remembered, not final.
import type { WaitEnd } from '../base/abort.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { User } from '../base/user.ts';
import type { Authentication, Authenticator, Credentials } from './authenticator.ts';
import { anonymousUser, authenticatedGroup, unauthenticatedGroup } from '../base/user.ts';

const absent: Authentication = { outcome: 'absent' };
const unknownToken: Authentication = { outcome: 'rejected', reason: 'unknown token' };

/**
 * Accepted users get `system:authenticated`, but for one whom a proxy or certificate names as
 * nobody in particular. What members that know no audiences accept is meant
 * for `ownAudiences` alone: asked for others, it is as good as rejected.
 */
export function unionAuthenticator(
  members: readonly Authenticator[],
  ownAudiences: readonly string[] = [],
): Authenticator {
  return {
    name: 'union',
    authenticate(credentials, end) {
      // A token that no method is for is bad: who shows one is never anonymous.
      const verdict = credentials.token === undefined ? absent : unknownToken;
      return askFrom(0, verdict, { members, ownAudiences, credentials, end });
    },
  };
}

interface Question {
  readonly members: readonly Authenticator[];
  readonly ownAudiences: readonly string[];
  readonly credentials: Credentials;
  readonly end: WaitEnd;
}

/** Members that answer at once cost no promise. */
function askFrom(
  start: number,
  soFar: Authentication,
  question: Question,
): MaybePromise<Authentication> {
  const { members, ownAudiences, credentials, end } = question;
  let verdict = soFar;
  for (let index = start; index < members.length; index++) {
    const given = members[index]?.authenticate(credentials, end) ?? absent;
    if (given instanceof Promise) return settle(given, index, verdict, question);
    const answer = forAudiences(given, credentials.audiences, ownAudiences);
    if (answer.outcome === 'accepted') return withAuthenticatedGroup(answer);
    if (answer.outcome === 'rejected') verdict = answer;
  }
  return verdict;
}

async function settle(
  late: Promise<Authentication>,
  index: number,
  soFar: Authentication,
  question: Question,
): Promise<Authentication> {
  const { ownAudiences, credentials } = question;
  const answer = forAudiences(await late, credentials.audiences, ownAudiences);
  if (answer.outcome === 'accepted') return withAuthenticatedGroup(answer);
  return askFrom(index + 1, answer.outcome === 'rejected' ? answer : soFar, question);
}

const notForThese: Authentication = {
  outcome: 'rejected',
  reason: 'the token is for this server, not for the audiences that are asked for',
};

/** Members that know audiences have looked at them already. */
function forAudiences(
  answer: Authentication,
  wanted: readonly string[],
  own: readonly string[],
): Authentication {
  if (wanted.length === 0 || answer.outcome !== 'accepted' || answer.audiences !== undefined) {
    return answer;
  }
  const audiences = wanted.filter((one) => own.includes(one));
  return audiences.length === 0 ? notForThese : { ...answer, audiences };
}

const grouped = new WeakMap<User, Authentication>();

/** One object per user record: a token's requests share it. */
function withAuthenticatedGroup(
  answer: Extract<Authentication, { outcome: 'accepted' }>,
): Authentication {
  if (answer.user.groups.includes(authenticatedGroup)) return answer;
  const known = answer.audiences === undefined ? grouped.get(answer.user) : undefined;
  if (known !== undefined) return known;
  const { user } = answer;
  const isSettled =
    user.name === anonymousUser.name ||
    user.groups.some((group) => group === authenticatedGroup || group === unauthenticatedGroup);
  if (isSettled) return answer;
  const groups = [...user.groups, authenticatedGroup];
  const result: Authentication = { ...answer, user: { ...user, groups } };
  if (answer.audiences === undefined) grouped.set(user, result);
  return result;
}
