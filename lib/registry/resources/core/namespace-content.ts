// Ends namespaces whose deletion has begun: deletes what is in them, then takes the finalizer away.
// Every step may run twice or on several replicas at once; the loop tries again until the namespace
// is gone.
import { sleep } from '../../../base/abort.ts';
import { StatusError } from '../../../base/status.ts';
import type { Logger } from '../../../base/log.ts';
import type { Item, WatchCursor } from '../../../cacher/resource-view.ts';
import type { NamingProfile } from '../../../api/vendor.ts';
import type { ApiObject } from '../../../codec/codec.ts';
import { cloneJson, isObject } from '../../json-value.ts';
import { isDeleting } from '../../object-meta.ts';
import { parseDeleteOptions, parseListOptions, parseWriteOptions } from '../../options.ts';
import type { RequestScope } from '../../requests.ts';
import type { ResourceStore } from '../../resource-store.ts';
import { finalizersOf } from './namespaces.ts';

export interface NamespaceEnding {
  readonly namespaces: ResourceStore;
  /** The stores served now; asked anew for every namespace. */
  readonly stores: () => readonly ResourceStore[];
  readonly naming: NamingProfile;
  readonly log: Logger;
}

const firstRetryMs = 500;
const longestRetryMs = 15_000;
const query = new URLSearchParams();

/** Runs until the signal fires. */
export async function endTerminatingNamespaces(
  ending: NamespaceEnding,
  signal: AbortSignal,
): Promise<void> {
  const running = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    try {
      const cursor = await ending.namespaces.view.watch(
        {},
        { from: 'state', at: { mode: 'any' }, bookmark: false },
        { bookmarks: false },
        signal,
      );
      await follow(ending, cursor, running, signal);
    } catch (error) {
      if (signal.aborted) break;
      ending.log.warn('namespace deletion lost its watch', { reason: String(error) });
      await sleep(firstRetryMs, signal).catch(() => undefined);
    }
  }
  await Promise.allSettled(running.values());
}

async function follow(
  ending: NamespaceEnding,
  cursor: WatchCursor,
  running: Map<string, Promise<void>>,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (;;) {
      const events = await cursor.next(signal);
      if (events === undefined) return;
      for (const { type, item } of events) {
        if (item === undefined || type === 'DELETED' || running.has(item.name)) continue;
        if (!isTerminating(item)) continue;
        const task = endNamespace(ending, item.name, signal).finally(() => {
          running.delete(item.name);
        });
        running.set(item.name, task);
      }
    }
  } finally {
    cursor.close();
  }
}

/** Never rejects: what goes wrong is tried again, later and later. */
async function endNamespace(
  ending: NamespaceEnding,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  for (
    let delayMs = firstRetryMs;
    !signal.aborted;
    delayMs = Math.min(delayMs * 2, longestRetryMs)
  ) {
    try {
      const scope = scopeOf(ending.naming, signal);
      if ((await deleteContent(ending.stores(), namespace, scope, ending.naming)) === 0) {
        await finalize(ending, namespace, scope);
        return;
      }
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return;
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      ending.log.warn('namespace cannot be emptied yet', { namespace, reason });
    }
    await sleep(delayMs, signal).catch(() => undefined);
  }
}

/** Deletes every object in the namespace. @returns how many are still there, held by finalizers. */
export async function deleteContent(
  stores: readonly ResourceStore[],
  namespace: string,
  scope: RequestScope,
  naming: NamingProfile,
): Promise<number> {
  const list = parseListOptions(query);
  const options = parseDeleteOptions(query, undefined, naming);
  const seen = new Set<unknown>();
  let left = 0;
  for (const store of stores) {
    const { resource, view } = store;
    const canEmpty = resource.verbs.includes('delete') && resource.verbs.includes('list');
    // Several versions and groups can show the same objects.
    if (!resource.namespaced || !canEmpty || seen.has(view)) continue;
    seen.add(view);
    await store.deleteCollection({ ...scope, namespace, list, options });
    const page = { limitCount: 1 };
    const rest = await view.list({ namespace }, { mode: 'latest' }, page, scope.signal);
    left += rest.items.length + (rest.remainingCount ?? 0);
  }
  return left;
}

async function finalize(
  { namespaces, naming }: NamespaceEnding,
  name: string,
  scope: RequestScope,
): Promise<void> {
  const path = { namespace: '', name, subresource: '' };
  const { signal } = scope;
  const item = await namespaces.get({ path, options: { resourceVersion: '' }, signal });
  const object = cloneJson(item.object()) as ApiObject;
  const others = finalizersOf(object).filter(
    (finalizer) => finalizer !== naming.namespaceFinalizer,
  );
  if (isObject(object.spec)) object.spec.finalizers = others;
  await namespaces.update({
    ...scope,
    path: { ...path, subresource: 'finalize' },
    body: { object, problems: [] },
    options: parseWriteOptions(query, 'update', naming),
  });
}

const isTerminating = (item: Item): boolean => !item.corrupted && isDeleting(item.object());

/** The identity that a namespace controller has everywhere. */
function scopeOf(naming: NamingProfile, signal: AbortSignal): RequestScope {
  const account = `system:serviceaccount:${naming.systemNamespace}:namespace-controller`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${naming.systemNamespace}`];
  return { user: { name: account, uid: '', groups }, warnings: [], signal };
}
