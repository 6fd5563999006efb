// Reviews: questions about users and permissions that are posted, answered and never stored. Each
// kind is a store that can do nothing but create.
import type { ResourceInfo } from '../../api/type-info.ts';
import type { Scheme } from '../../api/scheme.ts';
import type { ResourceStore } from '../resource-store.ts';
import type { StoreParts } from '../store-parts.ts';
import { virtualStore } from '../virtual-store.ts';
import { reviewAccess } from './access-review.ts';
import { answered, postedReview } from './posted-review.ts';
import type { Review, ReviewOptions } from './review.ts';
import { reviewRules } from './rules-review.ts';
import { reviewSelf } from './self-review.ts';
import { reviewToken } from './token-review.ts';

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
