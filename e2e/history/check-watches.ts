// What a watch promises: from its start on every version, once, in order, of the right type, with
// bookmarks that keep their word; and initial events that are one state of history.

import type {
  Anomaly,
  AnomalyKind,
  History,
  ObjectState,
  Revision,
  WatchEvent,
  WatchRecord,
} from './history.ts';
import type { Timeline } from './timeline.ts';
import type { Version, Versions } from './versions.ts';

export interface WatchRules {
  /** False for servers where a watch without resourceVersion may start in the past. */
  readonly isUnsetStartCurrent: boolean;
}

export function checkWatches(
  history: History,
  versions: Versions,
  timeline: Timeline,
  rules: WatchRules,
): Anomaly[] {
  const anomalies: Anomaly[] = [];
  for (const watch of history.watches) {
    const who = describeWatch(watch);
    for (const event of watch.events) {
      const revision = revisionOf(event);
      timeline.notAfter({
        revision,
        at: event.at,
        describe: () => `${who} had ${event.type} @${revision}`,
      });
    }
    const problems = problemsOf(watch, versions, timeline, rules);
    anomalies.push(...problems.map(({ kind, why }) => ({ kind, message: `${who}: ${why}` })));
  }
  return anomalies;
}

export function revisionOf(event: WatchEvent): Revision {
  return event.type === 'BOOKMARK' ? event.revision : event.state.revision;
}

export function describeWatch({ watcher, server, start, invokedAt }: WatchRecord): string {
  const from =
    start.kind === 'after' ? `after @${start.revision}` : `${start.kind} ${start.at.mode}`;
  const when = `${invokedAt.toFixed(0)} ms`;
  return `watcher ${watcher} (${from}, server ${server}, from ${when})`;
}

interface Problem {
  readonly kind: AnomalyKind;
  readonly why: string;
}

function problemsOf(
  watch: WatchRecord,
  versions: Versions,
  timeline: Timeline,
  rules: WatchRules,
): Problem[] {
  const { start, events } = watch;
  if (start.kind === 'after') return followProblems(events, start.revision, versions);
  const initial = findInitialState(watch, versions);
  if (initial === undefined) {
    return [{ kind: 'torn-initial-events', why: 'the first events are no state of history' }];
  }
  if (initial === 'partial') return [];
  bindStart(watch, initial, versions, timeline, rules);
  const problems = [...initial.problems];
  const { at } = start;
  if (at.mode === 'notOlderThan' && (initial.bookmark ?? Infinity) < at.revision) {
    problems.push({ kind: 'stale-read', why: 'its initial state is older than asked for' });
  }
  return problems;
}

function bindStart(
  watch: WatchRecord,
  initial: InitialState,
  versions: Versions,
  timeline: Timeline,
  rules: WatchRules,
): void {
  const { start, invokedAt } = watch;
  if (start.kind === 'after' || start.at.mode !== 'latest' || !rules.isUnsetStartCurrent) return;
  const { revision: next } = versions.all[versions.indexAfter(initial.revision)] ?? {};
  const revision = initial.bookmark === undefined ? next : initial.bookmark + 1;
  if (revision === undefined) return;
  const describe = (): string => `${describeWatch(watch)} started before @${revision}`;
  timeline.notBefore({ revision, at: invokedAt, kind: 'stale-read', describe });
}

interface InitialState {
  /** The state that the initial events show; all later versions must follow in the stream. */
  readonly revision: Revision;
  /** The revision of the bookmark that ends initial events, where there is one. */
  readonly bookmark: Revision | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Which events at the start are initial ones is not marked in the stream (the bookmark that ends
 * them may come after first changes). So every split is tried, longest first: ADDED events that are
 * exactly one state, then changes that follow it. The split with the fewest problems is taken.
 */
function findInitialState(
  watch: WatchRecord,
  versions: Versions,
): InitialState | 'partial' | undefined {
  const { events } = watch;
  const end = events.find((event) => event.type === 'BOOKMARK' && event.endsInitialEvents);
  const bookmark = end === undefined ? undefined : revisionOf(end);
  const added = leadingAdded(events);
  // Nothing but ADDED: the stream may have ended in the middle of its initial events.
  if (added.length === events.length) return canCoexist(added, versions) ? 'partial' : undefined;
  let best: InitialState | undefined;
  for (let count = added.length; count >= 0; count -= 1) {
    const items = added.slice(0, count);
    const rest = events.slice(count);
    const below = rest[0] === undefined ? Infinity : revisionOf(rest[0]) + bookmarkSlack(rest[0]);
    const revision = latestMatch(items, below, versions);
    if (revision === undefined) continue;
    const problems = followProblems(rest, revision, versions);
    // That ADDED events are all changes explains nothing when changes are missing then.
    if (count === 0 && added.length > 0 && problems.length > 0) break;
    if (problems.length < (best?.problems.length ?? Infinity)) {
      best = { revision, bookmark, problems };
    }
    if (problems.length === 0) break;
  }
  return best;
}

/** A bookmark right after the initial events may be of their very revision; a change may not. */
function bookmarkSlack({ type }: WatchEvent): 0 | 1 {
  return type === 'BOOKMARK' ? 1 : 0;
}

function leadingAdded(events: readonly WatchEvent[]): ObjectState[] {
  const names = new Set<string>();
  const added: ObjectState[] = [];
  for (const event of events) {
    if (event.type !== 'ADDED' || names.has(event.state.name)) break;
    names.add(event.state.name);
    added.push(event.state);
  }
  return added;
}

function canCoexist(items: readonly ObjectState[], versions: Versions): boolean {
  const until = items.map(
    ({ name, revision }) => versions.find(name, revision)?.possiblyUntil ?? -Infinity,
  );
  const lowest = items.map(({ revision }) => revision);
  return Math.max(-Infinity, ...lowest) < Math.min(Infinity, ...until);
}

/** The latest revision below the limit whose state is exactly the items. */
function latestMatch(
  items: readonly ObjectState[],
  below: Revision,
  versions: Versions,
): Revision | undefined {
  const floor = items.reduce((highest, { revision }) => Math.max(highest, revision), 0);
  const ceiling = items.reduce(
    (lowest, { name, revision }) =>
      Math.min(lowest, versions.find(name, revision)?.possiblyUntil ?? -Infinity),
    below,
  );
  let until = Math.min(ceiling, Number.MAX_SAFE_INTEGER);
  for (let index = versions.indexAfter(ceiling - 1) - 1; index >= -1; index -= 1) {
    const from = Math.max(versions.all[index]?.revision ?? floor, floor);
    if (from >= ceiling) return undefined;
    // Between two versions only deletions can have happened that nobody saw: at the end all have.
    if (versions.differences(items, until - 1).length === 0) return until - 1;
    if (from === floor) return undefined;
    until = from;
  }
  return undefined;
}

/** The events must be the versions above the start, one by one. */
function followProblems(
  events: readonly WatchEvent[],
  start: Revision,
  versions: Versions,
): Problem[] {
  const problems: Problem[] = [];
  const skipped = new Map<Version, Revision>();
  const delivered = new Set<Version>();
  let position = start;
  let index = versions.indexAfter(start);
  const moveTo = (revision: Revision): void => {
    for (; (versions.all[index]?.revision ?? Infinity) <= revision; index += 1) {
      const version = versions.all[index];
      if (version !== undefined) skipped.set(version, revision);
    }
    position = Math.max(position, revision);
  };
  for (const event of events) {
    const revision = revisionOf(event);
    if (event.type === 'BOOKMARK') {
      if (revision < position) {
        const why = `bookmark @${revision} after @${position}`;
        problems.push({ kind: 'reordered-event', why });
      }
      moveTo(revision);
      continue;
    }
    const version = versions.find(event.state.name, revision);
    if (version === undefined) continue; // no version of history; said so already
    const what = `${event.type} ${version.name}@${revision}`;
    if (delivered.has(version)) {
      problems.push({ kind: 'duplicate-event', why: `${what} came twice` });
    } else if (skipped.delete(version)) {
      const why = `${what} came after @${position}`;
      problems.push({ kind: 'reordered-event', why });
    } else if (revision <= start) {
      const why = `${what} came on a watch that began at @${start}`;
      problems.push({ kind: 'duplicate-event', why });
    } else {
      moveTo(revision);
      skipped.delete(version);
    }
    delivered.add(version);
    const right = typeOf(version);
    if (event.type !== right) problems.push({ kind: 'wrong-event', why: `${what} is ${right}` });
  }
  for (const [{ name, revision, isDeletion }, after] of skipped) {
    const what = `${isDeletion ? 'deletion of ' : ''}${name}@${revision}`;
    problems.push({ kind: 'missing-event', why: `${what} was left out before @${after}` });
  }
  return [...problems, ...unseenDeletions(start, position, versions)];
}

function typeOf({ isDeletion, previous, uid }: Version): WatchEvent['type'] {
  if (isDeletion) return 'DELETED';
  return previous === undefined || previous.isDeletion || previous.uid !== uid
    ? 'ADDED'
    : 'MODIFIED';
}

/**
 * Deletions that must have happened between two revisions of a stream, and that nobody was told of.
 */
function unseenDeletions(start: Revision, end: Revision, versions: Versions): Problem[] {
  const problems: Problem[] = [];
  for (let index = versions.indexAfter(start - 1); index < versions.all.length; index += 1) {
    const version = versions.all[index];
    if (version === undefined || version.revision > end) break;
    if (version.surelyUntil === version.possiblyUntil || version.possiblyUntil > end + 1) continue;
    const why = `the deletion of ${version.name}@${version.revision} never came`;
    problems.push({ kind: 'missing-event', why });
  }
  return problems;
}
