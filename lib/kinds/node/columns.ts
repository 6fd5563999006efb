// Columns of runtime classes.
import { column, tableOf, text, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';

export const runtimeClassColumns: TableColumns = tableOf([
  name,
  column('Handler', 'string', text('handler'), 'Runtime that the nodes use.'),
  age,
]);
