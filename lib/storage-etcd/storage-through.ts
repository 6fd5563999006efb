// A storage whose writes all go through one function over transactions, which may add to them.
import { invariant } from '../base/invariant.ts';
import type { Change, ChangeLabels, Expected, Storage } from './storage.ts';
import type { StoredItem, WriteResult } from './storage.ts';

/** `transact` answers the conditions that it was given, in their order. */
export function storageThrough(storage: Storage, transact: Storage['transact']): Storage {
  const write = async (
    { expected, epoch }: Expected,
    change: Change,
    signal: AbortSignal,
  ): Promise<WriteResult> => {
    const conditions = [{ key: change.key, expected }];
    const result = await transact({ conditions, changes: [change], epoch }, signal);
    return result.ok ? result : { ok: false, current: only(result.current) };
  };
  return {
    get epoch() {
      return storage.epoch;
    },
    get: (key, signal) => storage.get(key, signal),
    list: (range, signal) => storage.list(range, signal),
    put(key, value, { ttlSeconds, labels, ...expected }, signal) {
      const lifetime = ttlSeconds === undefined ? {} : { ttlSeconds };
      return write(expected, { type: 'put', key, value, ...lifetime, ...told(labels) }, signal);
    },
    delete: (key, { labels, ...expected }, signal) =>
      write(expected, { type: 'delete', key, ...told(labels) }, signal),
    transact,
    watch: (prefix, after, signal, epoch) => storage.watch(prefix, after, signal, epoch),
    currentRevision: (signal) => storage.currentRevision(signal),
    requestProgress: () => storage.requestProgress(),
  };
}

const told = (labels: ChangeLabels['labels']): ChangeLabels =>
  labels === undefined ? {} : { labels };

function only(current: readonly (StoredItem | undefined)[]): StoredItem | undefined {
  invariant(current.length === 1, 'one condition is answered by one key');
  return current[0];
}
