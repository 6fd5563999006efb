// Scalars whose JSON text has one canonical form: times, durations and base64 bytes.
// Each reader returns the canonical text, or undefined when the text is not of its form.

const daysInMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** RFC 3339 as Go's `time` reads it: a short hour and a comma will do, small letters will not. */
const rfc3339 = new RegExp(
  /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})/.source +
    /(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/.source,
);
/** The zero time: JSON output shows it as null. */
const zeroTime = '0001-01-01T00:00:00';

/** RFC 3339 in UTC with whole seconds; null for the zero time. */
export function canonicalTime(text: string): string | null | undefined {
  if (text.length === 20 && text.endsWith('Z') && beginsWithSeconds(text)) return text;
  const read = readTime(text);
  if (read === undefined) return undefined;
  return read.seconds === zeroTime ? null : `${read.seconds}Z`;
}

/** RFC 3339 in UTC with six digits of a second, which must be given; null for the zero time. */
export function canonicalMicroTime(text: string): string | null | undefined {
  if (text.length === 27 && endsWithMicros(text) && beginsWithSeconds(text)) return text;
  const read = readTime(text);
  if (read?.fraction.length !== 6) return undefined;
  const { seconds, fraction } = read;
  return seconds === zeroTime && fraction === '000000' ? null : `${seconds}.${fraction}Z`;
}

const endsWithMicros = (text: string): boolean =>
  text.charCodeAt(19) === 0x2e &&
  twoDigits(text, 20) >= 0 &&
  twoDigits(text, 22) >= 0 &&
  twoDigits(text, 24) >= 0 &&
  text.endsWith('Z');

/** The form that almost every time has, checked without a regular expression. */
function beginsWithSeconds(text: string): boolean {
  if (text.charCodeAt(4) !== 0x2d || text.charCodeAt(7) !== 0x2d) return false;
  if (text.charCodeAt(10) !== 0x54) return false;
  if (text.charCodeAt(13) !== 0x3a || text.charCodeAt(16) !== 0x3a) return false;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const inDay = twoDigits(text, 11) < 24 && twoDigits(text, 14) < 60 && twoDigits(text, 17) < 60;
  return inDay && year > 1 && isDate(year, month, day);
}

/** NaN, which fails every comparison, when either is no digit. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}

function isDate(year: number, month: number, day: number): boolean {
  if (!(month >= 1 && month <= 12 && day >= 1)) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 && !leap ? 28 : (daysInMonth[month - 1] ?? 0));
}

function readTime(text: string): { seconds: string; fraction: string } | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] = match;
  if (!isDate(Number(year), Number(month), Number(day))) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const fraction = match[7] ?? '';
  const local = `${year}-${month}-${day}T${hour.padStart(2, '0')}:${minute}:${second}`;
  if (match[8] === undefined) return { seconds: local, fraction };
  const offsetMinutes = Number(match[9]) * 60 + Number(match[10]);
  if (Number(match[9]) > 24 || Number(match[10]) > 60) return undefined;
  const sign = match[8] === '-' ? -1 : 1;
  const utc = new Date(Date.parse(`${local}Z`) - sign * offsetMinutes * 60_000).toISOString();
  return utc.length === 24 ? { seconds: utc.slice(0, 19), fraction } : undefined;
}

const nanosByUnit: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const durationText = /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/;
const durationPart = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g;
const nanosMax = 2n ** 63n - 1n;

/** `90m` is `1h30m0s`, `1500ms` is `1.5s`: hours, minutes and seconds, or one smaller unit. */
export function canonicalDuration(text: string): string | undefined {
  const nanos = parseDuration(text);
  return nanos === undefined ? undefined : formatDuration(nanos);
}

/** Nanoseconds of a duration's text; undefined: not a duration. */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > 128) return undefined;
  const match = durationText.exec(text);
  if (match === null) return undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of (match[2] ?? '').matchAll(durationPart)) {
    const perUnit = nanosByUnit.get(unit) ?? 1n;
    nanos += BigInt(whole) * perUnit;
    nanos += (BigInt(fraction) * perUnit) / 10n ** BigInt(fraction.length);
  }
  if (nanos > nanosMax) return undefined;
  return match[1] === '-' ? -nanos : nanos;
}

/** Canonical text of a number of nanoseconds. */
export function formatDuration(nanos: bigint): string {
  if (nanos < 0n) return `-${formatDuration(-nanos)}`;
  if (nanos === 0n) return '0s';
  if (nanos < 1_000n) return `${String(nanos)}ns`;
  if (nanos < 1_000_000n) return `${decimal(nanos, 3)}µs`;
  if (nanos < 1_000_000_000n) return `${decimal(nanos, 6)}ms`;
  const minutes = nanos / 60_000_000_000n;
  const seconds = `${decimal(nanos % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  const hours = minutes / 60n;
  return `${hours === 0n ? '' : `${String(hours)}h`}${String(minutes % 60n)}m${seconds}`;
}

/** `value` / 10^`digits` without trailing zeros. */
function decimal(value: bigint, digits: number): string {
  const text = String(value).padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  return `${text.slice(0, -digits)}${fraction === '' ? '' : `.${fraction}`}`;
}

const base64Text = /^[A-Za-z0-9+/]*={0,2}$/;

/** Standard base64 with padding; line breaks are dropped and spare bits cleared. */
export function canonicalBase64(text: string): string | undefined {
  const joined = text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, '') : text;
  if (joined.length % 4 !== 0 || !base64Text.test(joined)) return undefined;
  if (!joined.endsWith('=')) return joined;
  const tail = joined.slice(-4);
  const canonicalTail = Buffer.from(tail, 'base64').toString('base64');
  if (canonicalTail.length !== 4) return undefined;
  return tail === canonicalTail ? joined : joined.slice(0, -4) + canonicalTail;
}
