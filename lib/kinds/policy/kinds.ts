// The kinds of policy: one record each.
import type { Kind } from '../kind.ts';
import { budgetColumns } from './columns.ts';
import { budgetConversions } from './conversion.ts';
import { validateDisruptionBudget } from './disruption-budget-validation.ts';

export const policyKinds: readonly Kind[] = [
  {
    name: 'policy/PodDisruptionBudget',
    columns: budgetColumns,
    conversions: budgetConversions,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateDisruptionBudget,
  },
];
