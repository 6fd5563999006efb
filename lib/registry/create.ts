// create: one object from body to etcd in one transaction that the key must not exist for.
// The answer is made from the bytes that were written; nothing is read back.
import { apiVersionOf } from '../api/type-info.ts';
import { newName, validateObjectMeta } from '../api/meta.ts';
import { limits } from '../base/limits.ts';
import { alreadyExists, invalid, StatusError } from '../base/status.ts';
import type { Item, ItemKey } from '../cacher/resource-view.ts';
import { encodeStored } from '../codec/stored-form.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { StoredItem } from '../storage-etcd/storage.ts';
import { objectItem } from './converted-item.ts';
import { admissionRequest, readBody, toStored, writeContext } from './incoming.ts';
import { isDeleting, metaOf, nameOf } from '../codec/object-meta.ts';
import { clearStatus, fillNewMeta, settleNamespace } from './object-meta.ts';
import type { CreateRequest, WriteAnswer } from './requests.ts';
import { presentItem } from './store-parts.ts';
import type { StoreParts } from './store-parts.ts';
import type { WriteContext } from '../kinds/strategy.ts';

export async function createObject(
  parts: StoreParts,
  request: CreateRequest,
): Promise<WriteAnswer> {
  const { resource } = parts;
  const { options, warnings, signal } = request;
  const body = readBody(resource, request.body, options.fieldValidation, warnings);
  settleNamespace(body, resource, request.path.namespace);
  const object = toStored(parts, body);
  const context = writeContext(parts, request, '');
  const prefix = nameOf(object) === '' ? (object.metadata?.generateName ?? '') : '';
  if (prefix === '' && nameOf(object) === '' && parts.strategy.defaultName !== undefined) {
    metaOf(object).name = parts.strategy.defaultName();
  }
  for (let tries = 1; ; tries++) {
    if (prefix !== '') metaOf(object).name = newName(prefix);
    const made = await putNew(parts, object, context, signal);
    if (made.ok) return { item: presentItem(parts, made.item), created: true };
    if (prefix !== '' && tries < limits.generateNameRetryCountMax) continue;
    throw existsError(parts, keyOfObject(object), made.current);
  }
}

export type NewObject =
  | { readonly ok: true; readonly item: Item }
  /** Something is stored under the name; undefined when it was gone again at once. */
  | { readonly ok: false; readonly current: StoredItem | undefined };

/**
 * Completes, validates and stores a new object that has its name. `object` is in the storage
 * version.
 */
export async function putNew(
  parts: StoreParts,
  object: ApiObject,
  context: WriteContext,
  signal: AbortSignal,
): Promise<NewObject> {
  const { storedAs, strategy } = parts;
  fillNewMeta(object, storedAs, context);
  clearStatus(object, storedAs, strategy);
  const key = keyOfObject(object);
  const attributes = admissionRequest(parts, { operation: 'CREATE', key, old: undefined }, context);
  await parts.admission.mutate(attributes, object, signal);
  parts.rules.dropDisabled(object, undefined);
  strategy.prepare?.(object, undefined, context);
  // Once more: what was cleared, filled in or changed by admission leaves fields open.
  parts.defaults.apply(object, storedAs.type);
  validateNew(parts, object, context);
  await parts.admission.validate(attributes, object, signal);
  if (context.dryRun) return rehearse(parts, object, key, signal);
  const etcdKey = parts.keyOf(key);
  const value = encodeStored(object, storedAs);
  const ttlSeconds = strategy.ttlSeconds?.(object);
  const options = { expected: 0, ...(ttlSeconds === undefined ? {} : { ttlSeconds }) };
  const bytes = parts.media.write(object, storedAs, value);
  const result = await parts.storage.put(etcdKey, bytes, options, signal);
  if (!result.ok) return result;
  const { revision } = result;
  const stored = { key: etcdKey, value, modRevision: revision, createRevision: revision };
  return { ok: true, item: parts.view.itemOf(stored) };
}

function validateNew(parts: StoreParts, object: ApiObject, context: WriteContext): void {
  const { resource, storedAs, strategy } = parts;
  const { namespaced, nameRule } = storedAs;
  const rules = { namespaced, nameRule, profile: parts.naming, object };
  const errors = [
    ...validateObjectMeta(metaOf(object), rules),
    ...parts.rules.validate(object, undefined, context),
  ];
  if (errors.length > 0) throw invalid(resource.kind, nameOf(object), errors);
  for (const text of strategy.warnings?.(object) ?? []) context.warnings.push(text);
}

/** Dry run: all but the write. */
async function rehearse(
  parts: StoreParts,
  object: ApiObject,
  key: ItemKey,
  signal: AbortSignal,
): Promise<NewObject> {
  const { item } = await parts.storage.get(parts.keyOf(key), signal);
  if (item !== undefined) return { ok: false, current: item };
  object.apiVersion = apiVersionOf(parts.storedAs.kind);
  return { ok: true, item: objectItem(object, parts.storedAs, 0) };
}

const keyOfObject = (object: Readonly<ApiObject>): ItemKey => ({
  namespace: object.metadata?.namespace ?? '',
  name: nameOf(object),
});

function existsError(
  parts: StoreParts,
  key: ItemKey,
  current: StoredItem | undefined,
): StatusError {
  const error = alreadyExists(parts.resource, key.name);
  if (current === undefined) return error;
  const item = parts.view.itemOf(current);
  if (item.corrupted || !isDeleting(item.object())) return error;
  const message = `object is being deleted: ${error.message}`;
  return new StatusError(error.code, error.reason, message, error.details);
}
