// Columns of jobs and cron jobs.
import { humanAge } from '../../base/human-age.ts';
import {
  column,
  tableOf,
  at,
  text,
  count,
  since,
  ageOf,
  timeOf,
  name,
  age,
} from '../../api/column.ts';
import type { Cell, TableColumns } from '../../api/type-info.ts';
import { isSet, textAt, numberAt, recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { selector } from '../selector-columns.ts';
import { selectorColumn, whole, wideContainers } from '../shared-columns.ts';

type Kind = Readonly<JsonObject>;

export const jobColumns: TableColumns = tableOf([
  name,
  column('Status', 'string', jobStatus, 'What the job is doing or how it ended.'),
  column('Completions', 'string', completionsOf, 'Pods that succeeded, of those needed.'),
  column('Duration', 'string', durationOf, 'How long the job has been running, or took.'),
  age,
  ...wideContainers(),
  selectorColumn(),
]);

function jobStatus(object: Kind): string {
  const conditions = recordsAt(recordAt(object, 'status'), 'conditions');
  const holds = (type: string): boolean =>
    conditions.some((one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True');
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (isSet(recordAt(object, 'metadata'), 'deletionTimestamp')) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running';
}

function completionsOf(object: Kind): string {
  const spec = recordAt(object, 'spec');
  const succeeded = whole(object, 'status.succeeded');
  const wanted = numberAt(spec, 'completions');
  if (wanted !== undefined) return `${succeeded}/${String(wanted)}`;
  const parallelism = numberAt(spec, 'parallelism') ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${String(parallelism)}` : `${succeeded}/1`;
}

function durationOf(object: Kind): Cell {
  const started = at(object, 'status.startTime');
  const [from, to] = [timeOf(started), timeOf(at(object, 'status.completionTime'))];
  if (from !== undefined && to !== undefined) return humanAge(to - from);
  return ageOf(started) ?? '';
}

const suspended = (object: Kind): string => {
  const value = at(object, 'spec.suspend');
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : '<unset>';
};

export const cronJobColumns: TableColumns = tableOf([
  name,
  column('Schedule', 'string', text('spec.schedule'), 'When jobs start, as in a crontab.'),
  column('Timezone', 'string', text('spec.timeZone', '<none>'), 'Time zone of the schedule.'),
  column('Suspend', 'boolean', suspended, 'Whether no new jobs are started.'),
  column('Active', 'integer', count('status.active'), 'Jobs that run now.'),
  column(
    'Last Schedule',
    'string',
    since('status.lastScheduleTime', '<none>'),
    'Time since a job was started last.',
  ),
  age,
  ...wideContainers('spec.jobTemplate.spec.template.spec'),
  selectorColumn(selector('spec.jobTemplate.spec.selector')),
]);
