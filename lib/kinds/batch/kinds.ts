// The kinds of batch: one record each.
import { numberAt, recordAt } from '../../api/json-access.ts';
import type { FieldReader } from '../../api/type-info.ts';
import { templateWarnings } from '../core/pod-warnings.ts';
import { hostNameWarnings, joinedWarnings } from '../host-name-warnings.ts';
import type { Kind } from '../kind.ts';
import { cronJobColumns, jobColumns } from './columns.ts';
import { validateCronJob } from './cron-job-validation.ts';
import { jobDefaults } from './defaults.ts';
import { validateJob } from './job-validation.ts';
import { jobWarnings, zoneWarnings } from './job-warnings.ts';
import { jobStrategy } from './jobs.ts';

const succeededOf: FieldReader = (job) =>
  String(numberAt(recordAt(job, 'status'), 'succeeded') ?? 0);

export const batchKinds: readonly Kind[] = [
  {
    name: 'batch/CronJob',
    columns: cronJobColumns,
    validate: validateCronJob,
    warnings: joinedWarnings(
      hostNameWarnings,
      jobWarnings('spec.jobTemplate.spec'),
      templateWarnings('spec.jobTemplate.spec.template'),
      zoneWarnings,
    ),
  },
  {
    name: 'batch/Job',
    columns: jobColumns,
    defaults: jobDefaults,
    fieldReaders: { 'status.successful': succeededOf },
    strategy: ({ naming }) => jobStrategy(naming),
    validate: validateJob,
    warnings: joinedWarnings(
      hostNameWarnings,
      jobWarnings('spec'),
      templateWarnings('spec.template'),
    ),
  },
];
