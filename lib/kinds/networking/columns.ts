// Columns of ingresses, network policies and addresses.
import { column, tableOf, text, joined, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { selector } from '../selector-columns.ts';
import { balancedOf, defaultableName } from '../shared-columns.ts';

type Kind = Readonly<JsonObject>;

const shownCount = 3;

export const ingressColumns: TableColumns = tableOf([
  name,
  column(
    'Class',
    'string',
    text('spec.ingressClassName', '<none>'),
    'Class whose controller serves it.',
  ),
  column('Hosts', 'string', hostsOf, 'Host names of the rules.'),
  column(
    'Address',
    'string',
    (object) => balancedOf(object).join(','),
    'Addresses of the load balancer.',
  ),
  column('Ports', 'string', ingressPortsOf, 'Ports that are open.'),
  age,
]);

/** What is left out counts rules, with and without a host. */
function hostsOf(object: Kind): string {
  const rules = recordsAt(recordAt(object, 'spec'), 'rules');
  const hosts: string[] = [];
  let isCut = false;
  for (const rule of rules) {
    const host = textAt(rule, 'host');
    if (hosts.length === shownCount) isCut = true;
    else if (host !== '') hosts.push(host);
  }
  if (hosts.length === 0) return '*';
  const rest = isCut ? ` + ${String(rules.length - shownCount)} more...` : '';
  return hosts.join(',') + rest;
}

function ingressPortsOf(object: Kind): string {
  return recordsAt(recordAt(object, 'spec'), 'tls').length > 0 ? '80, 443' : '80';
}

function parametersOf(object: Kind): string {
  const reference = recordAt(recordAt(object, 'spec'), 'parameters');
  if (reference === undefined) return '<none>';
  const group = textAt(reference, 'apiGroup');
  const kind = textAt(reference, 'kind') + (group === '' ? '' : `.${group}`);
  return `${kind}/${textAt(reference, 'name')}`;
}

function parentOf(object: Kind): string {
  const reference = recordIn(object, 'spec', 'parentRef');
  if (reference === undefined) return '<none>';
  const [group, namespace] = [textAt(reference, 'group'), textAt(reference, 'namespace')];
  const resource = textAt(reference, 'resource') + (group === '' ? '' : `.${group}`);
  const place = namespace === '' ? '' : `${namespace}/`;
  return `${resource}/${place}${textAt(reference, 'name')}`;
}

export const ingressClassColumns = (profile: NamingProfile): TableColumns =>
  tableOf([
    defaultableName([profile.resolve('ingressclass.{kubernetes}.io/is-default-class')]),
    column('Controller', 'string', text('spec.controller'), 'Controller that serves the class.'),
    column('Parameters', 'string', parametersOf, 'Object with the settings of the class.'),
    age,
  ]);

export const networkPolicyColumns: TableColumns = tableOf([
  name,
  column('Pod-Selector', 'string', selector('spec.podSelector'), 'Pods that it applies to.'),
  age,
]);

const ipAddressCells = tableOf([
  name,
  column('ParentRef', 'string', parentOf, 'Object that the address is given to.'),
  age,
]);

/** Rows end with the age, for which no column is defined. */
export const ipAddressColumns: TableColumns = {
  ...ipAddressCells,
  definitions: ipAddressCells.definitions.slice(0, -1),
};

export const serviceCidrColumns: TableColumns = tableOf([
  name,
  column('CIDRs', 'string', joined('spec.cidrs', ''), 'Ranges that addresses come from.'),
  age,
]);
