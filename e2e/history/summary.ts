// What a history holds, in numbers: a run without anomalies says little unless it did much.

import type { History, ReadAt } from './history.ts';

export type Counts = Readonly<Record<string, number>>;

/** Every kind of record that a sound run has, zero where there was none. */
export function countHistory(history: History): Counts {
  const counts: Record<string, number> = {};
  const count = (label: string, isTrue = true): void => {
    counts[label] = (counts[label] ?? 0) + (isTrue ? 1 : 0);
  };
  const modes: readonly ReadAt['mode'][] = ['latest', 'any', 'notOlderThan', 'exact'];
  for (const write of history.writes) {
    for (const verb of ['create', 'update', 'patch', 'delete']) {
      count(`${verb} applied`, write.verb === verb && write.outcome.kind === 'applied');
    }
    const why = write.outcome.kind === 'refused' ? write.outcome.why : '';
    for (const each of ['conflict', 'exists', 'absent']) count(`refused: ${each}`, why === each);
  }
  for (const { at, outcome } of history.gets) {
    for (const mode of modes) if (mode !== 'exact') count(`get ${mode}`, at.mode === mode);
    count('get absent', outcome.kind === 'absent');
  }
  for (const { at, pages } of history.lists) {
    for (const mode of modes) count(`list ${mode}`, at.mode === mode);
    count('list of several pages', pages.length > 1);
    count('list over several servers', new Set(pages.map(({ server }) => server)).size > 1);
  }
  for (const { start, events, ending } of history.watches) {
    for (const kind of ['after', 'state', 'streamed']) count(`watch ${kind}`, start.kind === kind);
    count('watch cut', ending.kind === 'cut');
    for (const { type } of events) {
      for (const each of ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']) count(each, type === each);
    }
  }
  return counts;
}

/** Lines for people: what was done, and what went wrong on the way without being an anomaly. */
export function describeHistory(history: History): string {
  const unknown = history.writes.filter(({ outcome }) => outcome.kind === 'unknown').length;
  const failedReads =
    history.gets.filter(({ outcome }) => outcome.kind === 'failed').length +
    history.lists.filter(({ ending }) => ending.kind !== 'complete').length;
  const endings = Map.groupBy(history.watches, ({ ending }) => ending.kind);
  const streams = [...endings].map(([kind, watches]) => `${watches.length} ${kind}`);
  return [
    `seed ${history.seed}, namespace ${history.namespace}`,
    Object.entries(countHistory(history))
      .map(([label, count]) => `${label} ${count}`)
      .join(', '),
    `writes of unknown outcome ${unknown}, reads not finished ${failedReads}`,
    `watch streams: ${streams.join(', ')}`,
  ].join('\n');
}
