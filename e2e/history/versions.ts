// The order of all versions of all objects, put together from every answer of a history, and what
// contradicts it. Revisions give the order; this file decides which versions are real: each must
// come from one write of the run.

import type {
  Anomaly,
  Fields,
  History,
  ObjectState,
  Revision,
  WriteOutcome,
  WriteRecord,
} from './history.ts';
import { WRITE_FIELD } from './history.ts';

/**
 * One version of an object, or its deletion. It is current from `revision` on: surely below
 * `surelyUntil`, possibly below `possiblyUntil`. The two differ only where a deletion is known to
 * have happened and nobody saw its revision.
 */
export interface Version {
  readonly name: string;
  readonly revision: Revision;
  readonly uid: string;
  readonly data: Fields;
  readonly isDeletion: boolean;
  readonly previous: Version | undefined;
  surelyUntil: Revision;
  possiblyUntil: Revision;
}

/** From `from` on, below `until`. */
export interface Window {
  readonly from: Revision;
  readonly until: Revision;
}

export class Versions {
  /** By revision. */
  readonly all: readonly Version[];
  readonly #byName: ReadonlyMap<string, readonly Version[]>;

  constructor(byName: ReadonlyMap<string, readonly Version[]>) {
    this.#byName = byName;
    this.all = [...byName.values()].flat().sort((a, b) => a.revision - b.revision);
  }

  get names(): IterableIterator<string> {
    return this.#byName.keys();
  }

  of(name: string): readonly Version[] {
    return this.#byName.get(name) ?? [];
  }

  find(name: string, revision: Revision): Version | undefined {
    const found = this.asOf(name, revision);
    return found?.revision === revision ? found : undefined;
  }

  /** The version, or deletion, in force at the revision. */
  asOf(name: string, revision: Revision): Version | undefined {
    const versions = this.of(name);
    return versions[indexAfter(versions, revision) - 1];
  }

  /** Index in `all` of the first version above the revision. */
  indexAfter(revision: Revision): number {
    return indexAfter(this.all, revision);
  }

  /** Where the object is, or may be, absent. */
  absentWindows(name: string): Window[] {
    const versions = this.of(name);
    const windows: Window[] = [{ from: -Infinity, until: versions[0]?.revision ?? Infinity }];
    for (const [index, version] of versions.entries()) {
      const until = versions[index + 1]?.revision ?? Infinity;
      const from = version.isDeletion ? version.revision : version.surelyUntil;
      if (from < until) windows.push({ from, until });
    }
    return windows;
  }

  presentWindows(name: string): (Window & { readonly version: Version })[] {
    return this.of(name)
      .filter((version) => !version.isDeletion)
      .map((version) => ({ from: version.revision, until: version.possiblyUntil, version }));
  }

  /** How the items differ from the state at the revision; empty when they are that state. */
  differences(items: readonly ObjectState[], revision: Revision, upToName?: string): string[] {
    const shown = new Map(items.map((item) => [item.name, item.revision]));
    const problems: string[] = [];
    if (shown.size !== items.length) problems.push('an object appears twice');
    for (const name of this.names) {
      if (upToName !== undefined && name > upToName) continue;
      const version = this.asOf(name, revision);
      const isPresent = version !== undefined && !version.isDeletion;
      const has = shown.get(name);
      if (has === undefined) {
        if (isPresent && revision < version.surelyUntil) {
          problems.push(`${name}@${version.revision} is not there`);
        }
      } else if (!isPresent || has !== version.revision || revision >= version.possiblyUntil) {
        const right = isPresent ? `@${version.revision}` : 'absent';
        problems.push(`${name}@${has} should be ${right}`);
      }
    }
    return problems;
  }
}

function indexAfter(versions: readonly Version[], revision: Revision): number {
  let low = 0;
  let high = versions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((versions[middle]?.revision ?? Infinity) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Observation {
  readonly state: ObjectState;
  readonly isDeletion: boolean;
  readonly where: string;
}

function* observations(history: History): Generator<Observation> {
  for (const write of history.writes) {
    if (write.outcome.kind === 'applied' && write.outcome.state && write.verb !== 'delete') {
      yield { state: write.outcome.state, isDeletion: false, where: `write ${write.id}` };
    }
  }
  for (const get of history.gets) {
    if (get.outcome.kind !== 'found') continue;
    yield {
      state: get.outcome.state,
      isDeletion: false,
      where: `get by client ${get.client}`,
    };
  }
  for (const { client, pages } of history.lists) {
    for (const state of pages.flatMap((page) => page.items)) {
      yield { state, isDeletion: false, where: `list by client ${client}` };
    }
  }
  for (const { watcher, events } of history.watches) {
    for (const event of events) {
      if (event.type === 'BOOKMARK') continue;
      const isDeletion = event.type === 'DELETED';
      yield { state: event.state, isDeletion, where: `watcher ${watcher}` };
    }
  }
}

export interface OrderedHistory {
  readonly versions: Versions;
  readonly anomalies: readonly Anomaly[];
  /** The write that made a version; deletions are matched in check-writes.ts. */
  readonly writerOf: ReadonlyMap<Version, WriteRecord>;
}

export function orderVersions(history: History): OrderedHistory {
  const writes = new Map(history.writes.map((write) => [write.id, write]));
  const anomalies: Anomaly[] = [];
  const accepted = new Map<string, Map<Revision, Observation>>();
  const revisionOfWrite = new Map<string, Revision>();
  const reported = new Set<string>();
  const report = (anomaly: Anomaly, about: string): void => {
    if (!reported.has(about)) anomalies.push(anomaly);
    reported.add(about);
  };
  for (const seen of observations(history)) {
    const { state } = seen;
    const ofName = accepted.get(state.name) ?? new Map<Revision, Observation>();
    accepted.set(state.name, ofName);
    const known = ofName.get(state.revision);
    const label = `${state.name}@${state.revision}`;
    if (known !== undefined) {
      if (isSame(known, seen)) continue;
      const message = `${label}: ${known.where} and ${seen.where} saw different contents`;
      report({ kind: 'contradiction', message }, `${label} ${seen.where}`);
      continue;
    }
    const problem = seen.isDeletion ? undefined : provenance(seen, writes, revisionOfWrite);
    if (problem === undefined) ofName.set(state.revision, seen);
    else report(problem, label);
  }
  return link(accepted, history, writes, anomalies);
}

function isSame(a: Observation, b: Observation): boolean {
  return (
    a.isDeletion === b.isDeletion &&
    a.state.uid === b.state.uid &&
    fieldsText(a.state.data) === fieldsText(b.state.data)
  );
}

export function fieldsText(fields: Fields): string {
  return JSON.stringify(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Why the version cannot be real, or undefined. Remembers which revision each write made. */
function provenance(
  { state, where }: Observation,
  writes: ReadonlyMap<string, WriteRecord>,
  revisionOfWrite: Map<string, Revision>,
): Anomaly | undefined {
  const id = state.data[WRITE_FIELD] ?? '';
  const write = writes.get(id);
  const label = `${where} saw ${state.name}@${state.revision} by write "${id}"`;
  if (write?.name !== state.name || write.verb === 'delete') {
    return { kind: 'phantom', message: `${label}, which no client sent` };
  }
  if (write.outcome.kind === 'refused') {
    const message = `${label}, which was answered as refused (${write.outcome.why})`;
    return { kind: 'refused-but-applied', message };
  }
  const known = revisionOfWrite.get(id);
  if (known !== undefined && known !== state.revision) {
    return { kind: 'applied-twice', message: `${label}, which made @${known} too` };
  }
  revisionOfWrite.set(id, state.revision);
  return undefined;
}

function link(
  accepted: ReadonlyMap<string, ReadonlyMap<Revision, Observation>>,
  history: History,
  writes: ReadonlyMap<string, WriteRecord>,
  anomalies: Anomaly[],
): OrderedHistory {
  const writerOf = new Map<Version, WriteRecord>();
  const byName = new Map<string, Version[]>();
  for (const [name, seen] of accepted) {
    const versions: Version[] = [];
    for (const { state, isDeletion } of [...seen.values()].sort(byRevision)) {
      const previous = versions.at(-1);
      const ends = { surelyUntil: Infinity, possiblyUntil: Infinity };
      const version: Version = { ...state, isDeletion, previous, ...ends };
      versions.push(version);
      const writer = isDeletion ? undefined : writes.get(state.data[WRITE_FIELD] ?? '');
      if (writer !== undefined) writerOf.set(version, writer);
    }
    closeEnds(versions, history);
    byName.set(name, versions);
  }
  const versions = new Versions(byName);
  for (const [index, version] of versions.all.entries()) {
    const before = versions.all[index - 1];
    if (before?.revision !== version.revision) continue;
    const message = `${before.name} and ${version.name} share revision ${version.revision}`;
    anomalies.push({ kind: 'contradiction', message });
  }
  return { versions, anomalies, writerOf };
}

function byRevision(a: Observation, b: Observation): number {
  return a.state.revision - b.state.revision;
}

/** Says of each version how long it was current, from what followed it. */
function closeEnds(versions: readonly Version[], history: History): void {
  for (const [index, version] of versions.entries()) {
    const next = versions[index + 1];
    const isReplacedUnseen =
      next !== undefined && !version.isDeletion && !next.isDeletion && next.uid !== version.uid;
    if (next !== undefined) {
      version.possiblyUntil = next.revision;
      version.surelyUntil = isReplacedUnseen ? version.revision + 1 : next.revision;
    } else if (!version.isDeletion) {
      const end = unseenEnd(version, history);
      if (end === undefined) continue;
      version.surelyUntil = version.revision + 1;
      version.possiblyUntil = end;
    }
  }
}

/** Below which revision the last known version was deleted; undefined if no delete can have. */
function unseenEnd(version: Version, history: History): Revision | undefined {
  const deletes = history.writes.filter(
    ({ verb, name, outcome, expected }) =>
      verb === 'delete' &&
      name === version.name &&
      outcome.kind !== 'refused' &&
      (deletedUid(outcome) ?? expected.uid ?? version.uid) === version.uid,
  );
  const ends = deletes.map(({ outcome, returnedAt }) =>
    deletedUid(outcome) === version.uid ? firstRevisionAfter(history, returnedAt) : Infinity,
  );
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function deletedUid(outcome: WriteOutcome): string | undefined {
  return outcome.kind === 'applied' ? outcome.uid : undefined;
}

/** A revision that is surely higher than everything committed by the instant. */
function firstRevisionAfter(history: History, at: number): Revision {
  let lowest = Infinity;
  for (const { invokedAt, outcome } of history.writes) {
    if (invokedAt < at || outcome.kind !== 'applied' || outcome.state === undefined) continue;
    lowest = Math.min(lowest, outcome.state.revision);
  }
  for (const { at: mode, pages } of history.lists) {
    const [page] = pages;
    if (mode.mode !== 'latest' || page === undefined || page.invokedAt < at) continue;
    lowest = Math.min(lowest, page.revision + 1);
  }
  return lowest;
}
