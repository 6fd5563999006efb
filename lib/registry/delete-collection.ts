// deletecollection: lists by the request's options, then deletes what was listed, object by object.
// What is gone or replaced meanwhile is skipped; the answer is the list of what this request
// deleted. Objects that cannot be read keep no other one from being deleted, and then fail it.
import { limits } from '../base/limits.ts';
import { StatusError } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import { readFailureOf, unreadableObjects } from '../cacher/unreadable.ts';
import { deleteObject } from './delete.ts';
import { warnOfDefaultPolicy } from './deletion-plan.ts';
import { listObjects } from './read.ts';
import type { DeleteCollectionRequest, ListAnswer } from './requests.ts';
import type { StoreParts } from './store-parts.ts';

export async function deleteCollection(
  parts: StoreParts,
  request: DeleteCollectionRequest,
): Promise<ListAnswer> {
  const { namespace, list, signal } = request;
  const showsUnreadable = true;
  const asked = { namespace, name: '', options: list, showsUnreadable, signal };
  const listed = await listObjects(parts, asked);
  warnOfDefaultPolicy(parts, request);
  const { items } = listed;
  if (items.length > 0) await request.confirm?.(signal);
  const deleted: boolean[] = [];
  let next = 0;
  const unreadable: Item[] = [];
  let failure: unknown;
  const work = async (): Promise<void> => {
    while (failure === undefined && next < items.length) {
      const index = next++;
      const item = items[index];
      if (item === undefined) return;
      try {
        deleted[index] = await deleteListed(parts, item, request);
      } catch (error) {
        if (readFailureOf(item) === undefined) failure ??= error;
        else unreadable.push(item);
      }
    }
  };
  await Promise.all(Array.from({ length: limits.deleteCollectionWorkers }, work));
  if (failure !== undefined) throw failure as Error;
  if (unreadable.length > 0) throw unreadableObjects(parts.resource, unreadable, parts.keyOf);
  return { ...listed, items: items.filter((_item, index) => deleted[index] === true) };
}

/** False: the object was gone, or another one has its name now. */
async function deleteListed(
  parts: StoreParts,
  item: Item,
  request: DeleteCollectionRequest,
): Promise<boolean> {
  const { options } = request;
  const uid = options.preconditions.uid ?? item.object().metadata?.uid;
  try {
    await deleteObject(parts, {
      user: request.user,
      warnings: request.warnings,
      annotations: request.annotations,
      webhookTrail: request.webhookTrail,
      signal: request.signal,
      path: { namespace: item.namespace, name: item.name, subresource: '' },
      options: { ...options, preconditions: { ...options.preconditions, uid } },
    });
    return true;
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return false;
    if (!isReplaced(error, request)) throw error;
    return false;
  }
}

/** The precondition that failed is the listed uid, not one of the client. */
const isReplaced = (error: unknown, { options }: DeleteCollectionRequest): boolean =>
  error instanceof StatusError &&
  error.code === 409 &&
  options.preconditions.uid === undefined &&
  options.preconditions.resourceVersion === undefined;
