// The resources of the map as configured admission rules see them.
import type { ServedResource, ServedResources } from '../../lib/admission/served-resources.ts';
import { apiVersionOf } from '../../lib/api/type-info.ts';
import type { GroupVersionKind, ResourceInfo } from '../../lib/api/type-info.ts';
import { StatusError } from '../../lib/base/status.ts';
import type { ApiObject } from '../../lib/codec/codec.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { ResourceStore } from '../../lib/registry/resource-store.ts';

export function servedResources(resources: ResourceMapHolder): ServedResources {
  let known: { readonly version: number; readonly byKind: Map<string, ResourceStore> } | undefined;
  const byKind = (): Map<string, ResourceStore> => {
    if (known?.version === resources.version) return known.byKind;
    const stores = new Map<string, ResourceStore>();
    for (const store of resources.all) {
      const key = kindKey(store.resource.kind);
      if (!stores.has(key)) stores.set(key, store);
    }
    known = { version: resources.version, byKind: stores };
    return stores;
  };
  return {
    get version() {
      return resources.version;
    },
    ofKind: (kind) => shown(byKind().get(kindKey(kind))),
    find: (of) => shown(resources.find(of)),
    equivalentsOf: (resource) =>
      resources.all
        .map((store) => store.resource)
        .filter(({ storagePrefix }) => storagePrefix === resource.storagePrefix),
    proven: (signal) => resources.proven(signal),
  };
}

const kindKey = (kind: GroupVersionKind): string => `${apiVersionOf(kind)}/${kind.kind}`;

const fromMemory = { resourceVersion: '0', resourceVersionMatch: '' } as const;

function shown(store: ResourceStore | undefined): ServedResource | undefined {
  if (store === undefined) return undefined;
  const { resource } = store;
  return {
    resource,
    async read({ namespace, name }, signal) {
      const path = { namespace, name, subresource: '' };
      try {
        const item = await store.get({ path, options: fromMemory, signal });
        return named(item.object(), resource);
      } catch (error) {
        if (error instanceof StatusError && error.code === 404) return undefined;
        throw error;
      }
    },
    async list(namespace, labelSelector, signal) {
      const options = { ...everything, labelSelector };
      const { items } = await store.list({ namespace, name: '', options, signal });
      return items.map((item) => named(item.object(), resource));
    },
  };
}

const named = (object: Readonly<ApiObject>, { kind }: ResourceInfo): Readonly<ApiObject> => ({
  ...object,
  kind: kind.kind,
  apiVersion: apiVersionOf(kind),
});

const everything = {
  ...fromMemory,
  fieldSelector: '',
  watch: false,
  allowWatchBookmarks: false,
  timeoutSeconds: undefined,
  limit: 0,
  continueToken: '',
  sendInitialEvents: undefined,
} as const;
