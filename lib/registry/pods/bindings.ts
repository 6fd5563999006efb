// `bindings`: the resource that old schedulers post a Binding to, in place of the pod's own
// subresource. The name in the body says which pod is meant; nothing of it is stored.
import type { Scheme } from '../../api/scheme.ts';
import { nameOf } from '../../codec/object-meta.ts';
import { statusRecord, succeeded } from '../posted-action.ts';
import type { ResourceStore } from '../resource-store.ts';
import type { StoreParts } from '../store-parts.ts';
import { virtualStore } from '../virtual-store.ts';
import { bindPod } from './binding.ts';

/** One store, or none where the kind, or pods, are not served. */
export function bindingStores(scheme: Scheme, partsOf: StoreParts['partsOf']): ResourceStore[] {
  const pods = partsOf({ group: '', resource: 'pods' });
  if (pods === undefined) return [];
  const status = statusRecord(pods);
  return scheme.resources
    .filter(({ group, resource }) => group === '' && resource === 'bindings')
    .map((binding) => ({
      ...virtualStore(binding, {
        async create(request) {
          const path = { ...request.path, name: nameOf(request.body.object) };
          await bindPod(pods, { binding, admittedAs: binding }, { ...request, path });
          return succeeded(status);
        },
      }),
      createAnswer: status,
    }));
}
