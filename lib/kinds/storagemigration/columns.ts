// Columns of storage version migrations.
import { column, tableOf, name } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { textAt, recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Kind = Readonly<JsonObject>;

export const migrationColumns: TableColumns = tableOf([
  { ...name, definition: { ...name.definition, format: '' } },
  column('Resource', 'string', migratedResource, 'Resource whose objects are rewritten.'),
  column('Status', 'string', migrationStatus, 'How far the migration has come.'),
]);

function migratedResource(object: Kind): string {
  const resource = recordAt(recordAt(object, 'spec'), 'resource');
  return `${textAt(resource, 'resource')}.${textAt(resource, 'group')}`;
}

function migrationStatus(object: Kind): string {
  const conditions = recordsAt(recordAt(object, 'status'), 'conditions');
  const holding = conditions
    .filter((one) => textAt(one, 'status') === 'True')
    .map((one) => textAt(one, 'type'))
    .filter((type) => ['Running', 'Failed', 'Succeeded'].includes(type));
  return holding.at(-1) ?? 'Unknown';
}
