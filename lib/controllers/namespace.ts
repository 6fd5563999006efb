// Finalizes terminating namespaces: deletes their content, reports in conditions what remains, and
// removes the finalizer when nothing does. Right on any number of replicas: content is deleted by
// uid after the namespace's own was confirmed, and each write states the version it read.
import type { NamingProfile } from '../api/vendor.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import { follow } from '../cacher/follow.ts';
import type { Follower } from '../cacher/follow.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import { listAt, recordAt } from '../api/json-access.ts';
import { cloneJson, isObject } from '../api/json-value.ts';
import { isDeleting } from '../codec/object-meta.ts';
import type { ResourceMapHolder } from '../registry/resource-map.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { finalizersOf } from '../kinds/core/namespaces.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';
import { deleteContent, NamespaceChanged } from './namespace-content.ts';
import type { Held, PassResult } from './namespace-content.ts';
import { namespaceConditions } from './namespace-conditions.ts';
import type { Remains } from './namespace-conditions.ts';

export interface NamespaceControllerOptions {
  readonly namespaces: ResourceStore;
  /** Called for every pass: custom resources come and go. */
  readonly resources: ResourceMapHolder;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

export class NamespaceController implements Controller {
  readonly name = 'namespace';
  readonly #options: NamespaceControllerOptions;
  /** For each namespace that waits for its content: ends the watches on what remains of it. */
  readonly #waits = new Map<string, AbortController>();
  readonly #watching = new Set<Promise<void>>();

  constructor(options: NamespaceControllerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, observer } = this.#options;
    const queue: KeyedQueue = new KeyedQueue(
      { name: this.name, clock, log, observer },
      (name, running) => this.#reconcile(name, queue, running),
    );
    const { view } = this.#options.namespaces;
    const select = { showsUnreadable: true };
    const following = follow(this.#follower(queue), { view, select, log }, signal);
    await Promise.all([queue.run(signal), following]);
    for (const name of this.#waits.keys()) this.#endWait(name);
    await Promise.all(this.#watching);
  }

  /** A terminating namespace goes into the queue; one that is gone needs no watches any more. */
  #follower(queue: KeyedQueue): Follower {
    return {
      present: (item) => {
        if (isTerminating(item)) queue.add(item.name);
      },
      absent: (item) => {
        this.#endWait(item.name);
      },
    };
  }

  async #reconcile(name: string, queue: KeyedQueue, signal: AbortSignal): Promise<Outcome> {
    this.#endWait(name);
    const { namespace, revision } = await this.#read(name, signal);
    if (namespace === undefined || !isTerminating(namespace)) return 'done';
    const { uid } = namespace.object().metadata ?? {};
    const confirm = async (): Promise<void> => {
      const { namespace: now } = await this.#read(name, signal);
      const isSame = now !== undefined && isTerminating(now);
      if (!isSame || now.object().metadata?.uid !== uid) throw new NamespaceChanged(name);
    };
    let result: PassResult;
    try {
      const { client, resources } = this.#options;
      const stores = resources.current.all;
      const since = revision;
      result = await deleteContent({ namespace: name, since, stores, client, signal, confirm });
    } catch (error) {
      if (error instanceof NamespaceChanged) return 'again';
      throw error;
    }
    const current = await this.#report(namespace, result, signal);
    if (result.countByResource.size === 0 && result.failures.length === 0) {
      await this.#finalize(current, signal);
      return 'done';
    }
    this.#wait(name, result, queue, signal);
    return 'again';
  }

  /** The namespace as the store has it now, and the revision of that read. */
  async #read(
    name: string,
    signal: AbortSignal,
  ): Promise<{ readonly namespace: Item | undefined; readonly revision: Revision }> {
    const { view } = this.#options.namespaces;
    const select = { name, showsUnreadable: true };
    const list = await view.list(select, { mode: 'latest' }, { limitCount: 1 }, signal);
    return { namespace: list.items[0], revision: list.revision };
  }

  /** Writes the conditions when they changed. @returns the namespace as it is then. */
  async #report(namespace: Item, remains: Remains, signal: AbortSignal): Promise<Item> {
    const object = cloneJson(namespace.object()) as ApiObject;
    const status = recordAt(object, 'status') ?? {};
    const old = listAt(status, 'conditions');
    const conditions = namespaceConditions(old, remains, this.#options.clock.nowMs());
    if (conditions === old) return namespace;
    object.status = Object.assign(status, { conditions: [...conditions] });
    return this.#write(namespace.name, 'status', object, signal);
  }

  async #finalize(namespace: Item, signal: AbortSignal): Promise<void> {
    const object = cloneJson(namespace.object()) as ApiObject;
    const own = this.#options.naming.namespaceFinalizer;
    const others = finalizersOf(object).filter((finalizer) => finalizer !== own);
    if (isObject(object.spec)) object.spec.finalizers = others;
    try {
      await this.#write(namespace.name, 'finalize', object, signal);
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 404) throw error;
    }
  }

  /** `object` carries uid and resourceVersion: a namespace that changed since is 409. */
  async #write(
    name: string,
    subresource: 'status' | 'finalize',
    object: ApiObject,
    signal: AbortSignal,
  ): Promise<Item> {
    const { client, namespaces } = this.#options;
    const path = { namespace: '', name, subresource };
    return client.update(namespaces, { path, object }, signal);
  }

  /** Adds the namespace again as soon as nothing of some resource remains in it. */
  #wait(name: string, result: PassResult, queue: KeyedQueue, signal: AbortSignal): void {
    const waiting = new AbortController();
    this.#waits.set(name, waiting);
    const until = AbortSignal.any([waiting.signal, signal]);
    for (const held of result.held) {
      const watching = this.#untilGone(name, held, until)
        .then(() => queue.add(name))
        .catch((error: unknown) => {
          if (until.aborted) return;
          const fields = { namespace: name, reason: String(error) };
          this.#options.log.info('the back-off decides when content is looked at again', fields);
        })
        .finally(() => this.#watching.delete(watching));
      this.#watching.add(watching);
    }
  }

  #endWait(name: string): void {
    this.#waits.get(name)?.abort(new Error('the wait is over'));
    this.#waits.delete(name);
  }

  async #untilGone(namespace: string, held: Held, signal: AbortSignal): Promise<void> {
    const start = { from: 'revision', revision: held.revision } as const;
    const select = { namespace, showsUnreadable: true };
    const cursor = await held.view.watch(select, start, { bookmarks: false }, signal);
    try {
      let { count } = held;
      while (count > 0) {
        const events = await cursor.next(signal);
        if (events === undefined) throw new Error('the watch ended');
        for (const { type } of events) {
          if (type === 'DELETED') count--;
          else if (type === 'ADDED') count++;
        }
      }
    } finally {
      cursor.close();
    }
  }
}

/** A namespace that cannot be read is left alone. */
const isTerminating = (item: Item): boolean => !item.corrupted && isDeleting(item.object());
