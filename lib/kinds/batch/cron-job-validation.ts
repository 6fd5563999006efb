// Cron jobs: the schedule, its time zone, and the jobs that are made from the template.
import { flagAt, isSet, recordAt, recordIn, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { changed } from '../validator.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { isZone, scheduleProblem } from './cron-schedule.ts';
import { validateJobSpec } from './job-validation.ts';

export const validateCronJob: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  validateSchedule(write, spec);
  const before = recordAt(old, 'spec');
  if (isSet(spec, 'timeZone') && (old === undefined || changed(spec, before, 'timeZone'))) {
    validateZone(write, textAt(spec, 'timeZone'));
  }
  const job = recordIn(spec, 'jobTemplate', 'spec') ?? {};
  const path = 'spec.jobTemplate.spec';
  validateJobSpec(job, path, write);
  if (isSet(job, 'selector')) {
    errors.invalid(`${path}.selector`, job['selector'], '`selector` will be auto-generated');
  }
  if (flagAt(job, 'manualSelector')) {
    errors.notSupported(`${path}.manualSelector`, true, ['nil', 'false']);
  }
};

/** Where a time zone was part of the schedule, it may stay so. */
function validateSchedule({ old, errors }: ValidatedWrite, spec: JsonObject): void {
  const schedule = textAt(spec, 'schedule');
  if (schedule === '') return; // the field's own rule requires it
  const path = 'spec.schedule';
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) errors.invalid(path, schedule, problem);
  if (!schedule.includes('TZ')) return;
  if (!textAt(recordAt(old, 'spec'), 'schedule').includes('TZ')) {
    const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    errors.invalid(path, schedule, detail);
  } else if (isSet(spec, 'timeZone')) {
    const detail = 'cannot use both timeZone field and TZ or CRON_TZ in schedule';
    errors.invalid(path, schedule, detail);
  }
}

const zonePart = /^(?!-)(?!\.{1,2}$)[A-Za-z._0-9+-]{1,14}$/;

function validateZone({ errors }: ValidatedWrite, zone: string): void {
  const path = 'spec.timeZone';
  if (zone === '') {
    errors.invalid(path, zone, 'timeZone must be nil or non-empty string');
    return;
  }
  if (zone.toLowerCase() === 'local') {
    const detail =
      'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    errors.invalid(path, zone, detail);
  }
  if (zone.split('/').every((part) => zonePart.test(part)) && isZone(zone)) return;
  errors.invalid(path, zone, `unknown time zone ${zone}`);
}
