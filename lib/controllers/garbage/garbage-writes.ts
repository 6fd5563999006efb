// The writes of the garbage collector. Each means one object by its uid and says what is true of
// it, so that a second collector, or one with old knowledge, does no harm.
import { jsonEqual } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { StatusError } from '../../base/status.ts';
import type { Item } from '../../cacher/resource-view.ts';
import { ownershipOf, uidOf } from '../../codec/ownership.ts';
import type { OwnerReference } from '../../codec/ownership.ts';
import type { InternalClient } from '../../registry/internal-client.ts';
import type { PropagationPolicy } from '../../registry/requests.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { Outcome } from '../controller.ts';
import type { FollowedResource } from '../followed-resources.ts';

/** One object, by its uid. */
export interface Target {
  readonly resource: FollowedResource;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export class GarbageWrites {
  readonly #client: InternalClient;

  constructor(client: InternalClient) {
    this.#client = client;
  }

  /** References that are not there any more are no failure, nor is an object that is gone. */
  async removeOwners(target: Target, uids: readonly string[], signal: AbortSignal): Promise<void> {
    const ownerReferences = uids.map((uid) => ({ $patch: 'delete', uid }));
    await this.#patch(target, { ownerReferences }, signal);
  }

  /** These owners need not wait for the object any more. */
  async unblock(
    target: Target,
    owners: readonly OwnerReference[],
    signal: AbortSignal,
  ): Promise<void> {
    const ownerReferences = owners
      .filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
      .map(({ uid }) => ({ uid, blockOwnerDeletion: false }));
    if (ownerReferences.length > 0) await this.#patch(target, { ownerReferences }, signal);
  }

  async removeFinalizer(target: Target, finalizer: string, signal: AbortSignal): Promise<void> {
    await this.#patch(target, { '$deleteFromPrimitiveList/finalizers': [finalizer] }, signal);
  }

  /** `again`: it is not what was judged any more. */
  async delete(
    target: Target,
    judged: { readonly item: Item; readonly policy: PropagationPolicy },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { item, policy } = judged;
    if (await this.#deleted(target, policy, String(item.revision), signal)) return 'done';
    const now = await liveItem(target, signal);
    if (now === undefined) return 'done';
    if (now.revision === item.revision) return 'again';
    const [before, after] = [ownershipOf(item.listTail()), ownershipOf(now.listTail())];
    if (!jsonEqual(before.owners, after.owners)) return 'again';
    // What changed has nothing to do with owners: the judgement stands.
    return (await this.#deleted(target, policy, undefined, signal)) ? 'done' : 'again';
  }

  /** False: a precondition failed. */
  async #deleted(
    target: Target,
    propagationPolicy: PropagationPolicy,
    resourceVersion: string | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const preconditions = { uid: target.uid, resourceVersion };
    const options = { preconditions, propagationPolicy };
    const store = storeFor(target);
    try {
      if (store !== undefined) {
        await this.#client.delete(store, { path: pathOf(target), options }, signal);
      }
      return true;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (error.code === 404) return true;
      if (error.code !== 409) throw error;
      return false;
    }
  }

  async #patch(target: Target, metadata: JsonObject, signal: AbortSignal): Promise<void> {
    const store = storeFor(target);
    if (store === undefined) return;
    const { uid } = target;
    const patch = { metadata: { uid, ...metadata } };
    try {
      const path = pathOf(target);
      await this.#client.patch(store, { path, kind: 'strategic', patch }, signal);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (error.code === 404) return;
      // Another object may have the name by now.
      if ((await liveItem(target, signal)) !== undefined) throw error;
    }
  }
}

const pathOf = ({ namespace, name }: Target): Parameters<ResourceStore['delete']>[0]['path'] => ({
  namespace,
  name,
  subresource: '',
});

/** As it is stored: nothing needs to be converted. */
const storeFor = ({ resource: { stores } }: Target): ResourceStore | undefined => stores[0]?.stored;

/** As the store has it now; undefined: gone. @throws StatusError when that cannot be known. */
export async function liveItem(
  { resource, namespace, name, uid }: Target,
  signal: AbortSignal,
): Promise<Item | undefined> {
  const item = await resource.view.get({ namespace, name }, { mode: 'latest' }, signal);
  return item !== undefined && uidOf(item.listTail()) === uid ? item : undefined;
}
