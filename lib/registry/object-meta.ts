// The members of metadata that belong to the server: filled on create, kept on update. Which kinds
// have a generation, and which fields a write must leave alone, is data of ResourceInfo.
import { randomUUID } from 'node:crypto';
import { recordAt, recordsAt } from '../api/json-access.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import { formatTime } from '../base/clock.ts';
import { badRequest } from '../base/status.ts';
import type { ApiObject, ObjectMeta } from '../codec/codec.ts';
import { isDeleting, metaOf, nameOf } from '../codec/object-meta.ts';
import { copyMember, jsonEqual } from '../api/json-value.ts';
import type { GenerationRule, ResourceStrategy, WriteContext } from '../kinds/strategy.ts';
import { hasStatusSubresource } from './store-parts.ts';
import type { StoreParts } from './store-parts.ts';

/** @throws StatusError 400 when the body names another namespace than the path. */
export function settleNamespace(object: ApiObject, resource: ResourceInfo, path: string): void {
  const meta = metaOf(object);
  if (!resource.namespaced) {
    delete meta.namespace;
    return;
  }
  const given = meta.namespace ?? '';
  if (given !== '' && given !== path) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  meta.namespace = path;
}

/** @throws StatusError 400 when the body has no name or another than the path. */
export function checkName(object: Readonly<ApiObject>, path: string): void {
  const name = nameOf(object);
  if (name === '') {
    throw badRequest(
      `the name of the object (${path} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (name !== path) {
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${path})`,
    );
  }
}

/**
 * Everything the server owns in a new object, but the name. @throws StatusError 400 for a stated
 * version, unless nothing is stored.
 */
export function fillNewMeta(
  object: ApiObject,
  { storedAs }: Pick<StoreParts, 'storedAs'>,
  context: WriteContext,
): void {
  const meta = metaOf(object);
  if (!context.dryRun && !['', '0'].includes(meta.resourceVersion ?? '')) {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  delete meta['selfLink']; // Nobody writes it any more.
  delete meta.resourceVersion;
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  meta.uid = randomUUID();
  meta.creationTimestamp = formatTime(context.nowMs);
  if (storedAs.hasGeneration) meta.generation = 1;
}

/** Status belongs to the status subresource from the first write on. */
export function clearStatus(
  object: ApiObject,
  resource: ResourceInfo,
  strategy: ResourceStrategy,
): void {
  if (hasStatusSubresource(resource) && strategy.keepsStatusOnCreate !== true) delete object.status;
}

/**
 * Puts back what a write to this (sub)resource must not change. Metadata's version and managers
 * stay.
 */
export function keepResetFields(
  object: ApiObject,
  old: Readonly<ApiObject>,
  resource: ResourceInfo,
  write: { readonly subresource: string; readonly strategy: ResourceStrategy },
): void {
  const { subresource, strategy } = write;
  const writable =
    resource.writableBySubresource?.[subresource] ?? strategy.writtenBySubresource?.[subresource];
  if (writable !== undefined) {
    keepAllBut(object, old, writable);
    return;
  }
  const paths = strategy.keptBySubresource?.[subresource] ?? resetPathsOf(resource, subresource);
  for (const path of paths) {
    if (path.startsWith('metadata ') || path === 'metadata') keepMetadata(object, old);
    else copyMember(object, old, path);
  }
}

/** Dotted paths of what writes through the (sub)resource leave as it is. */
export function resetPathsOf(resource: ResourceInfo, subresource: string): readonly string[] {
  if (subresource !== '') {
    const paths = resource.resetBySubresource[subresource] ?? [];
    return subresource === 'status' && paths.length === 0 ? ['spec'] : paths;
  }
  const main = resource.resetMain;
  return hasStatusSubresource(resource) && !main.includes('status') ? [...main, 'status'] : main;
}

/** The old object with what `paths` name in the new one. */
function keepAllBut(object: ApiObject, old: Readonly<ApiObject>, paths: readonly string[]): void {
  const given = { ...object };
  for (const name of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (name === 'metadata') keepMetadata(object, old);
    else copyMember(object, old, name);
  }
  for (const path of paths) takeMembers(object, given, path.split('.'));
}

/**
 * Lists whose elements are others than before are taken whole, for validation to refuse: what is
 * written of one element must not be lost in another.
 */
function takeMembers(
  into: JsonObject,
  from: Readonly<JsonObject>,
  [name = '', ...rest]: readonly string[],
): void {
  if (rest.length === 0) {
    copyMember(into, from, name);
    return;
  }
  const list = name.replace(/\[\*\]$/, '');
  if (list === name) {
    const [inner, given] = [recordAt(into, name), recordAt(from, name)];
    if (inner !== undefined) takeMembers(inner, given ?? {}, rest);
    return;
  }
  const [elements, given] = [recordsAt(into, list), recordsAt(from, list)];
  const names = (of: readonly JsonObject[]): string => JSON.stringify(of.map((one) => one['name']));
  if (names(elements) !== names(given)) {
    copyMember(into, from, list);
    return;
  }
  for (const [at, element] of elements.entries()) takeMembers(element, given[at] ?? {}, rest);
}

function keepMetadata(object: ApiObject, old: Readonly<ApiObject>): void {
  const { resourceVersion, uid } = metaOf(object);
  copyMember(object, old, 'metadata');
  const meta = metaOf(object);
  if (resourceVersion === undefined) delete meta.resourceVersion;
  else meta.resourceVersion = resourceVersion;
  if (uid !== undefined) meta.uid = uid;
}

/**
 * Copies from the stored object what clients may leave out or must not change. Stated values that
 * contradict it stay, for validation to refuse: the client would believe in them otherwise.
 */
export function keepServerMeta(object: ApiObject, old: Readonly<ApiObject>): void {
  const meta = metaOf(object);
  const oldMeta = old.metadata ?? {};
  delete meta['selfLink'];
  if ((meta.uid ?? '') === '') take(meta, oldMeta, 'uid');
  take(meta, oldMeta, 'creationTimestamp');
  take(meta, oldMeta, 'generation');
  if (isDeleting(old)) take(meta, oldMeta, 'deletionTimestamp');
  if (typeof meta.deletionGracePeriodSeconds !== 'number') {
    take(meta, oldMeta, 'deletionGracePeriodSeconds');
  }
}

/** Bumps the generation when what its kind counts has changed. */
export function bumpGeneration(
  object: ApiObject,
  old: Readonly<ApiObject>,
  { storedAs, strategy }: Pick<StoreParts, 'storedAs' | 'strategy'>,
  { subresource }: Pick<WriteContext, 'subresource'>,
): void {
  const rule = strategy.generation ?? {};
  if (rule.only === 'create' || subresource === 'status') return;
  if (!storedAs.hasGeneration && rule.only !== 'update') return;
  const countsStatus = rule.countsPlainStatus === true && !hasStatusSubresource(storedAs);
  if (!hasChanged(object, old, rule, countsStatus)) return;
  metaOf(object).generation = (old.metadata?.generation ?? 0) + 1;
}

/** `old` is undefined on create. */
export function canTakeUnqualifiedFinalizers(
  { resource, strategy }: Pick<StoreParts, 'resource' | 'strategy'>,
  old: Readonly<ApiObject> | undefined,
): boolean {
  const when = strategy.takesUnqualifiedFinalizers ?? 'never';
  switch (when) {
    case 'never':
      return false;
    case 'always':
      return true;
    case 'onUpdate':
      return old !== undefined;
    case 'inCoreGroup':
      return resource.group === '';
  }
}

const isCounted = (name: string): boolean =>
  name !== 'kind' && name !== 'apiVersion' && name !== 'metadata' && name !== 'status';

function hasChanged(
  object: Readonly<ApiObject>,
  old: Readonly<ApiObject>,
  { metadata = [] }: GenerationRule,
  countsStatus: boolean,
): boolean {
  const counts = (name: string): boolean => isCounted(name) || (countsStatus && name === 'status');
  for (const name of Object.keys(object)) {
    if (counts(name) && !jsonEqual(object[name], old[name])) return true;
  }
  for (const name of Object.keys(old)) {
    if (counts(name) && object[name] === undefined && old[name] !== undefined) return true;
  }
  return metadata.some((name) => !jsonEqual(object.metadata?.[name], old.metadata?.[name]));
}

/** The member as `old` has it. */
export function take(meta: ObjectMeta, old: ObjectMeta, name: keyof ObjectMeta): void {
  if (old[name] === undefined) delete meta[name];
  else meta[name] = old[name];
}
