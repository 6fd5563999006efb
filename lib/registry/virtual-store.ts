// A store without storage: for kinds that are answered where they are asked for, such as reviews
// and the states of components. What it is not given is a 405.
import { invariant } from '../base/invariant.ts';
import { methodNotAllowed } from '../base/status.ts';
import type { ResourceView } from '../cacher/resource-view.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { ResourceStore } from './resource-store.ts';

/** Nothing of it has a revision: 0 stands for none. */
export const noRevision = 0;

export function virtualStore(
  resource: ResourceInfo,
  verbs: Partial<Pick<ResourceStore, 'get' | 'list' | 'create' | 'subresources'>>,
): ResourceStore {
  const store: ResourceStore = {
    resource,
    input: resource,
    subresources: new Map(),
    view: noView(resource),
    get stored() {
      return store;
    },
    get: refuse,
    list: refuse,
    watch: refuse,
    create: refuse,
    update: refuse,
    patch: refuse,
    delete: refuse,
    deleteCollection: refuse,
    over: () => store,
    ...verbs,
  };
  return store;
}

const refuse = (): Promise<never> => Promise.reject(methodNotAllowed());

/** Policy code and controllers have nothing to see. */
export function noView({ group, resource }: ResourceInfo): ResourceView {
  const name = `${group}/${resource}`;
  const never = (): never => {
    invariant(false, `${name} is not stored`);
  };
  const reads = { get: never, list: never, watch: never, peek: never, all: never };
  return { name, epoch: undefined, shownRevision: 0, ...reads, itemOf: never };
}
