// Columns of admission policies, their bindings, and webhooks.
import { column, tableOf, text, count, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/column.ts';
import { textAt, recordAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { selectorText } from '../selector-columns.ts';

type Kind = Readonly<JsonObject>;

function paramKindOf(object: Kind): string {
  const kind = recordAt(recordAt(object, 'spec'), 'paramKind');
  return kind === undefined ? '<unset>' : `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}`;
}

function paramRefOf(object: Kind): string {
  const reference = recordAt(recordAt(object, 'spec'), 'paramRef');
  if (reference === undefined) return '<unset>';
  const paramName = textAt(reference, 'name');
  if (paramName === '') return selectorText(recordAt(reference, 'selector'));
  return `${textAt(reference, 'namespace') || '*'}/${paramName}`;
}

const paramKind = column('ParamKind', 'string', paramKindOf, 'Kind of the parameters.');
export const policyBindingColumns: TableColumns = tableOf([
  name,
  column('PolicyName', 'string', text('spec.policyName'), 'Policy that is put to work.'),
  column('ParamRef', 'string', paramRefOf, 'Parameters that the policy gets.'),
  age,
]);
export const webhookColumns: TableColumns = tableOf([
  name,
  column('Webhooks', 'integer', count('webhooks'), 'Number of webhooks.'),
  age,
]);

export const validatingPolicyColumns: TableColumns = tableOf([
  name,
  column('Validations', 'integer', count('spec.validations'), 'Number of checks.'),
  paramKind,
  age,
]);

export const mutatingPolicyColumns: TableColumns = tableOf([
  name,
  column('Mutations', 'integer', count('spec.mutations'), 'Number of changes.'),
  paramKind,
  age,
]);
