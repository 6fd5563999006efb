// Tells users of owner references that name an object of another namespace: it owns nothing there.
// Objects are looked for by uid among all of their kind, many at once, and best effort: what is
// collected does not depend on it.
import { apiVersionOf } from '../../api/type-info.ts';
import { sleep } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import { nextTurn } from '../../base/turn.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import { uidOf } from '../../codec/ownership.ts';
import type { OwnerReference } from '../../codec/ownership.ts';
import type { InternalClient } from '../../registry/internal-client.ts';
import type { ResourceMap } from '../../registry/resource-map.ts';
import { recordEvent } from '../events.ts';
import type { Target } from './garbage-writes.ts';

export interface MisplacedOwnersOptions {
  readonly resources: ResourceMap;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Sought {
  readonly dependent: Target;
  readonly reference: OwnerReference;
}

const component = 'garbage-collector-controller';
const reason = 'OwnerRefInvalidNamespace';

export class MisplacedOwners {
  readonly #options: MisplacedOwnersOptions;
  readonly #signal: AbortSignal;
  /** By the uid of the owner. */
  readonly #sought = new Map<ResourceView, Map<string, Sought[]>>();
  readonly #told = new Set<string>();
  #soughtCount = 0;
  #looking: Promise<void> | undefined;

  constructor(options: MisplacedOwnersOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Reports the reference if an object of that uid is in another namespace. */
  seek(owners: ResourceView, dependent: Target, reference: OwnerReference): void {
    if (this.#signal.aborted || this.#soughtCount >= limits.misplacedOwnersMax) return;
    const key = `${dependent.uid} ${reference.uid}`;
    if (this.#told.has(key)) return;
    if (this.#told.size >= limits.misplacedOwnersMax) this.#told.clear();
    this.#told.add(key);
    this.#soughtCount++;
    const byUid = this.#sought.get(owners) ?? new Map<string, Sought[]>();
    this.#sought.set(owners, byUid);
    const others = byUid.get(reference.uid);
    if (others === undefined) byUid.set(reference.uid, [{ dependent, reference }]);
    else others.push({ dependent, reference });
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
  }

  /** Resolves when nothing of it runs any more. */
  async ended(): Promise<void> {
    await this.#looking;
  }

  async #look(): Promise<void> {
    const signal = this.#signal;
    while (!signal.aborted) {
      const [first] = this.#sought;
      if (first === undefined) return;
      const [view, byUid] = first;
      this.#sought.delete(view);
      for (const { length } of byUid.values()) this.#soughtCount -= length;
      try {
        await this.#lookAmong(view, byUid);
        await sleep(limits.misplacedOwnersPauseMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        const fields = { resource: view.name, reason: String(error) };
        this.#options.log.info('owners of other namespaces were not looked for', fields);
      }
    }
  }

  async #lookAmong(view: ResourceView, byUid: ReadonlyMap<string, Sought[]>): Promise<void> {
    let after: Item | undefined;
    for (;;) {
      const limitCount = limits.misplacedOwnersPageCount;
      const page = { limitCount, ...(after === undefined ? {} : { after }) };
      const select = { showsUnreadable: true };
      const { items, more } = await view.list(select, { mode: 'any' }, page, this.#signal);
      for (const item of items) {
        if (item.corrupted) continue;
        for (const sought of byUid.get(uidOf(item.listTail())) ?? []) {
          if (sought.dependent.namespace !== item.namespace) await this.#report(sought);
        }
      }
      after = items.at(-1);
      if (!more || after === undefined) return;
      await nextTurn();
    }
  }

  async #report({ dependent, reference }: Sought): Promise<void> {
    const { resources } = this.#options;
    const [store] = dependent.resource.stores;
    const about = {
      kind: store?.resource.kind.kind ?? '',
      apiVersion: store === undefined ? '' : apiVersionOf(store.resource.kind),
      namespace: dependent.namespace,
      name: dependent.name,
      uid: dependent.uid,
    };
    const { kind, apiVersion, uid, name } = reference;
    const place = `namespace: ${dependent.namespace}, name: ${name}`;
    const owner = `${apiVersion}/${kind}, ${place}, uid: ${uid}`;
    const message = `ownerRef [${owner}] does not exist in namespace "${dependent.namespace}"`;
    const events = resources.find({ group: '', version: 'v1', resource: 'events' });
    const recorder = { ...this.#options, events, component };
    await recordEvent(recorder, about, { type: 'Warning', reason, message }, this.#signal);
  }
}
