// Columns of storage versions.
import { column, tableOf, text, firstOf, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { textAt, recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Kind = Readonly<JsonObject>;

const storedVersions = (object: Kind): string =>
  firstOf(
    recordsAt(recordAt(object, 'status'), 'storageVersions').map(
      (one) => `${textAt(one, 'apiServerID')}=${textAt(one, 'encodingVersion')}`,
    ),
    3,
  ) || '<unset>';

export const storageVersionColumns: TableColumns = tableOf([
  name,
  column(
    'CommonEncodingVersion',
    'string',
    text('status.commonEncodingVersion', '<unset>'),
    'Version that all servers write.',
  ),
  column('StorageVersions', 'string', storedVersions, 'Version that each server writes.'),
  age,
]);
