// An authorizer whose attempts are counted by result, with the time that they took.
import type { Attempts } from '../telemetry/attempts.ts';
import type { Authorizer, Decision } from './authorizer.ts';
import { rulesOf } from './rules-of.ts';

export const authorizationResults = ['allowed', 'denied', 'no-opinion', 'error'] as const;
export type AuthorizationResult = (typeof authorizationResults)[number];

const results: Readonly<Record<Decision['effect'], AuthorizationResult>> = {
  allow: 'allowed',
  deny: 'denied',
  noOpinion: 'no-opinion',
};

export function measuredAuthorizer(
  inner: Authorizer,
  attempts: Attempts<AuthorizationResult>,
): Authorizer {
  const counted = (decision: Decision, fromMs: number): Decision => {
    attempts.ended(results[decision.effect], fromMs);
    return decision;
  };
  const late = async (decision: Promise<Decision>, fromMs: number): Promise<Decision> => {
    try {
      return counted(await decision, fromMs);
    } catch (error) {
      attempts.ended('error', fromMs);
      throw error;
    }
  };
  return {
    name: inner.name,
    ...rulesOf(inner),
    authorize(attributes, end) {
      const fromMs = performance.now();
      const decision = inner.authorize(attributes, end);
      return decision instanceof Promise ? late(decision, fromMs) : counted(decision, fromMs);
    },
  };
}
