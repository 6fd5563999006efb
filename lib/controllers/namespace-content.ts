// One pass over the content of a terminating namespace: pods first, the rest only when they are
// gone, as their volumes, secrets and accounts serve them to the end. Returns what remains, and
// where to wait for it.
import { limits } from '../base/limits.ts';
import type { Item, ResourceView } from '../cacher/resource-view.ts';
import { readFailureOf } from '../cacher/unreadable.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import { isDeleting } from '../codec/object-meta.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import type { Remains } from './namespace-conditions.ts';

export interface ContentPass {
  readonly namespace: string;
  readonly stores: readonly ResourceStore[];
  readonly client: InternalClient;
  readonly signal: AbortSignal;
  /**
   * A revision at which the namespace was terminating: only a late write creates what was absent at
   * it.
   */
  readonly since: Revision;
  /** Throws unless this namespace, by its uid, is still terminating after this call. */
  readonly confirm: (signal: AbortSignal) => Promise<void>;
}

export interface PassResult extends Remains {
  readonly held: readonly Held[];
}

/** Objects that remained at `revision`. */
export interface Held {
  readonly view: ResourceView;
  readonly revision: Revision;
  readonly count: number;
}

interface Tally {
  readonly countByResource: Map<string, number>;
  readonly countByFinalizer: Map<string, number>;
  readonly failures: string[];
  readonly held: Held[];
}

const page = { limitCount: limits.heldObjectsReadMax };

export async function deleteContent(pass: ContentPass): Promise<PassResult> {
  const tally: Tally = {
    countByResource: new Map(),
    countByFinalizer: new Map(),
    failures: [],
    held: [],
  };
  const stores = storesWithContent(pass.stores);
  const isPods = ({ resource }: ResourceStore): boolean =>
    resource.group === '' && resource.resource === 'pods';
  for (const store of stores.filter(isPods)) await empty(store, pass, tally);
  if (tally.countByResource.size > 0 || tally.failures.length > 0) return tally;
  for (const store of stores.filter((one) => !isPods(one))) await empty(store, pass, tally);
  return tally;
}

/** Several versions and groups can show the same objects: each view once. */
function storesWithContent(stores: readonly ResourceStore[]): ResourceStore[] {
  const byView = new Map<ResourceView, ResourceStore>();
  for (const store of stores) {
    const { namespaced, verbs } = store.resource;
    const canEmpty = namespaced && verbs.includes('delete') && verbs.includes('list');
    if (canEmpty && !byView.has(store.view)) byView.set(store.view, store);
  }
  return [...byView.values()];
}

/** A resource that cannot be emptied does not keep the others from being emptied. */
async function empty(store: ResourceStore, pass: ContentPass, tally: Tally): Promise<void> {
  const { namespace, client, signal, confirm } = pass;
  const name = nameOf(store);
  const select = { namespace, showsUnreadable: true };
  try {
    const at = { mode: 'notOlderThan', revision: pass.since } as const;
    const first = await store.view.list(select, at, page, signal);
    if (first.items.length === 0) return;
    if (first.more || first.items.some(isUntouched)) {
      await client.deleteCollection(store, { namespace, confirm }, signal);
    }
  } catch (error) {
    if (signal.aborted || error instanceof NamespaceChanged) throw error;
    tally.failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const rest = await store.view.list(select, { mode: 'latest' }, page, signal);
  if (rest.items.length === 0) return;
  const count = rest.items.length + (rest.remainingCount ?? 0);
  tally.countByResource.set(name, count);
  tally.held.push({ view: store.view, revision: rest.revision, count });
  for (const item of rest.items) {
    if (readFailureOf(item) !== undefined) continue;
    for (const finalizer of item.object().metadata?.finalizers ?? []) {
      const count = tally.countByFinalizer.get(finalizer) ?? 0;
      tally.countByFinalizer.set(finalizer, count + 1);
    }
  }
}

/** Thrown by `confirm`: the pass must not touch anything more. */
export class NamespaceChanged extends Error {}

/** Deletion has not begun, as far as the object can be read. */
const isUntouched = (item: Item): boolean =>
  readFailureOf(item) !== undefined || !isDeleting(item.object());

const nameOf = ({ resource: { resource, group } }: ResourceStore): string =>
  group === '' ? resource : `${resource}.${group}`;
