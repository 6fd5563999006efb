// May answer 404: a cluster-scoped resource below a namespace, or one object of a namespaced
// resource outside of one. Runs before authorization, so that a permission for one scope never
// reaches the other (CVE-2019-11247 class).
import { pathNotFound } from '../../base/status.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { Filter, RequestInfo } from '../request-context.ts';

export type FindStore = (info: RequestInfo) => ResourceStore | undefined;

export function scopeFilter(findStore: FindStore): Filter {
  return function checkScope(request, _response, next) {
    const { info } = request.context;
    if (info.kind === 'resource' && !scopeFits(info, findStore(info))) throw pathNotFound();
    next();
  };
}

function scopeFits(info: RequestInfo, store: ResourceStore | undefined): boolean {
  if (store === undefined) return true; // unknown resources are answered after authorization
  if (store.resource.namespaced) return info.isInNamespace || !info.isItem;
  return !info.isInNamespace;
}
