// An authorizer that keeps something of the cluster, asked once it has all of that: before, it
// would refuse what it has not heard of yet. Who asks sooner waits.
import { abortable } from '../base/abort.ts';
import type { Authorizer } from './authorizer.ts';
import { rulesOf } from './rules-of.ts';

/** @param whole resolves when `inner` has all that it decides by; it must not reject */
export function onceWhole(inner: Authorizer, whole: Promise<void>): Authorizer {
  let isWhole = false;
  void whole.then(() => (isWhole = true));
  return {
    name: inner.name,
    ...rulesOf(inner),
    authorize(attributes, end) {
      if (isWhole) return inner.authorize(attributes, end);
      return abortable(whole, end).then(() => inner.authorize(attributes, end));
    },
  };
}
