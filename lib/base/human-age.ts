// Ages and lengths of time as people read them in lists: two units at most, fewer the longer ago.

const second = 1;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** `elapsedMs` may be slightly negative: clocks differ. */
export function humanAge(elapsedMs: number): string {
  const seconds = Math.trunc(elapsedMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 2 * minute) return `${String(Math.max(seconds, 0))}s`;
  if (seconds < 10 * minute) return two(seconds, [minute, 'm'], [second, 's']);
  if (seconds < 3 * hour) return one(seconds, minute, 'm');
  if (seconds < 8 * hour) return two(seconds, [hour, 'h'], [minute, 'm']);
  if (seconds < 2 * day) return one(seconds, hour, 'h');
  if (seconds < 8 * day) return two(seconds, [day, 'd'], [hour, 'h']);
  if (seconds < 2 * year) return one(seconds, day, 'd');
  if (seconds < 8 * year) return two(seconds, [year, 'y'], [day, 'd']);
  return one(seconds, year, 'y');
}

/** An elapsed time before which `humanAge` reads as it does now; `elapsedMs` is before it. */
export function humanAgeUntilMs(elapsedMs: number): number {
  if (elapsedMs < 0) return elapsedMs + 1;
  const unitMs = smallestUnit(elapsedMs / 1000) * 1000;
  return (Math.floor(elapsedMs / unitMs) + 1) * unitMs;
}

/** It may be smaller than what is shown. */
function smallestUnit(seconds: number): number {
  if (seconds < 10 * minute) return second;
  if (seconds < 8 * hour) return minute;
  return seconds < 8 * day ? hour : day;
}

const one = (seconds: number, unit: number, sign: string): string =>
  `${String(Math.floor(seconds / unit))}${sign}`;

type Unit = readonly [seconds: number, sign: string];

/** The smaller unit is left out when there is none of it. */
function two(seconds: number, [large, largeSign]: Unit, [small, smallSign]: Unit): string {
  const rest = Math.floor((seconds % large) / small);
  return one(seconds, large, largeSign) + (rest === 0 ? '' : `${String(rest)}${smallSign}`);
}
