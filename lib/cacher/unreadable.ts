// Stored objects that cannot be read: what reads answer when they meet one, and which reads do. Of
// such an object only the key is known, so any label or field requirement may match it.
import { limits } from '../base/limits.ts';
import { expired, StatusError } from '../base/status.ts';
import type { ResourceRef, StatusCause } from '../base/status.ts';
import { invariant } from '../base/invariant.ts';
import type { CachedItem } from './item.ts';
import type { LogEntry } from './log-entry.ts';
import type { Item, Selection } from './resource-view.ts';
import { pathOf } from './select.ts';

/** Why the object of `item` cannot be read; undefined when it can. */
export function readFailureOf(item: Item): StatusError | undefined {
  try {
    item.object();
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
}

const { unreadableInMessageMax } = limits;

/**
 * 500 of a read of several objects of which these cannot be read: a cause for each, its field the
 * etcd key.
 */
export function unreadableObjects(
  { group, resource }: ResourceRef,
  items: readonly Item[],
  keyOf: (item: Item) => string,
): StatusError {
  const max = limits.unreadableNamedMax;
  const causes: StatusCause[] = items.slice(0, max).map((item) => ({
    reason: 'UnexpectedServerResponse',
    message: readFailureOf(item)?.message ?? '',
    field: keyOf(item),
  }));
  if (items.length > max) causes.push({ reason: 'FieldValueTooMany', message: 'there are more' });
  const names = items.slice(0, unreadableInMessageMax).map(pathOf);
  if (items.length > unreadableInMessageMax) names.push('…');
  const what = group === '' ? resource : `${resource}.${group}`;
  const message = `these ${what} cannot be read from the store: ${names.join(', ')}`;
  const details = { ...(group === '' ? {} : { group }), kind: resource, causes };
  return new StatusError(500, 'StorageReadError', message, details);
}

/** The same, of items of one resource. */
export function unreadableItems(items: readonly CachedItem[]): StatusError {
  const [first] = items;
  invariant(first !== undefined, 'a read fails because of some object');
  const { keyPrefix, resource } = first.source;
  return unreadableObjects(resource, items, (item) => keyPrefix + pathOf(item));
}

/** 410 of a watch: only a list tells what is there after the change, or what cannot be read. */
export function unreadableChange({ revision, item, path }: LogEntry): StatusError {
  const what = item?.corrupted === true ? 'cannot be read' : 'could not be read before';
  return expired(`the object ${path} ${what} at version ${String(revision)}: list again`);
}

/** May the selection hold of an object of which only the key is known? */
export function mayHold(select: Selection, item: Item): boolean {
  const { namespace, name, fields } = select;
  if (namespace !== undefined && item.namespace !== namespace) return false;
  if (name !== undefined && item.name !== name) return false;
  for (const { path, operator, value } of fields ?? []) {
    const isOfKey = path === 'metadata.name' || path === 'metadata.namespace';
    if (isOfKey && (item.field(path) === value) !== (operator === '=')) return false;
  }
  return true;
}
