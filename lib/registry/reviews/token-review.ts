// Whose token is this? Asked of the authenticators that judge a request's bearer token, for the
// audiences that the review names. A token that is no good is an answer, not a failure.
import { recordAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Authentication } from '../../authn/authenticator.ts';
import { badRequest } from '../../base/status.ts';
import type { Review } from './review.ts';
import { userInfo } from './user-info.ts';

/** @throws StatusError 400 without a token, and of admission plugins. */
export const reviewToken: Review = async (review, { authenticator, apiAudiences }) => {
  const { object, signal } = review;
  const spec = recordAt(object, 'spec');
  const token = textAt(spec, 'token');
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  await review.confirm();
  const named = textsAt(spec, 'audiences');
  const credentials = {
    token,
    connection: undefined,
    rawHeaders: [],
    audiences: named.length === 0 ? apiAudiences : named,
  };
  const verdict = await authenticator.authenticate(credentials, signal);
  return { ...object, status: statusOf(verdict) };
};

function statusOf(verdict: Authentication): JsonObject {
  switch (verdict.outcome) {
    case 'accepted': {
      const { user, audiences = [] } = verdict;
      return {
        authenticated: true,
        user: userInfo(user),
        ...(audiences.length === 0 ? {} : { audiences: [...audiences] }),
      };
    }
    case 'absent':
      return { error: 'no authenticator knows this token' };
    case 'rejected':
      return { error: verdict.reason };
  }
}
