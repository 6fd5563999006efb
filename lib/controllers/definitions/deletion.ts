// Ends custom resource definitions whose deletion has begun: deletes their objects as any client
// would, says how far that is, and lets the definition go when none is left. Right beside another
// one that works, and after any pause: what counts is what the store has.
import { recordAt, recordIn, textAt } from '../../api/json-access.ts';
import { cloneJson } from '../../api/json-value.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import { formatTime } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import { StatusError } from '../../base/status.ts';
import { follow } from '../../cacher/follow.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isDeleting, metaOf } from '../../codec/object-meta.ts';
import {
  conditionOf,
  conditionsOf,
  isEstablished,
  isServed,
  withCondition,
} from '../../kinds/apiextensions/conditions.ts';
import type { Condition } from '../../kinds/apiextensions/conditions.ts';
import { cleanupFinalizer } from '../../kinds/apiextensions/definitions.ts';
import type { InternalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { BeginAnew } from '../../base/begin-anew.ts';
import type { Keyspace } from '../../storage-etcd/keys.ts';
import type { Storage } from '../../storage-etcd/storage.ts';
import { KeyedQueue } from '../controller.ts';
import type { Controller, Outcome, QueueObserver } from '../controller.ts';
import { deleteObjects, untilGone } from './object-deletion.ts';

export interface DefinitionDeletionOptions {
  readonly definitions: ResourceStore;
  /**
   * The objects of a definition, in the version that they are stored in and without conversion,
   * whether or not they are served; undefined: they cannot be reached.
   */
  readonly storeOf: (definition: string) => ResourceStore | undefined;
  readonly storage: Storage;
  readonly keyspace: Keyspace;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

export class DefinitionDeletion implements Controller {
  readonly name = 'definition';
  readonly #options: DefinitionDeletionOptions;
  readonly #finalizer: string;
  /** What other servers keep where these would have their objects: it is not theirs. */
  readonly #builtIn: ReadonlySet<string>;
  /** For each definition that waits for its objects: ends the watch on them. */
  readonly #waits = new Map<string, AbortController>();
  readonly #watching = new Set<Promise<void>>();

  constructor(options: DefinitionDeletionOptions) {
    const { naming } = options;
    this.#options = options;
    this.#finalizer = cleanupFinalizer(naming);
    this.#builtIn = new Set([
      naming.resolve('apiservices.apiregistration.{v}'),
      naming.resolve('customresourcedefinitions.apiextensions.{v}'),
    ]);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, definitions, log, observer } = this.#options;
    const queue: KeyedQueue = new KeyedQueue(
      { name: this.name, clock, log, observer },
      (name, running) => this.#reconcile(name, queue, running),
    );
    const follower = {
      present: (item: Item) => {
        if (this.#isHeld(item)) queue.add(item.name);
      },
      absent: (item: Item) => {
        this.#endWait(item.name);
      },
    };
    const { view } = definitions;
    const select = { showsUnreadable: true };
    await Promise.all([queue.run(signal), follow(follower, { view, select, log }, signal)]);
    for (const name of this.#waits.keys()) this.#endWait(name);
    await Promise.all(this.#watching);
  }

  #isHeld(item: Item): boolean {
    if (item.corrupted) return false;
    const object = item.object();
    return isDeleting(object) && (object.metadata?.finalizers ?? []).includes(this.#finalizer);
  }

  async #reconcile(name: string, queue: KeyedQueue, signal: AbortSignal): Promise<Outcome> {
    this.#endWait(name);
    const item = await this.#read(name, signal);
    if (item === undefined || !this.#isHeld(item)) return 'done';
    try {
      return await this.#end(item, queue, signal);
    } catch (error) {
      if (!isRaced(error)) throw error;
      return 'again';
    }
  }

  async #read(name: string, signal: AbortSignal): Promise<Item | undefined> {
    const { view } = this.#options.definitions;
    const select = { name, showsUnreadable: true };
    const page = await view.list(select, { mode: 'latest' }, { limitCount: 1 }, signal);
    return page.items[0];
  }

  async #end(first: Item, queue: KeyedQueue, signal: AbortSignal): Promise<Outcome> {
    const { name } = first;
    let item = first;
    if (reasonOf(item) !== 'InstanceDeletionFailed' && reasonOf(item) !== 'InstanceDeletionCheck') {
      item = await this.#report(item, inProgress, signal);
    }
    if (this.#builtIn.has(name)) return this.#release(item, overlapping, signal);
    const done = isEstablished(item.object()) ? completed : neverEstablished;
    const prefix = this.#prefixOf(item);
    // Nothing is created any more since the deletion was stored: what is empty stays so.
    if (!isServed(item.object()) || (await this.#isEmpty(prefix, signal))) {
      return this.#release(item, done, signal);
    }
    const store = this.#options.storeOf(name);
    if (store === undefined) {
      const text = `unable to find a custom resource client for ${name}`;
      await this.#report(item, failed(`could not list instances: ${text}`), signal);
      return 'again';
    }
    const { client } = this.#options;
    const failures = await deleteObjects(store, client, signal);
    if (failures.length > 0) {
      const text = `could not issue all deletes: ${aggregateText(failures)}`;
      await this.#report(item, failed(text), signal);
      return 'again';
    }
    if (await this.#isEmpty(prefix, signal)) return this.#release(item, done, signal);
    await this.#report(item, this.#isOverdue(item) ? overdue : inProgress, signal);
    this.#wait(name, store, queue, signal);
    return 'again';
  }

  /** Asked of the store itself: memory may not have what was written last. */
  async #isEmpty(prefix: string, signal: AbortSignal): Promise<boolean> {
    const page = await this.#options.storage.list({ prefix, limitCount: 1 }, signal);
    return page.items.length === 0;
  }

  #prefixOf(item: Item): string {
    const spec = recordIn(item.object(), 'spec');
    const plural = textAt(recordIn(spec, 'names'), 'plural');
    return this.#options.keyspace.resourcePrefix(`${textAt(spec, 'group')}/${plural}`);
  }

  #isOverdue(item: Item): boolean {
    const begun = Date.parse(item.object().metadata?.deletionTimestamp ?? '');
    return this.#options.clock.nowMs() - begun >= limits.instancesGoneWaitMs;
  }

  /** Writes the condition if it says something new. @returns the definition as it is then. */
  async #report(item: Item, condition: Condition, signal: AbortSignal): Promise<Item> {
    const object = this.#withCondition(item, condition);
    return object === undefined ? item : this.#write(object, signal);
  }

  async #release(item: Item, condition: Condition, signal: AbortSignal): Promise<Outcome> {
    const object = this.#withCondition(item, condition) ?? writableOf(item);
    const meta = metaOf(object);
    meta.finalizers = (meta.finalizers ?? []).filter((one) => one !== this.#finalizer);
    await this.#write(object, signal);
    return 'done';
  }

  /** undefined: it says so already. */
  #withCondition(item: Item, condition: Condition): ApiObject | undefined {
    const before = conditionsOf(item.object());
    const now = formatTime(this.#options.clock.nowMs());
    const conditions = withCondition(before, condition, now);
    if (conditions === before) return undefined;
    const status = { ...recordAt(item.object(), 'status'), conditions: [...conditions] };
    return { ...writableOf(item), status };
  }

  /** `object` carries the version that it was made of: one that changed since is 409. */
  #write(object: ApiObject, signal: AbortSignal): Promise<Item> {
    const { client, definitions } = this.#options;
    const path = { namespace: '', name: object.metadata?.name ?? '', subresource: 'status' };
    return client.update(definitions, { path, object }, signal);
  }

  /** Adds the definition again as soon as none of its objects is left. */
  #wait(name: string, store: ResourceStore, queue: KeyedQueue, signal: AbortSignal): void {
    const waiting = new AbortController();
    this.#waits.set(name, waiting);
    const until = AbortSignal.any([waiting.signal, signal]);
    const watching = untilGone(store.view, until)
      .then(() => queue.add(name))
      .catch((error: unknown) => {
        if (until.aborted) return;
        const fields = { definition: name, reason: String(error) };
        this.#options.log.info('the back-off decides when objects are looked at again', fields);
      })
      .finally(() => this.#watching.delete(watching));
    this.#watching.add(watching);
  }

  #endWait(name: string): void {
    this.#waits.get(name)?.abort(new Error('the wait is over'));
    this.#waits.delete(name);
  }
}

/** The definition was written, or has gone, meanwhile. */
const isRaced = (error: unknown): boolean =>
  error instanceof BeginAnew || (error instanceof StatusError && [404, 409].includes(error.code));

const reasonOf = (item: Item): string =>
  textAt(conditionOf(item.object(), 'Terminating'), 'reason');

/** What a write of the status leaves as it is may be large: it is shared. */
function writableOf(item: Item): ApiObject {
  const { metadata, ...rest } = item.object();
  return { ...rest, metadata: cloneJson(metadata ?? {}) };
}

const terminating = (status: Condition['status'], reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

const inProgress = terminating(
  'True',
  'InstanceDeletionInProgress',
  'CustomResource deletion is in progress',
);
const failed = (message: string): Condition =>
  terminating('True', 'InstanceDeletionFailed', message);
const overdue = terminating(
  'True',
  'InstanceDeletionCheck',
  'could not confirm zero CustomResources remaining: timed out waiting for the condition',
);
const completed = terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
const neverEstablished = terminating('False', 'NeverEstablished', 'resource was never established');
const overlapping = terminating(
  'False',
  'OverlappingBuiltInResource',
  'instances overlap with built-in resources in storage',
);
