// Asks authenticators in order: the first that accepts wins; a rejection is remembered, not final.
import type { User } from '../base/user.ts';
import type { Authentication, Authenticator } from './authenticator.ts';
import { authenticatedGroup } from '../base/user.ts';

const absent: Authentication = { outcome: 'absent' };

/** Accepted users get `system:authenticated`. */
export function unionAuthenticator(members: readonly Authenticator[]): Authenticator {
  return {
    name: 'union',
    authenticate(credentials, end) {
      return tryFrom(0, absent);

      function tryFrom(
        start: number,
        soFar: Authentication,
      ): ReturnType<Authenticator['authenticate']> {
        let verdict = soFar;
        for (let index = start; index < members.length; index++) {
          const answer = members[index]?.authenticate(credentials, end) ?? absent;
          if (answer instanceof Promise) return answer.then((late) => settle(late, index, verdict));
          if (answer.outcome === 'accepted') return withAuthenticatedGroup(answer);
          if (answer.outcome === 'rejected') verdict = answer;
        }
        return verdict;
      }
      function settle(
        answer: Authentication,
        index: number,
        soFar: Authentication,
      ): ReturnType<Authenticator['authenticate']> {
        if (answer.outcome === 'accepted') return withAuthenticatedGroup(answer);
        return tryFrom(index + 1, answer.outcome === 'rejected' ? answer : soFar);
      }
    },
  };
}

const grouped = new WeakMap<User, Authentication>();

/** One object per user record: a token's requests share it. */
function withAuthenticatedGroup(
  answer: Extract<Authentication, { outcome: 'accepted' }>,
): Authentication {
  const known = answer.audiences === undefined ? grouped.get(answer.user) : undefined;
  if (known !== undefined) return known;
  const { user } = answer;
  const groups = user.groups.includes(authenticatedGroup)
    ? user.groups
    : [...user.groups, authenticatedGroup];
  const result: Authentication = { ...answer, user: { ...user, groups } };
  if (answer.audiences === undefined) grouped.set(user, result);
  return result;
}
