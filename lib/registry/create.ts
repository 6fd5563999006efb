// create: one object from body to etcd in one transaction that the key must not exist for.
// The answer is made from the bytes that were written; nothing is read back.
import type { AdmissionRequest } from '../admission/plugin.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { cloneAlike } from '../api/json-value.ts';
import { newName, validateObjectMeta } from '../api/meta.ts';
import { limits } from '../base/limits.ts';
import { alreadyExists, invalid, StatusError } from '../base/status.ts';
import type { FieldError } from '../base/status.ts';
import { isLongTurn, nextTurn } from '../base/turn.ts';
import type { Item, ItemKey } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { StoredItem } from '../storage-etcd/storage.ts';
import { commitTogether } from './companions.ts';
import { objectItem } from './converted-item.ts';
import { admissionRequest, mutated, readBody, toStored, writeContext } from './incoming.ts';
import { isDeleting, metaOf, nameOf } from '../codec/object-meta.ts';
import {
  canTakeUnqualifiedFinalizers,
  clearStatus,
  fillNewMeta,
  settleNamespace,
} from './object-meta.ts';
import { judgedNow } from './judged-now.ts';
import { trackUpdate } from './managed-fields.ts';
import type { CreateRequest, InHand, WriteAnswer } from './requests.ts';
import type { StoreParts } from './store-parts.ts';
import { inHand, inStoredVersion, storedBytes, storedRecord } from './stored-version.ts';
import type { WriteContext } from '../kinds/strategy.ts';
import { tooManyWriters } from './write-loop.ts';

const { writeTurnMsMax } = limits;

export async function createObject(
  store: StoreParts,
  request: CreateRequest,
): Promise<WriteAnswer> {
  const parts = judgedNow(store.writing ?? store);
  const { resource } = parts;
  const { options, warnings, signal } = request;
  mayBeNew(parts, request.body.object.metadata?.name ?? '');
  if (isLongTurn(writeTurnMsMax)) await nextTurn(); // Reading the body has begun the turn.
  const body = readBody(resource, request.body, options.fieldValidation, warnings);
  settleNamespace(body, resource, request.path.namespace);
  const given = toStored(parts, body, signal);
  const object = given instanceof Promise ? await given : given;
  const context = writeContext(parts, request, '');
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const tracked = trackUpdate(parts, { old: undefined, wanted: object }, context, signal);
  if (tracked instanceof Promise) await tracked;
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const admitted = await admitNew(parts, object, context, signal);
  const prefix = nameOf(admitted) === '' ? (admitted.metadata?.generateName ?? '') : '';
  const warningCount = warnings.length;
  let nameCount = 0;
  for (let lostCount = 0; ;) {
    const isLastTry = prefix === '' && parts.companions?.settle === undefined;
    const named = isLastTry ? admitted : cloneAlike(admitted);
    if (prefix !== '') metaOf(named).name = newName(prefix);
    warnings.length = warningCount; // those of a name that was taken
    const made = await putNew(parts, named, context, signal);
    if (made.ok) return { item: made.item, created: true, written: made.written };
    if (made.isCompany === true) {
      if (++lostCount > limits.lostRacesMax) throw tooManyWriters();
      continue;
    }
    if (prefix !== '' && ++nameCount < limits.generateNameRetryCountMax) continue;
    throw existsError(parts, keyOfObject(named), made.current);
  }
}

/** @throws StatusError where no new objects are taken. */
function mayBeNew({ strategy }: StoreParts, name: string): void {
  if (strategy.whyNoNew !== undefined) throw strategy.whyNoNew(name);
}

/**
 * What mutating admission makes of a new object, whose name may still be to generate. `object` is
 * in the storage version and used up. @throws StatusError 400 where it has left its namespace
 */
export async function admitNew(
  parts: StoreParts,
  object: ApiObject,
  context: WriteContext,
  signal: AbortSignal,
): Promise<ApiObject> {
  mayBeNew(parts, nameOf(object));
  const attributes = attributesOf(parts, object, context);
  const admitted = await mutated(parts, attributes, object, context, signal);
  settleNamespace(admitted, parts.resource, attributes.namespace);
  return admitted;
}

export type NewObject =
  | { readonly ok: true; readonly item: Item; readonly written?: InHand | undefined }
  /** Something is stored under the name; undefined when it was gone again at once. */
  | {
      readonly ok: false;
      readonly current: StoredItem | undefined;
      /** The name is free: what is written beside the object has changed (`Together`). */
      readonly isCompany?: boolean;
    };

/**
 * Completes, validates and stores a new object that is admitted and has its name. `object` is in
 * the storage version and used up.
 */
export async function putNew(
  parts: StoreParts,
  object: ApiObject,
  context: WriteContext,
  signal: AbortSignal,
): Promise<NewObject> {
  const { storedAs, strategy } = parts;
  if (nameOf(object) === '' && strategy.defaultName !== undefined) {
    metaOf(object).name = strategy.defaultName();
  }
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  fillNewMeta(object, parts, context);
  clearStatus(object, storedAs, strategy);
  parts.rules.dropDisabled(object, undefined);
  parts.rules.prepare(object, undefined, context);
  // Before the object is completed, which copies to its metadata what the strategy has made.
  const errors = metaErrorsOf(parts, object);
  // Once more: what was cleared, filled in or changed by admission leaves fields open.
  parts.defaults.apply(object, storedAs.type);
  const settled = parts.companions?.settle?.(object, undefined, context, signal);
  if (settled instanceof Promise) await settled;
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const refused = parts.rules.authorize(object, undefined, context, signal);
  errors.unshift(...(refused instanceof Promise ? await refused : refused));
  const found = parts.rules.validate(object, undefined, context, errors);
  const failures = errors.concat(found instanceof Promise ? await found : found);
  if (failures.length > 0) throw invalid(storedAs.kind, nameOf(object), failures);
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  parts.rules.warn(object, undefined, context);
  await parts.admission.validate(attributesOf(parts, object, context), object, signal);
  const key = keyOfObject(object);
  const converted = inStoredVersion(parts, object, signal);
  const stored = converted instanceof Promise ? await converted : converted;
  if (context.dryRun) return rehearse(parts, stored, key, signal);
  const etcdKey = parts.keyOf(key);
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const { value, encoded } = storedBytes(parts, stored);
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const ttlSeconds = strategy.ttlSeconds?.(object);
  const lifetime = ttlSeconds === undefined ? {} : { ttlSeconds };
  const asked = parts.companions?.of({ object, old: undefined, context }, signal);
  const company = asked instanceof Promise ? await asked : asked;
  const labels = [metaOf(object).labels];
  const result =
    company === undefined
      ? await parts.storage.put(etcdKey, value, { expected: 0, ...lifetime, labels }, signal)
      : await commitTogether(
          parts,
          {
            change: { type: 'put', key: etcdKey, value, ...lifetime, labels },
            expected: 0,
            epoch: undefined,
          },
          company,
          signal,
        );
  if (!result.ok) return result;
  const { revision } = result;
  const written = { key: etcdKey, value, modRevision: revision, createRevision: revision };
  const item = parts.view.itemOf(written, encoded);
  await parts.onStored?.(item);
  return { ok: true, item, written: inHand(item, encoded) };
}

function metaErrorsOf(parts: StoreParts, object: ApiObject): FieldError[] {
  const { namespaced, nameRule } = parts.resource;
  const takesUnqualifiedFinalizers = canTakeUnqualifiedFinalizers(parts, undefined);
  const profile = parts.naming;
  const rules = { namespaced, nameRule, profile, takesUnqualifiedFinalizers, object };
  return validateObjectMeta(metaOf(object), rules);
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
  const record = storedRecord(parts);
  object.apiVersion = apiVersionOf(record.kind);
  return { ok: true, item: objectItem(object, record, 0) };
}

const attributesOf = (
  parts: StoreParts,
  object: Readonly<ApiObject>,
  context: WriteContext,
): AdmissionRequest =>
  admissionRequest(
    parts,
    { operation: 'CREATE', key: keyOfObject(object), old: undefined },
    context,
  );

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
