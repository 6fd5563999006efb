// delete: removes one object, or marks it and leaves the rest to its finalizers and grace period.
// The unsafe delete of objects that cannot be read is a path of its own at the end.
import { forbiddenField, throwInvalid, unsafeDeleteErrors } from './options.ts';
import { forbidden, notFound } from '../base/status.ts';
import type { StatusBody } from '../base/status.ts';
import type { ItemKey } from '../cacher/resource-view.ts';
import { readFailureOf } from '../cacher/unreadable.ts';
import type { ApiObject } from '../codec/codec.ts';
import { decide } from './current-state.ts';
import type { State } from './current-state.ts';
import { deletionPlan, warnOfDefaultPolicy } from './deletion-plan.ts';
import { admissionRequest, writeContext } from './incoming.ts';
import { judgedNow } from './judged-now.ts';
import type { DeleteAnswer, DeleteRequest } from './requests.ts';
import { itemKeyOf } from './store-parts.ts';
import type { StoreParts } from './store-parts.ts';
import { unstoredItem } from './update.ts';
import { putInstead, removeStored, stale, untilWritten } from './write-loop.ts';
import type { Try } from './write-loop.ts';
import type { Found } from './write-turns.ts';

export async function deleteObject(
  parts: StoreParts,
  request: DeleteRequest,
): Promise<DeleteAnswer> {
  const { options, path } = request;
  const key = itemKeyOf(parts, path);
  const whyKept = parts.strategy.whyKept?.(path.name);
  if (whyKept !== undefined) throw forbidden(parts.resource, path.name, whyKept);
  warnOfDefaultPolicy(parts, request);
  if (options.ignoreReadError && parts.canDeleteUnreadable) {
    return deleteUnreadable(parts, key, request);
  }
  return untilWritten(parts, key, request, (state) =>
    tryDelete(judgedNow(parts), key, state, request),
  );
}

async function tryDelete(
  parts: StoreParts,
  key: ItemKey,
  state: State,
  request: DeleteRequest,
): Promise<Try<DeleteAnswer>> {
  const { item, epoch } = state;
  if (item === undefined) throw notFound(parts.resource, key.name);
  const decision = await decide(async () => {
    const plan = deletionPlan(parts, item, request.options, parts.clock.nowMs());
    await admit(parts, key, item.object(), request);
    return plan;
  });
  const isNegative = decision.kind === 'stop' || decision.plan.kind === 'wait';
  if (isNegative && !state.isCurrent) return stale;
  if (decision.kind === 'stop') throw decision.error;
  const { plan } = decision;
  switch (plan.kind) {
    case 'wait':
      return { kind: 'done', answer: { kind: 'object', item, isKept: true } };
    case 'remove':
      return plan.last === undefined
        ? remove(parts, key, { item, epoch }, request)
        : markAndRemove(parts, key, { item, epoch, object: plan.last }, request);
    case 'mark':
      return mark(parts, key, { item, epoch, object: plan.object }, request);
  }
}

/** @throws StatusError of the plugin that refuses. */
async function admit(
  parts: StoreParts,
  key: ItemKey,
  old: Readonly<ApiObject> | undefined,
  request: DeleteRequest,
): Promise<void> {
  const { subresource } = request.path;
  const context = writeContext(parts, request, subresource);
  const attributes = admissionRequest(parts, { operation: 'DELETE', key, old }, context);
  await parts.admission.beforeDelete(attributes, request.signal);
  await parts.admission.validate(attributes, undefined, request.signal);
}

async function remove(
  parts: StoreParts,
  key: ItemKey,
  change: Found,
  request: DeleteRequest,
): Promise<Try<DeleteAnswer>> {
  const { item } = change;
  const { uid } = item.object().metadata ?? {};
  if (!request.options.dryRun) {
    const lost = await removeStored(parts, key, change, request.signal);
    if (lost !== undefined) return lost;
  }
  if (parts.strategy.answersDeletedObject === true) {
    return { kind: 'done', answer: { kind: 'object', item, isKept: false } };
  }
  const status = deletedStatus(parts, item.name, uid);
  return { kind: 'done', answer: { kind: 'status', status } };
}

/**
 * Who watches sees that the end has come before the object is gone, and so does who stops between
 * the two: the next write of a marked object removes it.
 */
async function markAndRemove(
  parts: StoreParts,
  key: ItemKey,
  change: Found & { readonly object: ApiObject },
  request: DeleteRequest,
): Promise<Try<DeleteAnswer>> {
  const marked = await mark(parts, key, change, request);
  if (marked.kind !== 'done' || marked.written === undefined) return marked;
  const { item } = marked.written;
  const removed = await remove(parts, key, marked.written, request);
  const isGone = removed.kind === 'lost' && removed.state.item === undefined;
  return isGone ? { kind: 'done', answer: { kind: 'object', item, isKept: false } } : removed;
}

async function mark(
  parts: StoreParts,
  key: ItemKey,
  change: Found & { readonly object: ApiObject },
  request: DeleteRequest,
): Promise<Try<DeleteAnswer>> {
  const { item, object } = change;
  if (request.options.dryRun) {
    const marked = unstoredItem(parts, object, item);
    return { kind: 'done', answer: { kind: 'object', item: marked, isKept: true } };
  }
  const result = await putInstead(parts, key, change, request.signal);
  if (result.kind === 'lost') return result;
  const answer = { kind: 'object', item: result.item, isKept: true } as const;
  return { kind: 'done', answer, written: result };
}

function deletedStatus(parts: StoreParts, name: string, uid: string | undefined): StatusBody {
  const { group, resource } = parts.resource;
  const details = {
    name,
    ...(group === '' ? {} : { group }),
    kind: resource,
    ...(uid === undefined ? {} : { uid }),
  };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

/**
 * The unsafe delete (specification 1, Deletion lifecycle): removes an object that cannot be read,
 * without finalizers and preconditions. It needs its gate, without which the option says nothing,
 * and a permission of its own, and refuses objects that can be read.
 */
async function deleteUnreadable(
  parts: StoreParts,
  key: ItemKey,
  request: DeleteRequest,
): Promise<DeleteAnswer> {
  throwInvalid('DeleteOptions', unsafeDeleteErrors(request.options), parts.naming);
  return untilWritten(parts, key, request, async (state) => {
    if (!state.isCurrent) return stale;
    const now = judgedNow(parts);
    const { item, epoch } = state;
    if (item === undefined) throw notFound(parts.resource, key.name);
    if (readFailureOf(item) === undefined) {
      const detail =
        'is for objects that cannot be read; this one can: delete it without the option';
      refuseUnsafe(parts, detail);
    }
    await request.authorizeUnsafeDelete?.(request.signal);
    await admit(now, key, undefined, request);
    const lost = await removeStored(now, key, { item, epoch }, request.signal);
    const status = deletedStatus(parts, key.name, undefined);
    return lost ?? { kind: 'done', answer: { kind: 'status', status } };
  });
}

function refuseUnsafe(parts: StoreParts, detail: string): void {
  const field = 'ignoreStoreReadErrorWithClusterBreakingPotential';
  throwInvalid('DeleteOptions', [forbiddenField(field, detail)], parts.naming);
}
