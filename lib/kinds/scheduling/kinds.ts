// The kinds of scheduling: one record each.
import type { Kind } from '../kind.ts';
import { podGroupColumns, priorityClassColumns, workloadColumns } from './columns.ts';
import { validatePriorityClass } from './priority-class-validation.ts';
import { validatePodGroup, validateWorkload } from './workload-validation.ts';

export const schedulingKinds: readonly Kind[] = [
  {
    name: 'scheduling/PodGroup',
    columns: podGroupColumns,
    validateMigrated: validatePodGroup,
  },
  {
    name: 'scheduling/PriorityClass',
    columns: priorityClassColumns,
    strategy: { generation: { only: 'create' } },
    validate: validatePriorityClass,
  },
  {
    name: 'scheduling/Workload',
    columns: workloadColumns,
    validateMigrated: validateWorkload,
  },
];
