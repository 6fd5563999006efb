// update and patch: the one loop of the write path. read → transform → complete and validate →
// put(expected); a lost race starts again from what etcd holds now. The transform is pure and may
// run several times.
import { apiVersionOf } from '../api/type-info.ts';
import { validateObjectMetaUpdate } from '../api/meta.ts';
import { conflict, invalid, modifiedConflict, notFound } from '../base/status.ts';
import type { Item, ItemKey } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { encodeStored, openStored, withResourceVersion } from '../codec/stored-form.ts';
import { objectItem } from './converted-item.ts';
import { putNew } from './create.ts';
import { currentState, decide, firstState, stateOf } from './current-state.ts';
import type { State } from './current-state.ts';
import { canRemove } from './deletion-plan.ts';
import { admissionRequest, readBody, toStored, writeContext } from './incoming.ts';
import { cloneAlike, copyMember } from '../api/json-value.ts';
import { metaOf, nameOf } from '../codec/object-meta.ts';
import {
  bumpGeneration,
  checkName,
  keepResetFields,
  keepServerMeta,
  settleNamespace,
} from './object-meta.ts';
import { parseResourceVersion } from './read-mode.ts';
import type { ObjectPath, RequestScope, UpdateRequest } from './requests.ts';
import type { WriteAnswer, WriteOptions } from './requests.ts';
import { itemKeyOf, presentItem } from './store-parts.ts';
import type { StoreParts } from './store-parts.ts';
import type { WriteContext } from '../kinds/strategy.ts';

/** A new object in the storage version from the stored one, which it must not change. */
export type Transform = (old: Item) => ApiObject;

const newline = 0x0a;

interface Write {
  readonly transform: Transform;
  /** Makes the object when there is none; undefined: 404. */
  readonly create: (() => Promise<ApiObject>) | undefined;
}

interface WriteRequest extends RequestScope {
  readonly path: ObjectPath;
  readonly options: WriteOptions;
}

export async function updateObject(
  parts: StoreParts,
  request: UpdateRequest,
): Promise<WriteAnswer> {
  const { resource } = parts;
  const { path, options, warnings, signal } = request;
  const body = readBody(resource, request.body, options.fieldValidation, warnings);
  checkName(body, path.name);
  settleNamespace(body, resource, path.namespace);
  const omitted = omittedMembers(parts, body);
  const object = toStored(parts, body);
  const { uid, resourceVersion } = metaOf(object);
  // Whoever states a version or uid means an object that exists.
  const statesObject = (uid ?? '') !== '' || !['', '0'].includes(resourceVersion ?? '');
  const create = async (): Promise<ApiObject> => {
    if (statesObject) throw modifiedConflict(resource, path.name);
    await request.authorizeCreate?.(signal);
    return cloneAlike(object);
  };
  return writeLoop(parts, request, {
    transform: (old) => {
      checkUid(parts, old, uid);
      const next = cloneAlike(object);
      for (const name of omitted) copyMember(next, old.object(), name);
      return next;
    },
    create: resource.createOnUpdate && path.subresource === '' ? create : undefined,
  });
}

/** What the body leaves out and an update keeps: defaults must not take its place. */
const omittedMembers = (parts: StoreParts, body: Readonly<ApiObject>): readonly string[] =>
  (parts.strategy.keptWhenOmitted ?? []).filter((name) => (body[name] ?? '') === '');

/**
 * The loop of update and patch. Ends with a written object, or an answer that etcd's state
 * justifies.
 */
export async function writeLoop(
  parts: StoreParts,
  request: WriteRequest,
  write: Write,
): Promise<WriteAnswer> {
  const key = itemKeyOf(parts, request.path);
  const context = writeContext(parts, request, request.path.subresource);
  let state = await firstState(parts, key, request.signal);
  for (;;) {
    request.signal.throwIfAborted();
    const { item } = state;
    if (item === undefined) {
      const next = await createAbsent(parts, key, request, write, context);
      if ('item' in next) return next;
      state = next.state;
      continue;
    }
    const decision = await decide(() =>
      nextObject(parts, item, write.transform, context, request.signal),
    );
    const value = decision.kind === 'go' ? encodeStored(decision.plan, parts.storedAs) : undefined;
    const isNoOp =
      decision.kind === 'go' &&
      value !== undefined &&
      isSameAsStored(state, value, () => parts.media.write(decision.plan, parts.storedAs, value));
    if (!state.isCurrent && (decision.kind === 'stop' || isNoOp)) {
      state = await currentState(parts, key, request.signal);
      continue;
    }
    if (decision.kind === 'stop') throw decision.error;
    const result = await store(
      parts,
      key,
      { item, object: decision.plan, value, isNoOp, context },
      request.signal,
    );
    if ('answer' in result) return { item: presentItem(parts, result.answer), created: false };
    state = result.state;
  }
}

interface Step {
  readonly item: Item;
  readonly object: ApiObject;
  readonly value: Uint8Array | undefined;
  readonly isNoOp: boolean;
  readonly context: WriteContext;
}

/** Writes (or removes) and answers, or gives the state that won the race. */
async function store(
  parts: StoreParts,
  key: ItemKey,
  step: Step,
  signal: AbortSignal,
): Promise<{ answer: Item } | { state: State }> {
  const { item, object, value, isNoOp, context } = step;
  const expected = item.revision;
  const etcdKey = parts.keyOf(key);
  const removes = canRemove(parts, object);
  if (isNoOp && !removes) return { answer: item };
  if (context.dryRun || removes) {
    if (!context.dryRun) {
      const result = await parts.storage.delete(etcdKey, { expected }, signal);
      if (!result.ok) return { state: stateOf(parts, result.current) };
    }
    return { answer: unstoredItem(parts, object, item) };
  }
  const ttlSeconds = parts.strategy.ttlSeconds?.(object);
  const options = { expected, ...(ttlSeconds === undefined ? {} : { ttlSeconds }) };
  const bytes = value ?? encodeStored(object, parts.storedAs);
  const written = parts.media.write(object, parts.storedAs, bytes);
  const result = await parts.storage.put(etcdKey, written, options, signal);
  if (!result.ok) return { state: stateOf(parts, result.current) };
  const { revision } = result;
  const stored = { key: etcdKey, value: bytes, modRevision: revision, createRevision: 0 };
  return { answer: parts.view.itemOf(stored) };
}

async function createAbsent(
  parts: StoreParts,
  key: ItemKey,
  request: WriteRequest,
  write: Write,
  context: WriteContext,
): Promise<WriteAnswer | { readonly state: State }> {
  if (write.create === undefined) throw notFound(parts.resource, key.name);
  const made = await putNew(parts, await write.create(), context, request.signal);
  if (made.ok) return { item: presentItem(parts, made.item), created: true };
  return { state: stateOf(parts, made.current) };
}

/** The object as it would be stored. @throws StatusError 409, 422. */
async function nextObject(
  parts: StoreParts,
  item: Item,
  transform: Transform,
  context: WriteContext,
  signal: AbortSignal,
): Promise<ApiObject> {
  const { resource, storedAs, strategy } = parts;
  const old = item.object();
  const object = transform(item);
  checkVersion(parts, object, item);
  keepResetFields(object, old, storedAs, { subresource: context.subresource, strategy });
  keepServerMeta(object, old);
  const attributes = admissionRequest(parts, { operation: 'UPDATE', key: item, old }, context);
  await parts.admission.mutate(attributes, object, signal);
  parts.rules.dropDisabled(object, old);
  strategy.prepare?.(object, old, context);
  parts.defaults.apply(object, storedAs.type);
  bumpGeneration(object, old, storedAs);
  const errors = [
    ...validateObjectMetaUpdate(metaOf(object), old.metadata ?? {}, { profile: parts.naming }),
    ...parts.rules.validate(object, old, context),
  ];
  if (errors.length > 0) throw invalid(resource.kind, nameOf(old), errors);
  for (const text of strategy.warnings?.(object) ?? []) {
    if (!context.warnings.includes(text)) context.warnings.push(text);
  }
  object.apiVersion = apiVersionOf(storedAs.kind);
  await parts.admission.validate(attributes, object, signal);
  return object;
}

function checkVersion(parts: StoreParts, object: ApiObject, item: Item): void {
  const { resource } = parts;
  const stated = parseResourceVersion(metaOf(object).resourceVersion ?? '') ?? 0;
  if (stated === 0 && !resource.unconditionalUpdate) {
    throw invalid(resource.kind, item.name, [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.resourceVersion',
        badValue: 0,
        detail: 'must be specified for an update',
      },
    ]);
  }
  if (stated !== 0 && stated !== item.revision) throw modifiedConflict(resource, item.name);
  metaOf(object).resourceVersion = String(item.revision);
}

/** A PUT that names another uid means an object that is gone. */
function checkUid(parts: StoreParts, old: Item, uid: string | undefined): void {
  const stored = old.object().metadata?.uid ?? '';
  if ((uid ?? '') === '' || uid === stored) return;
  const message = `the stored object has the uid ${stored}, the body has ${String(uid)}`;
  throw conflict(parts.resource, old.name, message);
}

/**
 * Canonical bytes decide: against what is stored when that is at hand (so that an old form is
 * written anew),
 * else against what the cache shows.
 */
function isSameAsStored(state: State, value: Uint8Array, written: () => Uint8Array): boolean {
  if (state.value !== undefined) return Buffer.compare(state.value, written()) === 0;
  if (state.item === undefined || state.item.corrupted) return false;
  const json = state.item.json();
  const { revision } = state.item;
  // Most changes show in the length already. The payload begins after the header's line.
  const size = value.length - value.indexOf(newline) - 1;
  if (size !== json.length - `"resourceVersion":"${String(revision)}",`.length) return false;
  const opened = openStored(value);
  if (opened === undefined) return false;
  return Buffer.compare(withResourceVersion(opened, revision), json) === 0;
}

/**
 * The last state of an object that is not stored in this form: dry run, or removed by its last
 * finalizer's removal.
 */
export function unstoredItem(parts: StoreParts, object: ApiObject, stored: Item): Item {
  metaOf(object).resourceVersion = String(stored.revision);
  return objectItem(object, parts.storedAs, stored.revision);
}
