// Texts of declared formats (date, date-time, duration, byte) as values, by the rules that
// validation of schemas uses.
import { parseDuration, parseTimestamp } from './time.ts';
import { Duration, intMax } from './value.ts';
import type { Timestamp } from './value.ts';

export const isDate = (text: string): boolean => dateValue(text) !== undefined;
export const isDateTime = (text: string): boolean => dateTimeValue(text) !== undefined;

/** A full date, `2006-01-02`, as midnight UTC. */
export function dateValue(text: string): Timestamp | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
}

/** RFC 3339 and its usual relaxations: lower-case letters, no colon in the offset, no zone. */
export function dateTimeValue(text: string): Timestamp | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})?$/.exec(
    text,
  );
  if (match === null) return undefined;
  const zone = match[4] === undefined ? 'Z' : match[4].toUpperCase();
  const offset = /^[+-]\d{4}$/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  return parseTimestamp(`${match[1] ?? ''}T${match[2] ?? ''}${match[3] ?? ''}${offset}`);
}

const unitSeconds: Readonly<Record<string, number>> = {
  d: 86_400,
  day: 86_400,
  w: 604_800,
  wk: 604_800,
  week: 604_800,
};

/** Go's durations, and longer units in words: `2 weeks`, `3d`. */
export function durationValue(text: string): Duration | undefined {
  const plain = parseDuration(text);
  if (plain !== undefined) return plain;
  const match = /^\s*(\d+)\s*(d|day|w|wk|week)s?\s*$/.exec(text);
  if (match === null) return undefined;
  const nanos =
    BigInt(match[1] ?? '0') * BigInt(unitSeconds[match[2] ?? 'd'] ?? 0) * 1_000_000_000n;
  return nanos > intMax ? undefined : new Duration(nanos);
}

/** The bytes of a base64 text. */
export function bytesValue(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  return Buffer.from(text, 'base64');
}
