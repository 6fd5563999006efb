// What an owner is to a dependent that names it: the owner is looked up where the reference says,
// in the dependent's namespace, and nowhere else.
import type { Item, ItemKey, ResourceView } from '../../cacher/resource-view.ts';
import { ownershipOf } from '../../codec/ownership.ts';
import type { OwnerReference } from '../../codec/ownership.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { isSegment } from '../../storage-etcd/keys.ts';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/**
 * `solid`: keeps its dependents. `waiting`: waits until they are deleted. `absent`: there is none
 * of that uid. `unknown`: nobody can tell now. `impossible`: no namespace says where it would be.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent' | 'unknown' | 'impossible';

interface Asked {
  readonly reference: OwnerReference;
  /** Of the dependent; '' when that has none. */
  readonly namespace: string;
  /** Of the kind that the reference names; undefined: it is not served. */
  readonly store: ResourceStore | undefined;
}

/** As memory has it now: what is not solid by it has to be looked up. */
export function knownState(asked: Asked): OwnerState {
  const place = placeOf(asked);
  if ('state' in place) return place.state;
  return stateOf(place.view.peek(place.key), asked.reference);
}

/** As the store has it. @throws StatusError when it cannot be read. */
export async function liveState(asked: Asked, signal: AbortSignal): Promise<OwnerState> {
  const place = placeOf(asked);
  if ('state' in place) return place.state;
  return stateOf(await place.view.get(place.key, { mode: 'latest' }, signal), asked.reference);
}

function placeOf({
  reference: { name },
  namespace,
  store,
}: Asked): { readonly state: OwnerState } | { readonly view: ResourceView; readonly key: ItemKey } {
  if (store === undefined) return { state: 'unknown' };
  const { namespaced } = store.resource;
  if (namespaced && namespace === '') return { state: 'impossible' };
  if (!isSegment(name)) return { state: 'unknown' };
  return { view: store.view, key: { namespace: namespaced ? namespace : '', name } };
}

function stateOf(item: Item | undefined, { uid }: OwnerReference): OwnerState {
  if (item === undefined) return 'absent';
  if (item.corrupted) return 'unknown';
  const owner = ownershipOf(item.listTail());
  if (owner.uid !== uid) return 'absent';
  const isWaiting = owner.isDeleting && owner.finalizers.includes(foregroundFinalizer);
  return isWaiting ? 'waiting' : 'solid';
}
