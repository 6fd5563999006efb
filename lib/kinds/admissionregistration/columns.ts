// Columns of admission policies, their bindings, and webhooks.
import { column, tableOf, text, count, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { asText, entriesAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { selectorText } from '../selector-columns.ts';
import type { Holder } from '../validator.ts';

type Kind = Readonly<JsonObject>;

function paramKindOf(object: Kind): string {
  const kind = recordAt(recordAt(object, 'spec'), 'paramKind');
  return kind === undefined ? '<unset>' : `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}`;
}

const paramRef =
  (selectorOf: (selector: Holder) => string) =>
  (object: Kind): string => {
    const reference = recordAt(recordAt(object, 'spec'), 'paramRef');
    if (reference === undefined) return '<unset>';
    const paramName = textAt(reference, 'name');
    if (paramName === '') return selectorOf(recordAt(reference, 'selector'));
    return `${textAt(reference, 'namespace') || '*'}/${paramName}`;
  };

/** A selector member by member, as clients know this cell. */
function spelledSelector(selector: Holder): string {
  if (selector === undefined) return 'nil';
  const labels = entriesAt(selector, 'matchLabels')
    .map(([key, value]) => `${key}: ${asText(value)},`)
    .sort();
  const expressions = recordsAt(selector, 'matchExpressions').map((one) => {
    const values = textsAt(one, 'values').join(' ');
    const operator = textAt(one, 'operator');
    return (
      `LabelSelectorRequirement{Key:${textAt(one, 'key')},Operator:${operator},` +
      `Values:[${values}],},`
    );
  });
  return (
    `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},` +
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
  );
}

const paramKind = column('ParamKind', 'string', paramKindOf, 'Kind of the parameters.');
const bindingColumns = (selectorOf: (selector: Holder) => string): TableColumns =>
  tableOf([
    name,
    column('PolicyName', 'string', text('spec.policyName'), 'Policy that is put to work.'),
    column('ParamRef', 'string', paramRef(selectorOf), 'Parameters that the policy gets.'),
    age,
  ]);
export const validatingBindingColumns = bindingColumns(selectorText);
export const mutatingBindingColumns = bindingColumns(spelledSelector);

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
