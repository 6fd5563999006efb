// Times of Protobuf, which are seconds and nanoseconds since 1970, as JSON shows them.
import type { JsonValue } from '../api/type-info.ts';
import { badRequest } from '../base/status.ts';

export const numberOf = (value: JsonValue | undefined): number =>
  typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0;

const secondsMin = -62_135_596_800; // 0001-01-01
const secondsEnd = 253_402_300_800; // 10000-01-01

/** @throws StatusError 400 outside the years 1 to 9999. */
export function timeText(given: JsonValue | undefined, fraction: string): string {
  const seconds = numberOf(given);
  if (seconds < secondsMin || seconds >= secondsEnd) {
    throw badRequest('the Protobuf body cannot be read: a time lies outside the years 1 to 9999');
  }
  return `${secondsText(seconds)}${fraction}Z`;
}

/** The times of one object are few, and those of many are close together. */
const keptCount = 256;
const keptSeconds = new Float64Array(keptCount).fill(NaN);
const keptTexts: string[] = Array.from({ length: keptCount }, () => '');

function secondsText(seconds: number): string {
  const at = Math.abs(seconds) % keptCount;
  if (keptSeconds[at] !== seconds) {
    keptSeconds[at] = seconds;
    keptTexts[at] = new Date(seconds * 1000).toISOString().slice(0, 19);
  }
  return keptTexts[at] ?? '';
}

/** Microseconds of a second; a client's nanoseconds may lie outside it. */
export const microsOf = (nanos: JsonValue | undefined): number =>
  Math.min(999_999, Math.max(0, Math.floor(numberOf(nanos) / 1000)));
