// Cron jobs: the schedule, its time zone, and the jobs that are made from the template.
import { flagAt, isSet, recordAt, textAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { Validator } from '../validator.ts';
import { validateJobSpec } from './job-validation.ts';

/** Names of jobs are 11 characters longer than their cron job's. */
const nameLengthMax = 52;

export const validateCronJob: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const before = recordAt(old, 'spec');
  const name = textAt(recordAt(object, 'metadata'), 'name');
  if (old === undefined && name.length > nameLengthMax) {
    errors.invalid(
      'metadata.name',
      name,
      `must be no more than ${String(nameLengthMax)} characters`,
    );
  }
  const schedule = textAt(spec, 'schedule');
  if (schedule !== '' && schedule !== textAt(before, 'schedule')) {
    if (schedule.includes('TZ=')) {
      errors.invalid(
        'spec.schedule',
        schedule,
        'cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      );
    } else if (!isSchedule(schedule)) {
      const detail =
        'must have five fields: minute, hour, day of month, ' +
        'month, day of week; or be a macro such as @daily';
      errors.invalid('spec.schedule', schedule, detail);
    }
  }
  const zone = valueAt(spec, 'timeZone');
  if (zone !== undefined && !sameJson(zone, valueAt(before, 'timeZone') ?? null)) {
    const problem = zoneProblem(textAt(spec, 'timeZone'));
    if (problem !== undefined) errors.invalid('spec.timeZone', zone, problem);
  }
  const job = recordAt(recordAt(spec, 'jobTemplate'), 'spec') ?? {};
  const path = 'spec.jobTemplate.spec';
  if (isSet(job, 'selector')) {
    errors.invalid(`${path}.selector`, job['selector'], '`selector` will be auto-generated');
  }
  if (flagAt(job, 'manualSelector')) {
    errors.notSupported(`${path}.manualSelector`, true, ['nil', 'false']);
  }
  validateJobSpec(job, path, write);
};

function zoneProblem(zone: string): string | undefined {
  if (zone === '') return 'timeZone must be nil or non-empty string';
  if (zone.toLowerCase() === 'local')
    return 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  if (!/^[A-Za-z]/.test(zone)) return 'unknown time zone';
  try {
    Intl.DateTimeFormat('en', { timeZone: zone });
    return undefined;
  } catch {
    return `unknown time zone ${zone}`;
  }
}

const macros: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
interface Part {
  readonly low: number;
  readonly high: number;
  readonly names: readonly string[];
}
const parts: readonly Part[] = [
  { low: 0, high: 59, names: [] },
  { low: 0, high: 23, names: [] },
  { low: 1, high: 31, names: [] },
  { low: 1, high: 12, names: months },
  { low: 0, high: 6, names: days },
];

function isSchedule(text: string): boolean {
  if (text.startsWith('@')) {
    if (macros.has(text)) return true;
    return /^@every ([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$/.test(text);
  }
  const fields = text.trim().split(/\s+/);
  return (
    fields.length === parts.length &&
    parts.every((part, at) => (fields[at] ?? '').split(',').every((one) => isRange(one, part)))
  );
}

/** `*`, `5`, `1-5`, with an optional step. */
function isRange(text: string, part: Part): boolean {
  const [range = '', step, more] = text.split('/');
  if (more !== undefined) return false;
  if (step !== undefined && !/^[1-9]\d*$/.test(step)) return false;
  if (range === '*' || range === '?') return true;
  const [from = '', to, extra] = range.split('-');
  if (extra !== undefined) return false;
  const low = numberOf(from, part);
  const high = to === undefined ? low : numberOf(to, part);
  return (
    low !== undefined && high !== undefined && low <= high && low >= part.low && high <= part.high
  );
}

function numberOf(text: string, { names, low }: Part): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  const at = names.indexOf(text.toLowerCase());
  return at < 0 ? undefined : at + low;
}
