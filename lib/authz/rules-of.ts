// Rules of an authorizer that another one wraps: as they are, or absent where it has none.
import type { Authorizer } from './authorizer.ts';

export const rulesOf = (inner: Authorizer): Pick<Authorizer, 'rulesFor'> =>
  inner.rulesFor === undefined ? {} : { rulesFor: inner.rulesFor.bind(inner) };
