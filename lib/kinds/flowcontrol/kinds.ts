// The kinds of flowcontrol: one record each.
import type { Kind } from '../kind.ts';
import { flowSchemaColumns, priorityLevelColumns } from './columns.ts';
import { priorityLevelConversions } from './conversion.ts';
import { priorityLevelDefaults } from './defaults.ts';
import { validateFlowSchema } from './flow-schema-validation.ts';
import { validatePriorityLevel } from './priority-level-validation.ts';

export const flowcontrolKinds: readonly Kind[] = [
  {
    name: 'flowcontrol/FlowSchema',
    columns: flowSchemaColumns,
    validate: validateFlowSchema,
  },
  {
    name: 'flowcontrol/PriorityLevelConfiguration',
    columns: priorityLevelColumns,
    defaults: priorityLevelDefaults,
    conversions: priorityLevelConversions,
    validate: validatePriorityLevel,
  },
];
