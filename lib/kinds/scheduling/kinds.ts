// The kinds of scheduling: one record each.
import type { Kind } from '../kind.ts';
import { podGroupColumns, priorityClassColumns, workloadColumns } from './columns.ts';
import { validatePriorityClass } from './priority-class-validation.ts';
import { systemPriorityClasses } from './system-priority-classes.ts';
import { validatePodGroup, validateWorkload } from './workload-validation.ts';

const whySystemClassIsKept = (name: string): string | undefined =>
  systemPriorityClasses.some((one) => one.name === name)
    ? 'this is a system priority class and cannot be deleted'
    : undefined;

export const schedulingKinds: readonly Kind[] = [
  {
    name: 'scheduling/PodGroup',
    columns: podGroupColumns,
    validateMigrated: validatePodGroup,
  },
  {
    name: 'scheduling/PriorityClass',
    columns: priorityClassColumns,
    strategy: { generation: { only: 'create' }, whyKept: whySystemClassIsKept },
    validate: validatePriorityClass,
  },
  {
    name: 'scheduling/Workload',
    columns: workloadColumns,
    validateMigrated: validateWorkload,
  },
];
