// Reviews: questions about users and permissions that are posted, answered and never stored. Each
// kind is a store that can do nothing but create.
import type { ResourceInfo } from '../../api/type-info.ts';
import type { Scheme } from '../../api/scheme.ts';
import type { Authenticator } from '../../authn/authenticator.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { Clock } from '../../base/clock.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { ResourceStore } from '../resource-store.ts';
import type { StoreParts } from '../store-parts.ts';
import { virtualStore } from '../virtual-store.ts';
import { reviewAccess } from './access-review.ts';
import { answered, postedReview } from './posted-review.ts';
import type { Reviewed } from './posted-review.ts';
import { reviewRules } from './rules-review.ts';
import { reviewSelf } from './self-review.ts';
import { reviewToken } from './token-review.ts';

export interface ReviewOptions {
  /** Asked about tokens alone. */
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Whom tokens are meant for where a review names no audiences. */
  readonly apiAudiences: readonly string[];
  readonly clock: Clock;
}

/** The object that a posted review is answered with, whose kind and version may be left out. */
export type Review = (review: Reviewed, options: ReviewOptions) => Promise<Readonly<ApiObject>>;

const reviews: Readonly<Record<string, Review>> = {
  TokenReview: reviewToken,
  SelfSubjectReview: reviewSelf,
  SubjectAccessReview: reviewAccess,
  LocalSubjectAccessReview: reviewAccess,
  SelfSubjectAccessReview: reviewAccess,
  SelfSubjectRulesReview: reviewRules,
};

/** A store for each kind of review that is served. */
export const reviewStores = (
  scheme: Scheme,
  partsOf: (review: ResourceInfo) => StoreParts,
  options: ReviewOptions,
): ResourceStore[] =>
  scheme.resources.flatMap((resource) => {
    const review = reviews[resource.kind.kind];
    if (!resource.virtual || review === undefined) return [];
    const parts = partsOf(resource);
    return virtualStore(resource, {
      async create(request) {
        const posted = await postedReview(parts, request);
        return answered(parts, await review(posted, options));
      },
    });
  });
