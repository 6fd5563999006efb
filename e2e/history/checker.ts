// Judges a recorded history: which promises of a cluster API about writes, reads, lists and watches
// it breaks. Pure and deterministic. It reports only what no correct server can have done (false
// alarms are bugs).

import { checkGets, checkLists, checkReadsOfDeleted } from './check-reads.ts';
import { checkWatches, describeWatch, revisionOf } from './check-watches.ts';
import { checkWrites } from './check-writes.ts';
import type { Anomaly, History, Instant, Revision, WatchRecord } from './history.ts';
import { placeSightings } from './sightings.ts';
import { Timeline } from './timeline.ts';
import { orderVersions } from './versions.ts';

export interface CheckOptions {
  /** For how long history must stay readable: 410 for anything younger is an anomaly; 0: never. */
  readonly retentionMs?: number;
  /**
   * How long after its commit an event may reach an open watch. Raise it where faults stop servers.
   */
  readonly watchDelayMaxMs?: number;
  /** False for servers whose watches without resourceVersion may start from a stale cache. */
  readonly isUnsetWatchCurrent?: boolean;
}

/**
 * All anomalies of the history, an empty array for a history that a correct server can have made.
 */
export function checkHistory(history: History, options: CheckOptions = {}): Anomaly[] {
  const { retentionMs = 60_000, watchDelayMaxMs = 10_000, isUnsetWatchCurrent = true } = options;
  const timeline = new Timeline();
  const ordered = orderVersions(history);
  const { versions } = ordered;
  const writes = checkWrites(history, ordered, timeline);
  const lists = checkLists(history, versions, timeline);
  const rules = { isUnsetStartCurrent: isUnsetWatchCurrent };
  const watches = checkWatches(history, versions, timeline, rules);
  const sightings = [...writes.sightings, ...checkGets(history, versions)];
  const misplaced = placeSightings(sightings, timeline);
  return [
    ...ordered.anomalies,
    ...writes.anomalies,
    ...misplaced,
    ...timeline.violations().map(({ lower, upper }): Anomaly => {
      const times = `asked at ${lower.at.toFixed(1)} ms, known at ${upper.at.toFixed(1)} ms`;
      return {
        kind: lower.kind,
        message: `${lower.describe()}, but ${upper.describe()} (${times})`,
      };
    }),
    ...checkReadsOfDeleted(history, versions),
    ...lists,
    ...watches,
    ...goneProblems(history, timeline, retentionMs),
    ...lateEvents(history, timeline, watchDelayMaxMs),
    ...stalledWatchers(history),
  ];
}

function goneProblems(history: History, timeline: Timeline, retentionMs: number): Anomaly[] {
  const anomalies: Anomaly[] = [];
  const check = (position: Revision, at: Instant, who: string): void => {
    // The revision was committed at its earliest bound or later, so it is at most this old.
    const ageMaxMs = at - timeline.earliest(position);
    if (ageMaxMs >= retentionMs) return;
    const message = `${who} had 410 for @${position}, at most ${ageMaxMs.toFixed(0)} ms old`;
    anomalies.push({ kind: 'gone', message });
  };
  for (const { ending, pages, client, at } of history.lists) {
    if (ending.kind !== 'gone') continue;
    const position = pages[0]?.revision ?? (at.mode === 'exact' ? at.revision : Infinity);
    check(position, ending.at, `client ${client}: list (${at.mode})`);
  }
  for (const watch of history.watches) {
    if (watch.ending.kind !== 'gone') continue;
    check(positionOf(watch) ?? Infinity, watch.ending.at, describeWatch(watch));
  }
  return anomalies;
}

/**
 * How far a watch came; undefined for one that showed nothing and started nowhere in particular.
 */
function positionOf({ start, events }: WatchRecord): Revision | undefined {
  const first = start.kind === 'after' ? [start.revision] : [];
  const all = [...first, ...events.map(revisionOf)];
  return all.length === 0 ? undefined : Math.max(...all);
}

function lateEvents(history: History, timeline: Timeline, delayMaxMs: number): Anomaly[] {
  return history.watches.flatMap((watch) =>
    watch.events.flatMap((event): Anomaly[] => {
      const revision = revisionOf(event);
      const delayMs = event.at - Math.max(timeline.latest(revision), watch.invokedAt);
      if (event.type === 'BOOKMARK' || delayMs <= delayMaxMs) return [];
      const what = `${event.type} ${event.state.name}@${revision}`;
      const message = `${describeWatch(watch)}: ${what} came ${delayMs.toFixed(0)} ms late`;
      return [{ kind: 'late-event', message }];
    }),
  );
}

function stalledWatchers({ watches, lastRevision }: History): Anomaly[] {
  if (lastRevision === undefined) return [];
  const byWatcher = Map.groupBy(watches, ({ watcher }) => watcher);
  return [...byWatcher].flatMap(([watcher, records]): Anomaly[] => {
    const reached = Math.max(...records.map((record) => positionOf(record) ?? -Infinity));
    if (reached >= lastRevision) return [];
    const last = `the last write, @${lastRevision}`;
    const message = `watcher ${watcher} came to @${reached}, never to ${last}`;
    return [{ kind: 'stalled-watch', message }];
  });
}
