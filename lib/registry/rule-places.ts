// Where keys of etcd lie, as the rules of admission name places: resource and namespace.
import type { StoredPlace } from '../admission/concerning-rules.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { ResourceMap } from './resource-map.ts';

/** @param root of all keys, with a slash at its end */
export function rulePlaces(
  root: string,
  resources: Pick<ResourceMap, 'all' | 'version'>,
): (key: string) => StoredPlace | undefined {
  let known: { readonly version: number; readonly byPrefix: Map<string, ResourceInfo[]> } = {
    version: -1,
    byPrefix: new Map(),
  };
  const byPrefix = (): Map<string, ResourceInfo[]> => {
    if (known.version === resources.version) return known.byPrefix;
    const made = Map.groupBy(
      resources.all.map((store) => store.resource),
      ({ storagePrefix }) => storagePrefix,
    );
    known = { version: resources.version, byPrefix: made };
    return made;
  };
  return (key) => {
    const segments = key.slice(root.length).split('/');
    for (const length of [1, 2]) {
      const found = byPrefix().get(segments.slice(0, length).join('/'));
      const [first] = found ?? [];
      if (found === undefined || first === undefined) continue;
      return { resources: found, namespace: first.namespaced ? (segments[length] ?? '') : '' };
    }
    return undefined;
  };
}
