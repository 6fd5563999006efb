// Columns of a Status.
import { column, tableOf, text } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';

export const statusColumns: TableColumns = tableOf([
  column('Status', 'string', text('status'), 'Whether the request succeeded.'),
  column('Reason', 'string', text('reason'), 'One word for why not.'),
  column('Message', 'string', text('message'), 'What happened, in a sentence.'),
]);
