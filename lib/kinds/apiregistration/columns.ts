// Columns of API services.
import { column, tableOf, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { textAt, recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Kind = Readonly<JsonObject>;

const conditionsOf = (object: Kind): readonly JsonObject[] =>
  recordsAt(recordAt(object, 'status'), 'conditions');

function backendOf(object: Kind): string {
  const service = recordAt(recordAt(object, 'spec'), 'service');
  return service === undefined
    ? 'Local'
    : `${textAt(service, 'namespace')}/${textAt(service, 'name')}`;
}

function availabilityOf(object: Kind): string {
  const condition = conditionsOf(object).find((one) => textAt(one, 'type') === 'Available');
  if (condition === undefined) return 'Unknown';
  const [status, reason] = [textAt(condition, 'status'), textAt(condition, 'reason')];
  return status !== 'True' && reason !== '' ? `${status} (${reason})` : status;
}

export const apiServiceColumns: TableColumns = tableOf([
  name,
  column('Service', 'string', backendOf, 'Service that answers for the version.'),
  column('Available', 'string', availabilityOf, 'Whether it answers.'),
  age,
]);
