// Columns of the bindings of roles.
import { column, wide, tableOf, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { textAt, recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Kind = Readonly<JsonObject>;

const subjectsOf =
  (kind: string) =>
  (binding: Kind): string =>
    recordsAt(binding, 'subjects')
      .filter((subject) => textAt(subject, 'kind') === kind)
      .map((subject) => {
        const subjectName = textAt(subject, 'name');
        const isAccount = kind === 'ServiceAccount';
        return isAccount ? `${textAt(subject, 'namespace')}/${subjectName}` : subjectName;
      })
      .join(', ');

const roleOf = (binding: Kind): string => {
  const role = recordAt(binding, 'roleRef');
  return `${textAt(role, 'kind')}/${textAt(role, 'name')}`;
};

export const bindingColumns: TableColumns = tableOf([
  name,
  column('Role', 'string', roleOf, 'Role that is given.'),
  age,
  wide(column('Users', 'string', subjectsOf('User'), 'Users who get it.')),
  wide(column('Groups', 'string', subjectsOf('Group'), 'Groups that get it.')),
  wide(
    column('ServiceAccounts', 'string', subjectsOf('ServiceAccount'), 'Service accounts with it.'),
  ),
]);
