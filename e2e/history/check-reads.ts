// What gets and lists promise: an object state current in their time or as new as asked, and for
// lists one state of history at their resourceVersion over all pages.

import type {
  Anomaly,
  AnomalyKind,
  GetRecord,
  History,
  ListPage,
  ListRecord,
  ObjectState,
} from './history.ts';
import type { Sighting } from './sightings.ts';
import type { Timeline } from './timeline.ts';
import type { Versions, Window } from './versions.ts';

export function checkGets(history: History, versions: Versions): Sighting[] {
  return history.gets.flatMap((get) => getSighting(get, versions));
}

function getSighting(get: GetRecord, versions: Versions): Sighting[] {
  const { outcome, name, at, client, server, invokedAt, returnedAt } = get;
  if (outcome.kind === 'failed') return [];
  const shown = outcome.kind === 'found' ? `@${outcome.state.revision}` : 'absent';
  const describe = (): string =>
    `client ${client}: get ${name} (${at.mode}) from server ${server} said ${shown}`;
  const all =
    outcome.kind === 'found' ? seenAs(outcome.state, versions) : versions.absentWindows(name);
  if (all === undefined) return []; // no version of history; said so already
  const oldest = at.mode === 'notOlderThan' ? at.revision : -Infinity;
  const windows = all.filter(({ until }) => until > oldest);
  const isCurrent = at.mode === 'latest';
  return [{ kind: 'stale-read', invokedAt, returnedAt, windows, isCurrent, describe }];
}

function seenAs({ name, revision }: ObjectState, versions: Versions): Window[] | undefined {
  const version = versions.find(name, revision);
  if (version === undefined || version.isDeletion) return undefined;
  return [{ from: revision, until: version.possiblyUntil }];
}

/** Reads of an object whose delete had been answered before, where nobody saw the deletion. */
export function checkReadsOfDeleted(history: History, versions: Versions): Anomaly[] {
  const deletedAt = new Map<string, number>();
  for (const { verb, outcome, returnedAt } of history.writes) {
    if (verb !== 'delete' || outcome.kind !== 'applied' || outcome.uid === undefined) continue;
    deletedAt.set(outcome.uid, returnedAt);
  }
  return history.gets.flatMap(({ outcome, at, invokedAt, client, name }): Anomaly[] => {
    if (outcome.kind !== 'found' || at.mode !== 'latest') return [];
    const { uid, revision } = outcome.state;
    const version = versions.find(name, revision);
    if (version === undefined || version.surelyUntil === version.possiblyUntil) return [];
    if (invokedAt < (deletedAt.get(uid) ?? Infinity)) return [];
    const message = `client ${client}: get ${name} showed uid ${uid}, deleted before`;
    return [{ kind: 'stale-read', message }];
  });
}

export function checkLists(history: History, versions: Versions, timeline: Timeline): Anomaly[] {
  return history.lists.flatMap((list) => listProblems(list, versions, timeline));
}

function listProblems(list: ListRecord, versions: Versions, timeline: Timeline): Anomaly[] {
  const { at, pages, ending, client } = list;
  const [first] = pages;
  if (first === undefined) return [];
  const { revision } = first;
  const size = pages.length > 1 ? `, ${pages.length} pages` : '';
  const what = `client ${client}: list (${at.mode}${size}) from server ${first.server}`;
  const describe = (): string => `${what} is of revision ${revision}`;
  const problem = (kind: AnomalyKind, why: string): Anomaly => ({
    kind,
    message: `${describe()}, ${why}`,
  });
  bindList(list, first, timeline, describe);
  const anomalies: Anomaly[] = [];
  if (at.mode === 'exact' && revision !== at.revision) {
    anomalies.push(problem('list-revision', `not ${at.revision} exactly`));
  }
  if (at.mode === 'notOlderThan' && revision < at.revision) {
    anomalies.push(problem('list-revision', `older than ${at.revision}`));
  }
  const other = pages.find((page) => page.revision !== revision);
  if (other !== undefined) {
    anomalies.push(problem('torn-list', `but a later page is of ${other.revision}`));
  }
  const items = pages.flatMap((page) => page.items);
  const isWhole = ending.kind === 'complete';
  const differences = versions.differences(items, revision, isWhole ? undefined : lastName(items));
  if (differences.length > 0) {
    const some = differences.slice(0, 3).join('; ');
    anomalies.push(problem('torn-list', `but ${some} (${differences.length} in all)`));
  }
  return anomalies;
}

/** A list through continue tokens that broke off is checked up to the last name it showed. */
function lastName(items: readonly ObjectState[]): string {
  return items.reduce((last, { name }) => (name > last ? name : last), '');
}

function bindList(
  { at }: ListRecord,
  { revision, invokedAt, returnedAt }: ListPage,
  timeline: Timeline,
  describe: () => string,
): void {
  timeline.notAfter({ revision, at: returnedAt, describe });
  if (at.mode !== 'latest') return;
  // Nothing above its revision may have been known to anybody when a consistent list was asked for.
  timeline.notBefore({ revision: revision + 1, at: invokedAt, kind: 'stale-read', describe });
}
