// Asks authenticators in order: the first that accepts wins; a rejection is remembered, not final.
import type { User } from '../base/user.ts';
import type { Authentication, Authenticator } from './authenticator.ts';
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
      return tryFrom(0, credentials.token === undefined ? absent : unknownToken);

      function tryFrom(
        start: number,
        soFar: Authentication,
      ): ReturnType<Authenticator['authenticate']> {
        let verdict = soFar;
        for (let index = start; index < members.length; index++) {
          const given = members[index]?.authenticate(credentials, end) ?? absent;
          if (given instanceof Promise) return given.then((late) => settle(late, index, verdict));
          const answer = forAudiences(given, credentials.audiences, ownAudiences);
          if (answer.outcome === 'accepted') return withAuthenticatedGroup(answer);
          if (answer.outcome === 'rejected') verdict = answer;
        }
        return verdict;
      }
      function settle(
        given: Authentication,
        index: number,
        soFar: Authentication,
      ): ReturnType<Authenticator['authenticate']> {
        const answer = forAudiences(given, credentials.audiences, ownAudiences);
        if (answer.outcome === 'accepted') return withAuthenticatedGroup(answer);
        return tryFrom(index + 1, answer.outcome === 'rejected' ? answer : soFar);
      }
    },
  };
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
