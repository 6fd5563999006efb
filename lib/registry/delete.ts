// delete: removes one object, or marks it and leaves the rest to its finalizers and grace period.
// The unsafe delete of objects that cannot be read is a path of its own at the end.
import { forbiddenField, throwInvalid } from './options.ts';
import { notFound, StatusError } from '../base/status.ts';
import type { StatusBody } from '../base/status.ts';
import type { Item, ItemKey } from '../cacher/resource-view.ts';
import { encodeStored } from '../codec/stored-form.ts';
import type { ApiObject } from '../codec/codec.ts';
import { currentState, decide, firstState, stateOf } from './current-state.ts';
import type { State } from './current-state.ts';
import { deletionPlan } from './deletion-plan.ts';
import { admissionRequest } from './incoming.ts';
import type { DeleteAnswer, DeleteRequest } from './requests.ts';
import { itemKeyOf, presentItem } from './store-parts.ts';
import type { StoreParts } from './store-parts.ts';
import { unstoredItem } from './update.ts';

export async function deleteObject(
  parts: StoreParts,
  request: DeleteRequest,
): Promise<DeleteAnswer> {
  const { options, path, signal } = request;
  const key = itemKeyOf(parts, path);
  if (options.ignoreReadError) return deleteUnreadable(parts, key, request);
  let state = await firstState(parts, key, signal);
  for (;;) {
    signal.throwIfAborted();
    const { item } = state;
    if (item === undefined) throw notFound(parts.resource, path.name);
    const nowMs = parts.clock.nowMs();
    const decision = await decide(async () => {
      const plan = deletionPlan(parts, item, options, nowMs);
      await admit(parts, key, item.object(), request);
      return plan;
    });
    const isNegative = decision.kind === 'stop' || decision.plan.kind === 'wait';
    if (isNegative && !state.isCurrent) {
      state = await currentState(parts, key, signal);
      continue;
    }
    if (decision.kind === 'stop') throw decision.error;
    const { plan } = decision;
    if (plan.kind === 'wait') return { kind: 'object', item: presentItem(parts, item) };
    const done =
      plan.kind === 'remove'
        ? await remove(parts, key, { item, last: plan.last }, request)
        : await mark(parts, key, { item, object: plan.object }, request);
    if (!('state' in done)) return done;
    ({ state } = done);
  }
}

/** @throws StatusError of the plugin that refuses. */
async function admit(
  parts: StoreParts,
  key: ItemKey,
  old: Readonly<ApiObject> | undefined,
  request: DeleteRequest,
): Promise<void> {
  const { user, options, path, signal } = request;
  const context = { user, dryRun: options.dryRun, subresource: path.subresource };
  const attributes = admissionRequest(parts, { operation: 'DELETE', key, old }, context);
  await parts.admission.validate(attributes, undefined, signal);
}

async function remove(
  parts: StoreParts,
  key: ItemKey,
  change: { readonly item: Item; readonly last: ApiObject | undefined },
  request: DeleteRequest,
): Promise<DeleteAnswer | { readonly state: State }> {
  const { item, last } = change;
  const { options, signal } = request;
  if (options.dryRun) {
    // The only write of a dry run's proof: that the object is there now.
    const state = await currentState(parts, key, signal);
    if (state.item?.revision !== item.revision) return { state };
  } else {
    const expected = { expected: item.revision };
    const result = await parts.storage.delete(parts.keyOf(key), expected, signal);
    if (!result.ok) return { state: stateOf(parts, result.current) };
  }
  if (parts.strategy.answersDeletedObject === true) {
    const shown = last === undefined ? item : unstoredItem(parts, last, item);
    return { kind: 'object', item: presentItem(parts, shown) };
  }
  return { kind: 'status', status: deletedStatus(parts, item.name, item.object().metadata?.uid) };
}

async function mark(
  parts: StoreParts,
  key: ItemKey,
  change: { readonly item: Item; readonly object: ApiObject },
  request: DeleteRequest,
): Promise<DeleteAnswer | { readonly state: State }> {
  const { item, object } = change;
  if (request.options.dryRun) {
    const state = await currentState(parts, key, request.signal);
    if (state.item?.revision !== item.revision) return { state };
    return { kind: 'object', item: presentItem(parts, unstoredItem(parts, object, item)) };
  }
  const etcdKey = parts.keyOf(key);
  const value = encodeStored(object, parts.storedAs);
  const options = { expected: item.revision };
  const bytes = parts.media.write(object, parts.storedAs, value);
  const result = await parts.storage.put(etcdKey, bytes, options, request.signal);
  if (!result.ok) return { state: stateOf(parts, result.current) };
  const { revision } = result;
  const stored = { key: etcdKey, value, modRevision: revision, createRevision: 0 };
  return { kind: 'object', item: presentItem(parts, parts.view.itemOf(stored)) };
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
 * Removes an object that cannot be read, without finalizers and preconditions (specification 1,
 * Deletion
 * lifecycle): behind its gate, for those who may, and never one that can be read.
 */
async function deleteUnreadable(
  parts: StoreParts,
  key: ItemKey,
  request: DeleteRequest,
): Promise<DeleteAnswer> {
  const field = 'ignoreStoreReadErrorWithClusterBreakingPotential';
  const refuse = (detail: string): void => {
    throwInvalid('DeleteOptions', [forbiddenField(field, detail)], parts.naming);
  };
  if (!parts.canDeleteUnreadable) {
    refuse('needs the feature gate AllowUnsafeMalformedObjectDeletion');
  }
  const { item } = await parts.storage.get(parts.keyOf(key), request.signal);
  if (item === undefined) throw notFound(parts.resource, key.name);
  if (isReadable(parts.view.itemOf(item))) {
    refuse('is for objects that cannot be read; this one can: delete it without the option');
  }
  await request.authorizeUnsafeDelete?.(request.signal);
  await admit(parts, key, undefined, request);
  const expected = { expected: item.modRevision };
  const result = await parts.storage.delete(parts.keyOf(key), expected, request.signal);
  if (!result.ok) return deleteUnreadable(parts, key, request);
  return { kind: 'status', status: deletedStatus(parts, key.name, undefined) };
}

function isReadable(item: Item): boolean {
  try {
    item.object();
    return true;
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}
