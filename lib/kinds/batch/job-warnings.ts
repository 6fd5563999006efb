// What is valid in a job or a cron job and yet unwise, besides names and pods.
import { numberAt, recordIn, textAt } from '../../api/json-access.ts';
import { isNewGeneration } from '../validator.ts';
import type { Warnings } from '../validator.ts';

const completionsMax = 100_000;
const parallelismMax = 10_000;

/** `path`: where the kind has the spec of a job. */
export function jobWarnings(path: string): Warnings {
  const names = path.split('.');
  return (write) => {
    const spec = isNewGeneration(write) ? recordIn(write.object, ...names) : undefined;
    if (textAt(spec, 'completionMode') !== 'Indexed') return [];
    const isHuge =
      (numberAt(spec, 'completions') ?? 0) > completionsMax &&
      (numberAt(spec, 'parallelism') ?? 0) > parallelismMax;
    if (!isHuge) return [];
    const detail =
      'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher ' +
      'than 10^4, Kubernetes might not be able to track completedIndexes when a big number of ' +
      'indexes fail';
    return [`${path}: ${detail}`];
  };
}

/** Schedules from before there was a field for the time zone. */
export const zoneWarnings: Warnings = (write) => {
  if (write.old === undefined || !isNewGeneration(write)) return [];
  if (!textAt(recordIn(write.object, 'spec'), 'schedule').includes('TZ')) return [];
  return ['CRON_TZ or TZ used in spec.schedule is not officially supported, use spec.timeZone'];
};
