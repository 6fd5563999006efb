// The kinds of authorization: one record each.
import type { Kind } from '../kind.ts';
import { reviewConversions } from './conversion.ts';

export const authorizationKinds: readonly Kind[] = [
  {
    name: 'authorization/SubjectAccessReview',
    conversions: reviewConversions('SubjectAccessReview'),
  },
  {
    name: 'authorization/LocalSubjectAccessReview',
    conversions: reviewConversions('LocalSubjectAccessReview'),
  },
];
