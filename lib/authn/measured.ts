// An authenticator whose attempts are counted by result, with the time that they took.
import type { User } from '../base/user.ts';
import type { Attempts } from '../telemetry/attempts.ts';
import type { Authentication, Authenticator } from './authenticator.ts';

export const authenticationResults = ['success', 'failure', 'error'] as const;
export type AuthenticationResult = (typeof authenticationResults)[number];

/** `allowsAnonymous`: absent credentials are those of the anonymous user, which are good. */
export function measuredAuthenticator(
  inner: Authenticator,
  attempts: Attempts<AuthenticationResult>,
  options: {
    readonly allowsAnonymous: boolean;
    /** Told of whoever is accepted. */
    readonly onUser?: (user: User) => void;
  },
): Authenticator {
  const { allowsAnonymous, onUser } = options;
  const results: Readonly<Record<Authentication['outcome'], AuthenticationResult>> = {
    accepted: 'success',
    absent: allowsAnonymous ? 'success' : 'failure',
    rejected: 'error',
  };
  const counted = (answer: Authentication, fromMs: number): Authentication => {
    attempts.ended(results[answer.outcome], fromMs);
    if (answer.outcome === 'accepted') onUser?.(answer.user);
    return answer;
  };
  const late = async (answer: Promise<Authentication>, fromMs: number): Promise<Authentication> => {
    try {
      return counted(await answer, fromMs);
    } catch (error) {
      attempts.ended('error', fromMs);
      throw error;
    }
  };
  return {
    name: inner.name,
    authenticate(credentials, end) {
      const fromMs = performance.now();
      const answer = inner.authenticate(credentials, end);
      return answer instanceof Promise ? late(answer, fromMs) : counted(answer, fromMs);
    },
  };
}
