// What writes promise: one place in the order of revisions within their own time, over the version
// they named. Refusals are answers too: a conflict, "exists" or "absent" must have been true at
// some moment of the request.

import type { Anomaly, AnomalyKind, History, WriteRecord } from './history.ts';
import type { Sighting } from './sightings.ts';
import type { Timeline } from './timeline.ts';
import { fieldsText, type OrderedHistory, type Version, type Window } from './versions.ts';

export function checkWrites(
  history: History,
  { versions, writerOf }: OrderedHistory,
  timeline: Timeline,
): { anomalies: Anomaly[]; sightings: Sighting[] } {
  const anomalies: Anomaly[] = [];
  const placed = new Set<WriteRecord>();
  const deletes = Map.groupBy(
    history.writes.filter(({ verb, outcome }) => verb === 'delete' && outcome.kind !== 'refused'),
    ({ name }) => name,
  );
  const writers = new Map<Version, WriteRecord>();
  for (const version of versions.all) {
    const writer = writerOf.get(version) ?? deleterOf(version, deletes.get(version.name) ?? []);
    if (writer === undefined) {
      const message = `${label(version)} was deleted, and no client asked for it`;
      anomalies.push({ kind: 'phantom', message });
      continue;
    }
    placed.add(writer);
    writers.set(version, writer);
    bindWrite(version, writer, timeline);
  }
  // Objects with a write that may have been applied unseen: only what holds all the same is
  // checked.
  const openNames = new Set(
    history.writes
      .filter((write) => write.outcome.kind === 'unknown' && !placed.has(write))
      .map(({ name }) => name),
  );
  for (const [version, writer] of writers) {
    const problem = writtenProblem(version, writer, openNames.has(version.name));
    if (problem !== undefined) anomalies.push(problem);
  }
  anomalies.push(...deletedTwice(history));
  const sightings = history.writes
    .filter(({ name }) => !openNames.has(name))
    .flatMap((write) => refusal(write, versions));
  return { anomalies, sightings };
}

function label({ name, revision }: Version): string {
  return `${name}@${revision}`;
}

/** The delete that made a deletion: the one told so, else the first of those that may have. */
function deleterOf(version: Version, deletes: readonly WriteRecord[]): WriteRecord | undefined {
  const told = deletes.find(
    ({ outcome }) => outcome.kind === 'applied' && outcome.uid === version.uid,
  );
  if (told !== undefined) return told;
  return deletes
    .filter(
      ({ outcome, expected }) =>
        (expected.uid ?? version.uid) === version.uid &&
        (expected.revision ?? version.previous?.revision) === version.previous?.revision &&
        (outcome.kind === 'unknown' || (outcome.kind === 'applied' && outcome.uid === undefined)),
    )
    .sort((a, b) => a.invokedAt - b.invokedAt)[0];
}

function bindWrite(version: Version, writer: WriteRecord, timeline: Timeline): void {
  const { revision } = version;
  const describe = (): string =>
    `client ${writer.client}: ${writer.verb} ${writer.id} made ${label(version)}`;
  timeline.notBefore({ revision, at: writer.invokedAt, kind: 'write-order', describe });
  const isTold =
    writer.outcome.kind === 'applied' && (!version.isDeletion || writer.outcome.uid !== undefined);
  if (isTold) timeline.notAfter({ revision, at: writer.returnedAt, describe });
}

function anomaly(kind: AnomalyKind, version: Version, writer: WriteRecord, why: string): Anomaly {
  return { kind, message: `${writer.verb} ${writer.id} made ${label(version)}, ${why}` };
}

function casProblem(version: Version, writer: WriteRecord): Anomaly | undefined {
  const { previous } = version;
  const { revision, uid } = writer.expected;
  if (revision !== undefined && previous?.revision !== revision) {
    const was = previous === undefined ? 'nothing' : `@${previous.revision}`;
    const why = `naming @${revision} as the version to replace, but it replaced ${was}`;
    return anomaly('lost-update', version, writer, why);
  }
  if (uid !== undefined && uid !== version.uid) {
    return anomaly('lost-update', version, writer, `naming uid ${uid}, but has ${version.uid}`);
  }
  return undefined;
}

function writtenProblem(
  version: Version,
  writer: WriteRecord,
  mayMissVersions: boolean,
): Anomaly | undefined {
  const cas = casProblem(version, writer);
  if (cas !== undefined || mayMissVersions) return cas;
  return version.isDeletion ? deletionProblem(version, writer) : writeProblem(version, writer);
}

function deletionProblem(version: Version, writer: WriteRecord): Anomaly | undefined {
  const { previous } = version;
  if (previous === undefined || previous.isDeletion || previous.uid !== version.uid) {
    return anomaly('contradiction', version, writer, 'a deletion of what was not there');
  }
  if (fieldsText(previous.data) !== fieldsText(version.data)) {
    return anomaly('wrong-event', version, writer, 'but DELETED does not carry the last state');
  }
  return undefined;
}

function writeProblem(version: Version, writer: WriteRecord): Anomaly | undefined {
  const { previous } = version;
  const { outcome } = writer;
  const told = outcome.kind === 'applied' ? outcome.state?.revision : undefined;
  if (told !== undefined && told !== version.revision) {
    return anomaly('contradiction', version, writer, `but its answer said @${told}`);
  }
  if (writer.verb === 'create') {
    if (previous !== undefined && !previous.isDeletion && previous.uid === version.uid) {
      return anomaly('lost-update', version, writer, 'over an object that existed');
    }
  } else if (previous === undefined || previous.isDeletion || previous.uid !== version.uid) {
    return anomaly('lost-update', version, writer, 'of an object that was deleted or never there');
  }
  const right = writer.verb === 'patch' ? { ...previous?.data, ...writer.sent } : writer.sent;
  if (fieldsText(right) === fieldsText(version.data)) return undefined;
  const why = `with ${fieldsText(version.data)} where ${fieldsText(right)} was due`;
  return anomaly(writer.verb === 'patch' ? 'lost-update' : 'contradiction', version, writer, why);
}

function deletedTwice({ writes }: History): Anomaly[] {
  const first = new Map<string, WriteRecord>();
  return writes.flatMap((write): Anomaly[] => {
    const { verb, outcome, id } = write;
    if (verb !== 'delete' || outcome.kind !== 'applied' || outcome.uid === undefined) return [];
    const other = first.get(outcome.uid);
    first.set(outcome.uid, other ?? write);
    if (other === undefined) return [];
    const message = `deletes ${other.id} and ${id} both succeeded on uid ${outcome.uid}`;
    return [{ kind: 'applied-twice', message }];
  });
}

/** A refusal as a sighting of the state that explains it. */
function refusal(write: WriteRecord, versions: OrderedHistory['versions']): Sighting[] {
  const { outcome, name, verb, id, client, expected, invokedAt, returnedAt } = write;
  if (outcome.kind !== 'refused' || outcome.why === 'other') return [];
  const isUnconditional = expected.revision === undefined && expected.uid === undefined;
  if (outcome.why === 'conflict' && isUnconditional) return [];
  const windowsOf = { conflict: mismatches, exists: presences, absent: absences };
  const windows = windowsOf[outcome.why](write, versions);
  const describe = (): string =>
    `client ${client}: ${verb} ${id} of ${name} was refused (${outcome.why})`;
  const kind = 'unfounded-refusal';
  return [{ kind, invokedAt, returnedAt, windows, isCurrent: true, describe }];
}

function presences({ name }: WriteRecord, versions: OrderedHistory['versions']): Window[] {
  return joined(versions.presentWindows(name));
}

function absences({ name }: WriteRecord, versions: OrderedHistory['versions']): Window[] {
  return versions.absentWindows(name);
}

function mismatches(
  { name, expected }: WriteRecord,
  versions: OrderedHistory['versions'],
): Window[] {
  const others = versions
    .presentWindows(name)
    .filter(
      ({ version }) =>
        (expected.revision ?? version.revision) !== version.revision ||
        (expected.uid ?? version.uid) !== version.uid,
    );
  return joined([...others, ...versions.absentWindows(name)]);
}

/** Windows that touch or overlap become one: fewer ways to explain one answer. */
function joined(windows: readonly Window[]): Window[] {
  const result: Window[] = [];
  for (const window of windows.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && window.from <= last.until) {
      result[result.length - 1] = { from: last.from, until: Math.max(last.until, window.until) };
    } else {
      result.push({ from: window.from, until: window.until });
    }
  }
  return result;
}
