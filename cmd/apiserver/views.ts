// The cluster as memory has it, resource by resource: what authenticators and authorizers look at.
import type { Cache } from '../../lib/cacher/cache.ts';
import type { ResourceView } from '../../lib/cacher/resource-view.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Base } from './base.ts';

/**
 * The view of a resource as it is stored. The group has the vendor's token as a placeholder;
 * undefined: the resource is not served.
 */
export type ViewOf = (group: string, resource: string) => ResourceView | undefined;

export const viewsOf =
  ({ scheme, naming }: Base, cache: Cache): ViewOf =>
  (group, resource) => {
    const stored = scheme.storedResource(naming.resolve(group), resource);
    return stored && cache.view(stored);
  };

/** @throws FlagError when it is not served: `whose` is who cannot do without. */
export function neededView(
  viewOf: ViewOf,
  [group, resource]: readonly [group: string, resource: string],
  whose: string,
): ResourceView {
  const view = viewOf(group, resource);
  if (view !== undefined) return view;
  throw new FlagError(`${whose} needs ${resource}, which --runtime-config turns off`);
}
