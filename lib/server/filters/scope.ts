// May answer 404: a cluster-scoped resource below a namespace, or one object of a namespaced
// resource outside of one. Runs before authorization, so that a permission for one scope never
// reaches the other (CVE-2019-11247 class).
import { pathNotFound } from '../../base/status.ts';
import type { Filter, RequestContext } from '../request-context.ts';

export const checkScope: Filter = (request, _response, next) => {
  if (!scopeFits(request.context)) throw pathNotFound();
  return next();
};

function scopeFits({ info, store }: RequestContext): boolean {
  if (store === undefined) return true; // unknown resources are answered after authorization
  if (store.resource.namespaced) return info.isInNamespace || !info.isItem;
  return !info.isInNamespace;
}
