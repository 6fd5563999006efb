// Columns of endpoint slices.
import { column, tableOf, text, firstOf, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { isSet, textAt, numberAt, recordsAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Kind = Readonly<JsonObject>;

const shownCount = 3;

export const endpointSliceColumns: TableColumns = tableOf([
  name,
  column('AddressType', 'string', text('addressType'), 'Kind of the addresses.'),
  column('Ports', 'string', slicePortsOf, 'Ports of the endpoints.'),
  column('Endpoints', 'string', addressesOf, 'Addresses of the endpoints.'),
  age,
]);

function slicePortsOf(object: Kind): string {
  const ports = recordsAt(object, 'ports').map((port) => {
    const number = numberAt(port, 'port');
    if (number !== undefined) return String(number);
    return isSet(port, 'name') ? textAt(port, 'name') : '*';
  });
  return firstOf(ports, shownCount) || '<unset>';
}

function addressesOf(object: Kind): string {
  const all = recordsAt(object, 'endpoints').flatMap((one) => textsAt(one, 'addresses'));
  return firstOf(all, shownCount) || '<unset>';
}
