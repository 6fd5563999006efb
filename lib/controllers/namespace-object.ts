// One object of a fixed name in every namespace: made in new ones, made again when it was deleted,
// and mended when it was changed. Namespaces that are being terminated are left alone.
import { cloneJson } from '../api/json-value.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import { follow } from '../cacher/follow.ts';
import type { Follower } from '../cacher/follow.ts';
import type { Item, ResourceView, Selection } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isDeleting } from '../codec/object-meta.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';

export type NewObject = ApiObject & { readonly metadata: { readonly name: string } };

export interface NamespaceObjectOptions {
  /** Of its work queue. */
  readonly name: string;
  readonly namespaces: ResourceStore;
  /** The store of the object's kind. */
  readonly objects: ResourceStore;
  /** The whole object, but for its namespace; a new one at each call. */
  readonly make: () => NewObject;
  /** Changes an object that is not as it should be; whether it did. Absent: any will do. */
  readonly mend?: (object: ApiObject) => boolean;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

export class NamespaceObjectController implements Controller {
  readonly name: string;
  readonly #options: NamespaceObjectOptions;
  readonly #objectName: string;

  constructor(options: NamespaceObjectOptions) {
    this.name = options.name;
    this.#options = options;
    this.#objectName = options.make().metadata.name;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { namespaces, objects, clock, log, observer } = this.#options;
    const queue = new KeyedQueue({ name: this.name, clock, log, observer }, (key, running) =>
      this.#reconcile(key, running),
    );
    const showsUnreadable = true;
    const following = (follower: Follower, view: ResourceView, select: Selection): Promise<void> =>
      follow(follower, { view, select: { ...select, showsUnreadable }, log }, signal);
    await Promise.all([
      queue.run(signal),
      following(
        { present: ({ name }) => queue.add(name), absent: () => undefined },
        namespaces.view,
        {},
      ),
      following(
        {
          present: (item) => {
            if (this.#mended(item) !== undefined) queue.add(item.namespace);
          },
          absent: ({ namespace }) => queue.add(namespace),
        },
        objects.view,
        { name: this.#objectName },
      ),
    ]);
  }

  /** From memory alone: what it does not know yet comes as an event, and adds the key again. */
  async #reconcile(namespace: string, signal: AbortSignal): Promise<Outcome> {
    const { namespaces, objects, client, make } = this.#options;
    const owner = namespaces.view.peek({ namespace: '', name: namespace });
    if (owner === undefined || owner.corrupted || isDeleting(owner.object())) return 'done';
    const name = this.#objectName;
    const item = objects.view.peek({ namespace, name });
    try {
      if (item === undefined) {
        const object = make();
        await client.create(objects, { namespace, object }, signal);
      } else {
        const object = this.#mended(item);
        const path = { namespace, name, subresource: '' };
        if (object !== undefined) await client.update(objects, { path, object }, signal);
      }
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
    return 'done';
  }

  /** undefined: it is as it should be, or cannot be read. */
  #mended(item: Item): ApiObject | undefined {
    const { mend } = this.#options;
    if (mend === undefined || item.corrupted || isDeleting(item.object())) return undefined;
    const object = cloneJson(item.object()) as ApiObject;
    return mend(object) ? object : undefined;
  }
}

/** Object or namespace are not what memory shows: an event tells what they are. */
function isOvertaken(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false;
  const { code, details } = error;
  const isTerminating = details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating');
  return code === 404 || code === 409 || isTerminating === true;
}
