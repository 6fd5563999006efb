// Writes at a rate, each an event that every watcher gets: how long the last of them waits for it.
import type { Connection } from './http1-client.ts';
import type { Deliveries } from './watchers.ts';

const lostAfterMs = 60_000;

export interface PacedWrites {
  readonly deliveries: Deliveries;
  readonly writers: readonly Connection[];
  readonly request: (index: number) => Buffer;
  /** Events a second; Infinity: each writer as fast as it is answered. */
  readonly rate: number;
  /** The number of the first event, and how many there are. */
  readonly first: number;
  readonly count: number;
}

/**
 * Resolves when every watcher has the last: from the answer of each write to its last delivery.
 * @throws Error for a status other than 200, and when an event does not come in a minute
 */
export async function writePaced(options: PacedWrites): Promise<readonly number[]> {
  const { deliveries, writers, request, rate, first, count } = options;
  const startedMs = performance.now();
  const lagsMs: number[] = [];
  const lags: Promise<unknown>[] = [];
  let next = first;
  const writer = async (connection: Connection): Promise<void> => {
    for (let index = next++; index < first + count; index = next++) {
      const dueMs = startedMs + ((index - first) / rate) * 1_000;
      const waitMs = rate === Infinity ? 0 : dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const answer = await connection.request(request(index));
      if (answer.status !== 200) throw new Error(`status ${String(answer.status)}`);
      const answeredMs = performance.now();
      lags.push(deliveries.complete(index).then((atMs) => lagsMs.push(atMs - answeredMs)));
    }
  };
  await Promise.all(writers.map(writer));
  await Promise.race([
    Promise.all(lags),
    new Promise((_resolve, reject) =>
      setTimeout(() => reject(new Error('events were lost')), lostAfterMs).unref(),
    ),
  ]);
  return lagsMs;
}
