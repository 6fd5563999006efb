// May answer 503: what the map of resources does not show is not served only once the map is
// proven, since another replica may have served it already. What is known costs nothing.
import type { ResourceMap } from '../../registry/resource-map.ts';
import type { Filter, RequestContext } from '../request-context.ts';

/** Runs for who is authenticated: strangers cause no reads of etcd. */
export function proofFilter(resources: ResourceMap): Filter {
  return function proveEntries({ context }, _response, next) {
    if (isKnown(context, resources)) return next();
    return resources.proven(context.signal).then(() => {
      context.find();
      return next();
    });
  };
}

const groupPath = /^\/apis\/([^/]+)(?:\/([^/]+))?\/?$/;

function isKnown({ info, store, proxy }: RequestContext, resources: ResourceMap): boolean {
  if (info.kind === 'resource') return store !== undefined || proxy !== undefined;
  if (!info.path.startsWith('/apis/')) return true;
  const [, group = '', version] = groupPath.exec(info.path) ?? [];
  return group === '' || resources.serves(group, version);
}
