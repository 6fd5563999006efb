// Schedules as in a crontab: five fields, or a macro. What is wrong is said in the words of the
// parser that controllers of cron jobs use.
import { linkedZones } from './linked-zones.ts';

const macros: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);
const every = '@every ';
const durationPattern = /^[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Field {
  readonly low: number;
  readonly high: number;
  readonly names: readonly string[];
}
const fields: readonly Field[] = [
  { low: 0, high: 59, names: [] },
  { low: 0, high: 23, names: [] },
  { low: 1, high: 31, names: [] },
  { low: 1, high: 12, names: months },
  { low: 0, high: 6, names: days },
];

/** undefined: it is a schedule. */
export function scheduleProblem(text: string): string | undefined {
  const zone = /^(?:CRON_)?TZ=/.exec(text)?.[0];
  if (zone === undefined) return timesProblem(text);
  const space = text.indexOf(' ');
  const name = text.slice(zone.length, space < 0 ? undefined : space);
  if (space < 0 || !isZone(name)) {
    return `provided bad location ${name}: unknown time zone ${name}`;
  }
  return timesProblem(text.slice(space).trim());
}

function timesProblem(text: string): string | undefined {
  if (text === '') return 'empty spec string';
  if (text.startsWith('@')) return macroProblem(text);
  const given = text.split(/\s+/u).filter((one) => one !== '');
  if (given.length !== fields.length) {
    const found = `found ${String(given.length)}: [${given.join(' ')}]`;
    return `expected exactly ${String(fields.length)} fields, ${found}`;
  }
  for (const [at, field] of fields.entries()) {
    for (const range of (given[at] ?? '').split(',')) {
      const problem = range === '' ? undefined : rangeProblem(range, field);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function macroProblem(text: string): string | undefined {
  if (macros.has(text)) return undefined;
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`;
  const duration = text.slice(every.length);
  if (durationPattern.test(duration)) return undefined;
  const problem = `time: invalid duration ${JSON.stringify(duration)}`;
  return `failed to parse duration ${text}: ${problem}`;
}

/** `*`, `5`, `1-5`, with an optional step. */
function rangeProblem(text: string, field: Field): string | undefined {
  const [range = '', step, ...more] = text.split('/');
  const [first = '', last, ...hyphens] = range.split('-');
  const isAny = first === '*' || first === '?';
  let [low, high] = [field.low, field.high];
  if (!isAny) {
    const from = numberOf(first, field);
    if (typeof from === 'string') return from;
    low = from;
    if (hyphens.length > 0) return `too many hyphens: ${text}`;
    const to = last === undefined ? from : numberOf(last, field);
    if (typeof to === 'string') return to;
    high = to;
  }
  if (more.length > 0) return `too many slashes: ${text}`;
  const by = step === undefined ? 1 : numberOf(step, stepField);
  if (typeof by === 'string') return by;
  if (step !== undefined && last === undefined) high = Math.max(high, field.high);
  if (low < field.low) return outside('beginning', low, 'below minimum', field.low, text);
  if (high > field.high) return outside('end', high, 'above maximum', field.high, text);
  if (low > high) {
    return `beginning of range (${String(low)}) beyond end of range (${String(high)}): ${text}`;
  }
  return by === 0 ? `step of range should be a positive number: ${text}` : undefined;
}

const stepField: Field = { low: 0, high: 0, names: [] };

function outside(
  end: 'beginning' | 'end',
  found: number,
  side: 'below minimum' | 'above maximum',
  limit: number,
  text: string,
): string {
  return `${end} of range (${String(found)}) ${side} (${String(limit)}): ${text}`;
}

/** A number, or a name that stands for one; a text says why it is neither. */
function numberOf(text: string, { names, low }: Field): number | string {
  const at = names.indexOf(text.toLowerCase());
  if (at >= 0) return at + low;
  if (!/^[+-]?\d{1,18}$/.test(text)) {
    const syntax = `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
    return `failed to parse int from ${text}: ${syntax}`;
  }
  const number = Number(text);
  return number < 0 ? `negative number (${String(number)}) not allowed: ${text}` : number;
}

let zones: ReadonlySet<string> | undefined;

/**
 * A name of the time zone database, older ones among them, spelt as there; `UTC` and `Local` are
 * names to Go as well. The runtime knows more: other cases, and abbreviations such as `PST`.
 */
export function isZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true;
  zones ??= new Set([...Intl.supportedValuesOf('timeZone'), ...linkedZones]);
  return zones.has(name);
}
