// A change of a stored object that another request brings with it (a binding, an eviction): not a
// write of its own, so nobody admits it, no strategy completes it, and nobody comes to own a field.
import { sameJson } from '../api/json-equal.ts';
import { notFound } from '../base/status.ts';
import type { Item, ItemKey } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { decide } from './current-state.ts';
import type { StoreParts } from './store-parts.ts';
import { unstoredItem } from './update.ts';
import { putInstead, stale, untilWritten } from './write-loop.ts';

interface ChangeRequest {
  readonly options: { readonly dryRun: boolean };
  readonly signal: AbortSignal;
}

/**
 * Stores what `change` makes of the object, which it must not change itself; it may be asked again
 * with a newer one. It refuses by throwing, and what it refuses was read from etcd.
 * @throws StatusError 404, 429 when too many others write the object, and what `change` throws.
 */
export function changeStored(
  parts: StoreParts,
  key: ItemKey,
  request: ChangeRequest,
  change: (item: Item) => ApiObject,
): Promise<Item> {
  const { signal, options } = request;
  return untilWritten(parts, key, request, async ({ item, epoch, isCurrent }) => {
    if (item === undefined) throw notFound(parts.resource, key.name);
    const decision = await decide(() => change(item));
    if (decision.kind === 'stop') {
      if (!isCurrent) return stale;
      throw decision.error;
    }
    const object = decision.plan;
    if (sameJson(object, item.object())) return isCurrent ? { kind: 'done', answer: item } : stale;
    if (options.dryRun) return { kind: 'done', answer: unstoredItem(parts, object, item) };
    const result = await putInstead(parts, key, { item, epoch, object }, signal);
    if (result.kind === 'lost') return result;
    return { kind: 'done', answer: result.item, written: result };
  });
}
