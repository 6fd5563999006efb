// Answers that show the state of one object at some moment between question and answer, as bounds
// on the timeline. An answer that fits several spans of history ("absent") is narrowed down until
// one span is left.

import type { Anomaly, AnomalyKind, Instant, Revision } from './history.ts';
import type { Timeline } from './timeline.ts';
import type { Window } from './versions.ts';

export interface Sighting {
  readonly kind: AnomalyKind;
  readonly invokedAt: Instant;
  readonly returnedAt: Instant;
  /** Spans of revisions that would explain the answer; one of them must hold. */
  readonly windows: readonly Window[];
  /** False for reads that may show the past: then nothing says how late the window was left. */
  readonly isCurrent: boolean;
  readonly describe: () => string;
}

/**
 * Sound always: it reports only what no schedule explains. Complete but for answers that keep
 * several possible windows after all other answers were taken into account; those stay open.
 */
export function placeSightings(sightings: readonly Sighting[], timeline: Timeline): Anomaly[] {
  const anomalies: Anomaly[] = [];
  let open = sightings.filter((sighting) => {
    const [window, ...others] = sighting.windows;
    if (others.length > 0) return true;
    if (window === undefined) anomalies.push(unexplained(sighting));
    else bind(sighting, window, timeline);
    return false;
  });
  for (let isMoving = true; isMoving;) {
    const settled: [Sighting, Window][] = [];
    open = open.filter((sighting) => {
      const possible = sighting.windows.filter((window) => isPossible(sighting, window, timeline));
      const [window, ...others] = possible;
      if (others.length > 0) return true;
      if (window === undefined) anomalies.push(unexplained(sighting));
      else settled.push([sighting, window]);
      return false;
    });
    for (const [sighting, window] of settled) bind(sighting, window, timeline);
    isMoving = settled.length > 0;
  }
  return anomalies;
}

function isPossible(sighting: Sighting, window: Window, timeline: Timeline): boolean {
  if (timeline.earliest(window.from) > sighting.returnedAt) return false;
  return !sighting.isCurrent || timeline.latest(window.until) >= sighting.invokedAt;
}

function bind(sighting: Sighting, { from, until }: Window, timeline: Timeline): void {
  const { kind, describe, invokedAt, returnedAt, isCurrent } = sighting;
  if (isRevision(from)) timeline.notAfter({ revision: from, at: returnedAt, describe });
  if (!isCurrent || !isRevision(until)) return;
  timeline.notBefore({ revision: until, at: invokedAt, kind, describe });
}

function isRevision(revision: Revision): boolean {
  return Number.isFinite(revision);
}

function unexplained({ kind, describe, invokedAt, returnedAt }: Sighting): Anomaly {
  const span = `${invokedAt.toFixed(1)}-${returnedAt.toFixed(1)} ms`;
  return { kind, message: `${describe()} (${span}): no state of history explains it` };
}
