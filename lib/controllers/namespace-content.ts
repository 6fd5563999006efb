// One pass over the content of a terminating namespace: pods first, the rest only when they are
// gone, as their volumes, secrets and accounts serve them to the end. Returns what remains, and
// where to wait for it.
import { Yielder } from '../base/yielder.ts';
import type { Item, ListResult, ReadAt, ResourceView } from '../cacher/resource-view.ts';
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

/**
 * Several versions and groups can show the same objects: each view once, as they are stored, so
 * that nobody is asked to convert them.
 */
function storesWithContent(stores: readonly ResourceStore[]): ResourceStore[] {
  const byView = new Map<ResourceView, ResourceStore>();
  for (const store of stores) {
    const { namespaced, verbs } = store.resource;
    const canEmpty = namespaced && verbs.includes('delete') && verbs.includes('list');
    if (canEmpty && !byView.has(store.view)) byView.set(store.view, store.stored);
  }
  return [...byView.values()];
}

/** A resource that cannot be emptied does not keep the others from being emptied. */
async function empty(store: ResourceStore, pass: ContentPass, tally: Tally): Promise<void> {
  const { namespace, client, signal, confirm } = pass;
  const name = nameOf(store);
  const read = (at: ReadAt): Promise<ListResult> =>
    store.view.list({ namespace, showsUnreadable: true }, at, { limitCount: 0 }, signal);
  try {
    const { items } = await read({ mode: 'notOlderThan', revision: pass.since });
    if (items.length === 0) return;
    let hasUntouched = false;
    await each(items, (item) => !(hasUntouched ||= isUntouched(item)));
    if (hasUntouched) await client.deleteCollection(store, { namespace, confirm }, signal);
  } catch (error) {
    if (signal.aborted || error instanceof NamespaceChanged) throw error;
    tally.failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { items, revision } = await read({ mode: 'latest' });
  if (items.length === 0) return;
  tally.countByResource.set(name, items.length);
  tally.held.push({ view: store.view, revision, count: items.length });
  await each(items, (item) => countFinalizers(item, tally));
}

/** Until `look` says false; many objects, each of which may be decoded, take several turns. */
async function each(items: readonly Item[], look: (item: Item) => boolean): Promise<void> {
  const yielder = new Yielder();
  for (const item of items) {
    if (yielder.isDue()) await yielder.yield();
    if (!look(item)) return;
  }
}

function countFinalizers(item: Item, tally: Tally): boolean {
  if (readFailureOf(item) !== undefined) return true;
  for (const finalizer of item.object().metadata?.finalizers ?? []) {
    const count = tally.countByFinalizer.get(finalizer) ?? 0;
    tally.countByFinalizer.set(finalizer, count + 1);
  }
  return true;
}

/** Thrown by `confirm`: the pass must not touch anything more. */
export class NamespaceChanged extends Error {}

/** Deletion has not begun, as far as the object can be read. */
const isUntouched = (item: Item): boolean =>
  readFailureOf(item) !== undefined || !isDeleting(item.object());

const nameOf = ({ resource: { resource, group } }: ResourceStore): string => `${resource}.${group}`;
