// What a DELETE does to one object: remove it, mark it as being deleted, or leave it as it is.
// Propagation policies become finalizers here; whoever removes the last finalizer removes the
// object.
import { formatTime } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { conflict } from '../base/status.ts';
import type { StatusError } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { cloneJson, jsonEqual } from '../api/json-value.ts';
import { isDeleting, metaOf } from '../codec/object-meta.ts';
import type { ResourceStrategy } from '../kinds/strategy.ts';
import type { DeleteOptions, DeleteRequest } from './requests.ts';
import type { StoreParts } from './store-parts.ts';

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

export type DeletionPlan =
  /** `last`: what is stored first, where the end shows in the object. */
  | { readonly kind: 'remove'; readonly last: ApiObject | undefined }
  | { readonly kind: 'mark'; readonly object: ApiObject }
  /** Deletion has begun before and waits; nothing changes. */
  | { readonly kind: 'wait' };

/** @throws StatusError 409 for a failed precondition. */
export function deletionPlan(
  parts: StoreParts,
  item: Item,
  options: DeleteOptions,
  nowMs: number,
): DeletionPlan {
  checkPreconditions(parts, item, options);
  const old = item.object();
  const { strategy } = parts;
  const graceSeconds = graceSecondsOf(parts, old, options.gracePeriodSeconds);
  if (graceSeconds === undefined) return { kind: 'wait' };
  const current = old.metadata?.finalizers ?? [];
  const own = isDeleting(old) ? undefined : strategy.deletionFinalizer;
  const finalizers =
    own === undefined
      ? finalizersAfter(current, options, strategy)
      : [...current.filter((name) => name !== own), own];
  const isHeld = finalizers.length > 0 || strategy.isHeld?.(old) === true;
  const isRemoved = graceSeconds === 0 && !isHeld;
  if (isRemoved && strategy.deletion === undefined) return { kind: 'remove', last: undefined };
  const object = cloneJson(old) as ApiObject;
  const meta = metaOf(object);
  if (finalizers.length > 0) meta.finalizers = finalizers;
  else delete meta.finalizers;
  if (isDeleting(old)) shorten(object, graceSeconds);
  else begin(parts, object, graceSeconds, nowMs);
  const isSame = jsonEqual(object, old);
  if (isRemoved) return { kind: 'remove', last: isSame ? undefined : object };
  return isSame ? { kind: 'wait' } : { kind: 'mark', object };
}

/** The object's deletion has begun and nothing keeps it any more. */
export function canRemove(parts: StoreParts, object: Readonly<ApiObject>): boolean {
  const meta = object.metadata ?? {};
  return (
    isDeleting(object) &&
    (meta.deletionGracePeriodSeconds ?? 0) === 0 &&
    (meta.finalizers ?? []).length === 0 &&
    parts.strategy.isHeld?.(object) !== true
  );
}

/** @throws StatusError 409 for one that fails. */
export function checkPreconditions(
  parts: StoreParts,
  item: Item,
  options: Pick<DeleteOptions, 'preconditions'>,
): void {
  const { uid, resourceVersion } = options.preconditions;
  const stored = item.object().metadata?.uid ?? '';
  if (uid !== undefined && uid !== stored) {
    const hint = 'The object might have been deleted and then recreated';
    throw failedPrecondition(parts, item, { what: 'UID', wanted: uid, stored, hint });
  }
  const revision = String(item.revision);
  if (resourceVersion !== undefined && resourceVersion !== revision) {
    const hint = 'The object might have been modified';
    const wanted = resourceVersion;
    throw failedPrecondition(parts, item, {
      what: 'ResourceVersion',
      wanted,
      stored: revision,
      hint,
    });
  }
}

/** Kubernetes names the kind here, but for kinds that end by themselves: as in other conflicts. */
function failedPrecondition(
  { resource, storedAs, strategy }: StoreParts,
  { name }: Item,
  found: Readonly<Record<'what' | 'wanted' | 'stored' | 'hint', string>>,
): StatusError {
  const { what, wanted, stored, hint } = found;
  if (strategy.beginDeletion !== undefined) {
    const message =
      `Precondition failed: ${what} in precondition: ${wanted}, ` +
      `${what} in object meta: ${stored}`;
    return conflict(resource, name, message);
  }
  const { group, kind } = storedAs.kind;
  const message =
    `the ${what} in the precondition (${wanted}) does not match the ${what} in record ` +
    `(${stored}). ${hint}`;
  return conflict({ group, resource: kind }, name, message);
}

/** At most one of them tells the garbage collector what to do first. */
function finalizersAfter(
  current: readonly string[],
  options: DeleteOptions,
  { dependents }: Pick<ResourceStrategy, 'dependents'>,
): string[] {
  const given = current.filter(isPolicy);
  const wished =
    dependents === 'none'
      ? []
      : (wishedFinalizers(options) ??
        (given.length === 0 && dependents === 'orphaned' ? [orphanFinalizer] : given));
  if (given.join() === wished.join()) return [...current];
  return [...current.filter((name) => !isPolicy(name)), ...wished];
}

const isPolicy = (finalizer: string): boolean =>
  finalizer === orphanFinalizer || finalizer === foregroundFinalizer;

/** undefined: the options name no policy. */
function wishedFinalizers(options: DeleteOptions): readonly string[] | undefined {
  if (options.orphanDependents !== undefined)
    return options.orphanDependents ? [orphanFinalizer] : [];
  switch (options.propagationPolicy) {
    case undefined:
      return undefined;
    case 'Orphan':
      return [orphanFinalizer];
    case 'Foreground':
      return [foregroundFinalizer];
    case 'Background':
      return [];
  }
}

/** Once a request, whether or not there is something to delete. */
export function warnOfDefaultPolicy(
  { strategy }: Pick<StoreParts, 'strategy'>,
  { options, warnings }: Pick<DeleteRequest, 'options' | 'warnings'>,
): void {
  const text = strategy.defaultPolicyWarning;
  if (text === undefined || warnings.includes(text)) return;
  if (wishedFinalizers(options) === undefined) warnings.push(text);
}

/**
 * Seconds between the first DELETE and the end. undefined: a grace period runs, which this DELETE
 * does not end earlier; then it changes nothing at all.
 */
function graceSecondsOf(
  parts: StoreParts,
  object: Readonly<ApiObject>,
  asked: number | undefined,
): number | undefined {
  const wanted = asked === undefined ? undefined : boundedSeconds(asked);
  if (!isDeleting(object)) {
    return boundedSeconds(parts.strategy.deletion?.(object, wanted).graceSeconds ?? 0);
  }
  const given = givenSeconds(object);
  if (given === 0) return 0;
  return wanted !== undefined && wanted < given ? wanted : undefined;
}

function givenSeconds(object: Readonly<ApiObject>): number {
  // Another server may have stored one that is no safe integer: a bigint in memory.
  const given: unknown = object.metadata?.deletionGracePeriodSeconds;
  return boundedSeconds(Number(given ?? 0));
}

/** A negative period means the shortest one that is not immediate. */
const boundedSeconds = (seconds: number): number =>
  seconds < 0 ? 1 : Math.min(seconds, limits.deletionGraceSecondsMax);

function begin(parts: StoreParts, object: ApiObject, graceSeconds: number, nowMs: number): void {
  const meta = metaOf(object);
  meta.deletionTimestamp = formatTime(nowMs + graceSeconds * 1000);
  if (parts.strategy.beginDeletion !== undefined) {
    parts.strategy.beginDeletion(object);
    return;
  }
  meta.deletionGracePeriodSeconds = graceSeconds;
  if ((meta.generation ?? 0) > 0) meta.generation = (meta.generation ?? 0) + 1;
}

/** A later DELETE can only bring the end forward. */
function shorten(object: ApiObject, graceSeconds: number): void {
  const meta = metaOf(object);
  const given = givenSeconds(object);
  if (graceSeconds === given) return;
  const endMs = Date.parse(meta.deletionTimestamp ?? '') - (given - graceSeconds) * 1000;
  meta.deletionTimestamp = formatTime(endMs);
  meta.deletionGracePeriodSeconds = graceSeconds;
}
