// Reading watches in tests: the first events, the first batch that has any, and waiting for a claim
// to hold.
import type { Revision, StorageEvent, WatchBatch } from '../storage.ts';

export const keyOf = (event: StorageEvent): string =>
  event.type === 'put' ? event.item.key : event.key;
export const revisionOfEvent = (event: StorageEvent): Revision =>
  event.type === 'put' ? event.item.modRevision : event.revision;
/** `put KEY REVISION VALUE` or `delete KEY REVISION`. */
export const brief = (event: StorageEvent): string =>
  [event.type, keyOf(event), revisionOfEvent(event)].join(' ') +
  (event.type === 'put' ? ` ${Buffer.from(event.item.value).toString()}` : '');

/** The first `count` events of a watch. */
export async function collect(
  batches: AsyncIterable<WatchBatch>,
  count: number,
): Promise<readonly StorageEvent[]> {
  const events: StorageEvent[] = [];
  for await (const batch of batches) {
    events.push(...batch.events);
    if (events.length >= count) break;
  }
  return events;
}

export async function nextWithEvents(batches: AsyncIterator<WatchBatch>): Promise<WatchBatch> {
  for (;;) {
    const result = await batches.next();
    if (result.done === true) throw new Error('the watch ended');
    if (result.value.events.length > 0) return result.value;
  }
}

export const pause = (delayMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, delayMs));

/** Runs `check` until it passes; its last failure is thrown after a minute. */
export async function eventually(check: () => Promise<void> | void): Promise<void> {
  const lastMs = Date.now() + 60_000;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > lastMs) throw error;
    }
    await pause(50);
  }
}
