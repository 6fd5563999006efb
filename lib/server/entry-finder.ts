// From what a request asks for to what serves it, in one turn: the store of its resource, or the
// proxy of its group version, whose discovery document (`/apis/GROUP/VERSION`) is the proxy's, too.
import type { ResourceMap } from '../registry/resource-map.ts';
import type { FindEntry } from './open-request.ts';

const versionPath = /^\/apis\/([^/]+)\/([^/]+)\/?$/;

export function entryFinder(resources: ResourceMap): FindEntry {
  return (info) => {
    if (info.kind === 'resource') return resources.find(info) ?? resources.findProxy(info);
    const [, group = '', version = ''] = versionPath.exec(info.path) ?? [];
    return group === '' ? undefined : resources.findProxy({ group, version });
  };
}
