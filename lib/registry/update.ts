// update and patch: transform → complete and validate → write, as one try of the write loop. The
// transform is pure and may run several times.
import { apiVersionOf } from '../api/type-info.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { AdmissionRequest } from '../admission/plugin.ts';
import { listAt } from '../api/json-access.ts';
import { validateObjectMetaUpdate } from '../api/meta.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { limits } from '../base/limits.ts';
import { isLongTurn, nextTurn } from '../base/turn.ts';
import { conflict, invalid, modifiedConflict, notFound } from '../base/status.ts';
import type { Item, ItemKey } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { holdsRaw } from '../codec/raw-fields.ts';
import { encodeStored, schemaGeneration, withResourceVersion } from '../codec/stored-form.ts';
import { bodyCopies } from './body-copies.ts';
import { objectItem } from './converted-item.ts';
import { admitNew, putNew } from './create.ts';
import { isIn } from './conversion.ts';
import { decide, stateOf } from './current-state.ts';
import type { State } from './current-state.ts';
import { canRemove } from './deletion-plan.ts';
import { admissionRequest, mutated, mutatedAs, readBody, toStored } from './incoming.ts';
import { writeContext } from './incoming.ts';
import type { ShownAs } from './incoming.ts';
import { cloneAlike, jsonEqual } from '../api/json-value.ts';
import { metaOf, nameOf } from '../codec/object-meta.ts';
import {
  bumpGeneration,
  canTakeUnqualifiedFinalizers,
  checkName,
  keepResetFields,
  keepServerMeta,
  settleNamespace,
  take,
} from './object-meta.ts';
import { hasNote, noteOn } from './item-notes.ts';
import { judgedNow } from './judged-now.ts';
import { keepTimes, trackUpdate } from './managed-fields.ts';
import { partsInPlace } from './parts-in-place.ts';
import { parseResourceVersion } from './read-mode.ts';
import type { InHand, ObjectPath, RequestScope, UpdateRequest } from './requests.ts';
import type { WriteAnswer, WriteOptions } from './requests.ts';
import { itemKeyOf } from './store-parts.ts';
import type { StoreParts } from './store-parts.ts';
import { holdSame, inStoredVersion, judgedItem } from './stored-version.ts';
import { storedBytes, storedRecord } from './stored-version.ts';
import type { StoredBytes } from './stored-version.ts';
import type { WriteContext } from '../kinds/strategy.ts';
import { putInstead, removeStored, untilWritten } from './write-loop.ts';
import type { Try } from './write-loop.ts';
import type { Found } from './write-turns.ts';

const { writeTurnMsMax } = limits;

/**
 * A new object in the storage version from the stored one, which it must not change; undefined: it
 * leaves that as it is. `at`: what it is written with, which is not always what the verb began with
 * (`partsInPlace`).
 */
export type Transform = (old: Item, at: StoreParts) => MaybePromise<ApiObject | undefined>;

interface Write {
  readonly transform: Transform;
  /** What it makes knows its managers already. */
  readonly isApplied?: boolean;
  /** Absent: admission is shown the object. */
  readonly shownAs?: ShownAs;
  /** Makes the object when there is none; undefined: 404. */
  readonly create: (() => Promise<ApiObject>) | undefined;
}

interface WriteRequest extends RequestScope {
  readonly path: ObjectPath;
  readonly options: WriteOptions;
}

export async function updateObject(
  store: StoreParts,
  request: UpdateRequest,
): Promise<WriteAnswer> {
  const parts = store.writing ?? store;
  const { resource } = parts;
  const { path, options, warnings, signal } = request;
  if (isLongTurn(writeTurnMsMax)) await nextTurn(); // Reading the body has begun the turn.
  const body = readBody(resource, request.body, options.fieldValidation, warnings);
  const complete = (of: ApiObject): MaybePromise<ApiObject> => {
    checkName(of, path.name);
    settleNamespace(of, resource, path.namespace);
    return toStored(parts, of, signal);
  };
  const given = complete(body);
  const object = given instanceof Promise ? await given : given;
  const { uid, resourceVersion = '' } = metaOf(object);
  const { readAgain } = request;
  const nextCopy = bodyCopies(
    object,
    readAgain && (() => complete(readBody(resource, readAgain(), 'Ignore', warnings))),
  );
  const create = async (): Promise<ApiObject> => {
    // Whoever states a uid means an object that exists; a version says less, as in Kubernetes.
    if ((uid ?? '') !== '') throw modifiedConflict(resource, path.name);
    parseResourceVersion(resourceVersion); // throws 400
    await request.authorizeCreate?.(signal);
    const made = await nextCopy();
    delete metaOf(made).resourceVersion;
    return made;
  };
  return writeTransformed(parts, request, {
    transform: (old) => {
      checkUid(parts, old, uid);
      return nextCopy();
    },
    create: resource.createOnUpdate && path.subresource === '' ? create : undefined,
  });
}

/** Update and patch. Ends with a written object, or an answer that etcd's state justifies. */
export function writeTransformed(
  store: StoreParts,
  request: WriteRequest,
  write: Write,
): Promise<WriteAnswer> {
  const parts = store.writing ?? store;
  const key = itemKeyOf(parts, request.path);
  const context = writeContext(parts, request, request.path.subresource);
  return untilWritten(parts, key, request, (state) => {
    const now = judgedNow(parts);
    return state.item === undefined
      ? createAbsent(now, key, write, context, request.signal)
      : replace(now, key, { ...state, item: state.item }, write, context, request.signal);
  });
}

async function createAbsent(
  parts: StoreParts,
  key: ItemKey,
  write: Write,
  context: WriteContext,
  signal: AbortSignal,
): Promise<Try<WriteAnswer>> {
  if (write.create === undefined) throw notFound(parts.resource, key.name);
  const { epoch } = parts.storage;
  const wanted = await write.create();
  if (write.isApplied !== true) {
    await trackUpdate(parts, { old: undefined, wanted }, context, signal);
  }
  const admitted = await admitNew(parts, wanted, context, signal);
  checkName(admitted, key.name);
  const made = await putNew(parts, admitted, context, signal);
  if (!made.ok) return { kind: 'lost', state: stateOf(parts, made.current, epoch) };
  const answer = { item: made.item, created: true, written: made.written };
  return { kind: 'done', answer, written: { item: made.item, epoch } };
}

/** Writes the object (or removes it with its last finalizer), unless that changes nothing. */
async function replace(
  parts: StoreParts,
  key: ItemKey,
  state: State & Found,
  write: Write,
  context: WriteContext,
  signal: AbortSignal,
): Promise<Try<WriteAnswer>> {
  const at = partsInPlace(parts, state.item);
  const decision = await decide(async () => {
    const item = judgedItem(at, state.item, signal);
    const old = item instanceof Promise ? await item : item;
    return nextObject(at, old, write, context, signal);
  });
  if (decision.kind === 'stop') {
    const { error } = decision;
    if (!state.isCurrent) return { kind: 'stale', again: () => Promise.reject(error) };
    throw error;
  }
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  return store(at, key, state, decision.plan, context, signal);
}

interface Next {
  readonly object: ApiObject;
  /** It says what the old one says: only the form of its bytes may be another. */
  readonly isUnchanged: boolean;
}

async function store(
  parts: StoreParts,
  key: ItemKey,
  state: State & Found,
  next: Next,
  context: WriteContext,
  signal: AbortSignal,
): Promise<Try<WriteAnswer>> {
  const { item, epoch } = state;
  const isKnownNoOp = next.isUnchanged && hasTodaysForm(parts, state);
  const removes = canRemove(parts, next.object);
  const ifCurrent: Try<WriteAnswer> = {
    kind: 'stale',
    again: (current) => store(parts, key, current, next, context, signal),
    byItem: isKnownNoOp && isKnownOfToday(parts, item),
  };
  if (isKnownNoOp && !removes) return state.isCurrent ? written(item) : ifCurrent;
  const converted = inStoredVersion(parts, next.object, signal);
  const object = converted instanceof Promise ? await converted : converted;
  const bytes = isKnownNoOp ? undefined : storedBytes(parts, object);
  if (bytes !== undefined && isLongTurn(writeTurnMsMax)) await nextTurn();
  const isNoOp = bytes === undefined || isSameAsStored(parts, state, bytes);
  if (isNoOp !== false && !state.isCurrent) return ifCurrent;
  if (isNoOp && !removes) return written(item);
  if (context.dryRun) return written(unstoredItem(parts, object, item));
  if (!removes) {
    const result = await putInstead(parts, key, { item, epoch, object, bytes, context }, signal);
    return result.kind === 'lost' ? result : written(result.item, result, result.written);
  }
  const lost = await removeStored(parts, key, { item, epoch }, signal);
  return lost ?? written(unstoredItem(parts, object, item));
}

const written = (item: Item, stored?: Found, hand?: InHand): Try<WriteAnswer> => ({
  kind: 'done',
  answer: { item, created: false, written: hand },
  written: stored,
});

/**
 * Where the stored bytes are not at hand, those that memory has are of today's form. What they were
 * seen to be is kept with the item.
 */
function hasTodaysForm(parts: StoreParts, { item, value }: State & Found): boolean {
  const record = storedRecord(parts);
  if (value === undefined) return !item.corrupted && isIn(item, record);
  const isTodays = parts.media.isTodays(value, record);
  if (isTodays) noteOn(item, formOf(record));
  return isTodays;
}

/** The item was made of bytes that a write would make today. */
const isKnownOfToday = (parts: StoreParts, item: Item): boolean =>
  hasNote(item, formOf(storedRecord(parts)));

const formOf = (record: ResourceInfo): string => `stored as ${schemaGeneration(record)}`;

/** For admission: the old object itself where nobody will be shown it who could change it. */
function untouched(
  { admission }: StoreParts,
  attributes: AdmissionRequest,
  old: Readonly<ApiObject>,
  shownAs: ShownAs | undefined,
): ApiObject {
  const hasOneOwner = listAt(old.metadata, 'ownerReferences').length < 2; // Several are merged.
  const isSafe = shownAs === undefined && hasOneOwner && !admission.mutates(attributes);
  return isSafe ? old : withItsOwners(old);
}

/** A copy that shares the list of owners, which nobody changes in its place. */
function withItsOwners({ metadata, ...object }: Readonly<ApiObject>): ApiObject {
  const { managedFields, ...rest } = metadata ?? {};
  const copy: ApiObject = cloneAlike({ ...object, metadata: rest });
  if (managedFields !== undefined) metaOf(copy).managedFields = managedFields;
  return copy;
}

/** The object as it would be stored. @throws StatusError 409, 422. */
async function nextObject(
  parts: StoreParts,
  item: Item,
  { transform, isApplied, shownAs }: Write,
  context: WriteContext,
  signal: AbortSignal,
): Promise<Next> {
  const { storedAs, strategy } = parts;
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const old = item.object();
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const made = transform(item, parts);
  const given = made instanceof Promise ? await made : made;
  if (given !== undefined) checkVersion(parts, given, item);
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const isTracked = given === undefined || isApplied === true;
  const hasSameFields =
    isTracked || (await trackUpdate(parts, { old: item, wanted: given }, context, signal));
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const shownOld = shownAs === undefined ? old : await shownAs.show(old, signal);
  const change = { operation: 'UPDATE', key: item, old: shownOld } as const;
  const attributes = admissionRequest(parts, change, context, shownAs?.form);
  const wanted = given ?? untouched(parts, attributes, old, shownAs);
  const owned = metaOf(wanted);
  const object = await (shownAs === undefined
    ? mutated(parts, attributes, wanted, context, signal)
    : mutatedAs(parts, shownAs, attributes, wanted, context, signal));
  const judge = async (): Promise<void> => {
    const shown = shownAs === undefined ? object : await shownAs.show(object, signal);
    await parts.admission.validate(attributes, shown, signal);
  };
  if (hasSameFields && jsonEqual(object, old)) {
    // It has passed all that follows as it was written, but who writes may be somebody else.
    const refused = await parts.rules.authorize(object, old, context, signal);
    if (refused.length > 0) throw invalid(storedAs.kind, nameOf(old), refused);
    parts.rules.warn(object, old, context);
    await judge();
    return { object, isUnchanged: true };
  }
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  metaOf(object).resourceVersion = String(item.revision); // admission cannot choose another
  keepResetFields(object, old, storedAs, { subresource: context.subresource, strategy });
  keepServerMeta(object, old);
  take(metaOf(object), owned, 'managedFields');
  if (strategy.generation?.countsDropped === true) bumpGeneration(object, old, parts, context);
  parts.rules.dropDisabled(object, old);
  parts.rules.prepare(object, old, context);
  parts.defaults.apply(object, storedAs.type);
  const settled = parts.companions?.settle?.(object, old, context, signal);
  if (settled instanceof Promise) await settled;
  bumpGeneration(object, old, parts, context);
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  const takesUnqualifiedFinalizers = canTakeUnqualifiedFinalizers(parts, old);
  const rules = { profile: parts.naming, takesUnqualifiedFinalizers };
  const refused = parts.rules.authorize(object, old, context, signal);
  const errors = [
    ...(refused instanceof Promise ? await refused : refused),
    ...validateObjectMetaUpdate(metaOf(object), old.metadata ?? {}, rules),
  ];
  const found = parts.rules.validate(object, old, context, errors);
  const failures = errors.concat(found instanceof Promise ? await found : found);
  // Events of both groups are those of the core group here, in Kubernetes' answers, too.
  if (failures.length > 0) throw invalid(storedAs.kind, nameOf(old), failures);
  parts.rules.warn(object, old, context);
  object.apiVersion = apiVersionOf(storedAs.kind);
  await judge();
  if (isLongTurn(writeTurnMsMax)) await nextTurn();
  keepTimes(object, old);
  return { object, isUnchanged: false };
}

function checkVersion(parts: StoreParts, object: ApiObject, item: Item): void {
  const { resource } = parts;
  const stated = parseResourceVersion(metaOf(object).resourceVersion ?? '') ?? 0;
  if (stated === 0 && !resource.unconditionalUpdate) {
    throw invalid({ group: resource.group, kind: resource.resource }, item.name, [
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
export function checkUid(parts: StoreParts, old: Item, uid: string | undefined): void {
  const stored = old.object().metadata?.uid ?? '';
  if ((uid ?? '') === '' || uid === stored) return;
  const message = `the stored object has the uid ${stored}, the body has ${String(uid)}`;
  throw conflict(parts.resource, old.name, message);
}

/**
 * Canonical bytes decide; undefined: only what is stored can tell. They are compared with what is
 * stored where that is at hand, so that bytes of another version or encoding are rewritten, else
 * with what the cache shows.
 */
function isSameAsStored(parts: StoreParts, state: State, bytes: StoredBytes): boolean | undefined {
  const record = storedRecord(parts);
  const { value, encoded } = bytes;
  if (state.value !== undefined) return holdSame(state.value, value, record);
  if (state.item === undefined || state.item.corrupted) return false;
  if (!isIn(state.item, record)) return false;
  if (encoded === undefined) return undefined;
  if (holdsRaw(record.type)) {
    // What is kept of raw JSON need not be what the item shows.
    return Buffer.compare(encodeStored(state.item.object(), record).value, encoded.value) === 0;
  }
  const json = state.item.json();
  const { revision } = state.item;
  // Most changes show in the length already.
  const { size } = encoded.header;
  if (size !== json.length - `"resourceVersion":"${String(revision)}",`.length) return false;
  return Buffer.compare(withResourceVersion(encoded, revision), json) === 0;
}

/**
 * The last state of an object that is not stored in this form: dry run, or removed by its last
 * finalizer's removal.
 */
export function unstoredItem(parts: StoreParts, object: ApiObject, stored: Item): Item {
  metaOf(object).resourceVersion = String(stored.revision);
  return objectItem(object, storedRecord(parts, { object, old: stored }), stored.revision);
}
