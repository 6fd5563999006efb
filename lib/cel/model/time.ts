// Timestamps and durations to the nanosecond: parsing and printing (RFC 3339, Go's durations),
// range checks, calendar fields.
import { limits } from '../../base/limits.ts';
import { TextMemo } from '../../base/text-memo.ts';
import { CelError, Duration, Timestamp, intMax, intMin } from './value.ts';
import type { Value } from './value.ts';

const secondsMin = -62135596800; // 0001-01-01T00:00:00Z
const secondsMax = 253402300799; // 9999-12-31T23:59:59Z
const nanosPerSecond = 1_000_000_000n;

const timestampOverflow = new CelError('timestamp overflow');

/** Whether a number of seconds since the epoch lies in the years 1 to 9999. */
export function isTimestampSeconds(seconds: number): boolean {
  return seconds >= secondsMin && seconds <= secondsMax;
}

export function addToTimestamp(time: Timestamp, nanos: bigint): Value {
  const total = BigInt(time.seconds) * nanosPerSecond + BigInt(time.nanos) + nanos;
  let seconds = total / nanosPerSecond;
  let rest = total % nanosPerSecond;
  if (rest < 0n) {
    rest += nanosPerSecond;
    seconds -= 1n;
  }
  const whole = Number(seconds);
  return isTimestampSeconds(whole)
    ? new Timestamp(whole, Number(rest), time.offsetSeconds)
    : timestampOverflow;
}

export function nanosBetween(later: Timestamp, earlier: Timestamp): bigint {
  return (
    BigInt(later.seconds - earlier.seconds) * nanosPerSecond + BigInt(later.nanos - earlier.nanos)
  );
}

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})[T](\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/** Parses RFC 3339; undefined when it is malformed or out of range. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const local = epochDays(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
  let offset = 0;
  if (match[8] !== undefined) {
    const offsetHours = Number(match[9]);
    const offsetMinutes = Number(match[10]);
    if (offsetHours > 24 || offsetMinutes > 59) return undefined;
    offset = (offsetHours * 3600 + offsetMinutes * 60) * (match[8] === '+' ? 1 : -1);
  }
  const seconds = local - offset;
  const nanos = Number((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
  return isTimestampSeconds(seconds) ? new Timestamp(seconds, nanos, offset) : undefined;
}

function epochDays(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() / 86_400_000;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** RFC 3339 with as many digits of the fraction as needed. */
export function formatTimestamp(time: Timestamp): string {
  const fields = new Date((time.seconds + time.offsetSeconds) * 1000);
  const iso = fields.toISOString();
  const year = String(fields.getUTCFullYear()).padStart(4, '0');
  const head = `${year}${iso.slice(iso.indexOf('-', 1), iso.indexOf('.'))}`;
  return `${head}${fractionText(time.nanos)}${offsetText(time.offsetSeconds)}`;
}

function offsetText(seconds: number): string {
  if (seconds === 0) return 'Z';
  const minutes = Math.abs(seconds) / 60;
  const two = (count: number): string => String(count).padStart(2, '0');
  return `${seconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function fractionText(nanos: number): string {
  return nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
}

/** Seconds with a fraction and the unit `s`: the form of `string(duration)`. */
export function formatDuration(duration: Duration): string {
  const negative = duration.nanos < 0n;
  const nanos = negative ? -duration.nanos : duration.nanos;
  const fraction = fractionText(Number(nanos % nanosPerSecond));
  return `${negative ? '-' : ''}${String(nanos / nanosPerSecond)}${fraction}s`;
}

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: nanosPerSecond,
  m: 60n * nanosPerSecond,
  h: 3600n * nanosPerSecond,
};

/**
 * Parses `1h30m`, `-1.5s`, `0`: signed decimal numbers with units; undefined when malformed or
 * beyond 64 bits.
 */
export function parseDuration(text: string): Duration | undefined {
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return new Duration(0n);
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let nanos = 0n;
  for (const part of body.matchAll(/(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const unit = unitNanos[part[3] as string] as bigint;
    const fraction = part[2] as string;
    nanos += BigInt(part[1] === '' ? '0' : (part[1] as string)) * unit;
    if (fraction !== '') nanos += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
    if (nanos > intMax + 1n) return undefined;
  }
  if (text.startsWith('-')) nanos = -nanos;
  return nanos < intMin || nanos > intMax ? undefined : new Duration(nanos);
}

/** The calendar fields of a time in a time zone. */
export interface CalendarFields {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  /** From 1. */
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  /** From 0, Sunday. */
  readonly weekDay: number;
  /** From 0. */
  readonly yearDay: number;
}

/**
 * Fields of `time` as it was written, in an offset such as `-07:30`, or in a named zone; an error
 * for an unknown zone.
 */
export function calendarFields(
  time: Timestamp,
  zone: string | undefined,
): CalendarFields | CelError {
  const offset = zone === undefined ? time.offsetSeconds : zoneOffsetSeconds(time, zone);
  if (typeof offset !== 'number') return offset;
  const date = new Date((time.seconds + offset) * 1000);
  const year = date.getUTCFullYear();
  const dayMs = 86_400_000;
  const start = epochDays(year, 1, 1);
  return {
    year,
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds(),
    weekDay: date.getUTCDay(),
    yearDay: Math.floor(date.getTime() / dayMs) - start,
  };
}

function zoneOffsetSeconds(time: Timestamp, zone: string): number | CelError {
  if (zone === 'UTC' || zone === '') return 0;
  const colon = zone.indexOf(':');
  if (colon >= 0) {
    const [hours, minutes] = [zone.slice(0, colon), zone.slice(colon + 1)];
    for (const part of [hours, minutes]) {
      if (!/^[+-]?\d+$/.test(part))
        return new CelError(`strconv.Atoi: parsing ${JSON.stringify(part)}: invalid syntax`);
    }
    const hour = Number(hours);
    return (hour < 0 ? hour * 60 - Number(minutes) : hour * 60 + Number(minutes)) * 60;
  }
  return namedZoneOffset(time, zone);
}

function namedZoneOffset(time: Timestamp, zone: string): number | CelError {
  let format: Intl.DateTimeFormat;
  try {
    format = zoneFormats.of(zone, zoneFormat);
  } catch {
    return new CelError(`unknown time zone ${zone}`);
  }
  const parts = new Map(
    format.formatToParts(new Date(time.seconds * 1000)).map((p) => [p.type, p.value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
  const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year');
  const local =
    epochDays(year, part('month'), part('day')) * 86400 +
    part('hour') * 3600 +
    part('minute') * 60 +
    part('second');
  return local - time.seconds;
}

const zoneFormats = new TextMemo<Intl.DateTimeFormat>({
  countMax: limits.zoneFormatsMax,
  lengthMax: limits.zoneNameLengthMax,
});

function zoneFormat(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
}
