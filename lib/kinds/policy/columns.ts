// Columns of disruption budgets.
import { column, tableOf, text, number, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';

export const budgetColumns: TableColumns = tableOf([
  name,
  column(
    'Min Available',
    'string',
    text('spec.minAvailable', 'N/A'),
    'Pods that must stay available.',
  ),
  column(
    'Max Unavailable',
    'string',
    text('spec.maxUnavailable', 'N/A'),
    'Pods that may be unavailable at once.',
  ),
  column(
    'Allowed Disruptions',
    'integer',
    number('status.disruptionsAllowed'),
    'Pods that may be evicted now.',
  ),
  age,
]);
