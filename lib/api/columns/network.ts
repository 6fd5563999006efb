// Columns of services and what leads to them.
import { entriesAt, numberAt, recordAt, recordsAt, textAt, textsAt } from '../json-access.ts';
import type { JsonObject } from '../type-info.ts';
import type { NamingProfile } from '../vendor.ts';
import { age, at, column, firstOf, joined, name, tableOf, text, wide } from './column.ts';
import type { FilledColumn, TableColumns } from './column.ts';
import { labels, selector } from './selector-text.ts';

type Kind = Readonly<JsonObject>;
const shownCount = 3;

const service = [
  name,
  column('Type', 'string', text('spec.type'), 'How the service is reached.'),
  column('Cluster-IP', 'string', clusterIpOf, 'Address within the cluster.'),
  column('External-IP', 'string', externalIpOf, 'Addresses outside the cluster.'),
  column('Port(s)', 'string', portsOf, 'Ports, with the port on nodes where there is one.'),
  age,
  wide(column('Selector', 'string', labels('spec.selector'), 'Labels of the pods behind it.')),
];

function clusterIpOf(object: Kind): string {
  const spec = recordAt(object, 'spec');
  return textsAt(spec, 'clusterIPs')[0] ?? (textAt(spec, 'clusterIP') || '<none>');
}

/** Addresses that a load balancer got, sorted. */
function balancedOf(object: Kind): string[] {
  const balancer = recordAt(recordAt(object, 'status'), 'loadBalancer');
  const found = recordsAt(balancer, 'ingress').map(
    (ingress) => textAt(ingress, 'ip') || textAt(ingress, 'hostname'),
  );
  return [...new Set(found.filter((address) => address !== ''))].sort();
}

function externalIpOf(object: Kind): string {
  const spec = recordAt(object, 'spec');
  const given = textsAt(spec, 'externalIPs');
  switch (textAt(spec, 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return given.join(',') || '<none>';
    case 'LoadBalancer':
      return [...balancedOf(object), ...given].join(',') || '<pending>';
    case 'ExternalName':
      return textAt(spec, 'externalName');
    default:
      return '<unknown>';
  }
}

function portsOf(object: Kind): string {
  const ports = recordsAt(recordAt(object, 'spec'), 'ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort') ?? 0;
    const onNode = nodePort > 0 ? `:${String(nodePort)}` : '';
    return `${String(numberAt(port, 'port') ?? 0)}${onNode}/${textAt(port, 'protocol')}`;
  });
  return ports.join(',') || '<none>';
}

const endpoints = [
  name,
  column('Endpoints', 'string', endpointsOf, 'Addresses and ports behind the service.'),
  age,
];

function endpointsOf(object: Kind): string {
  const all = recordsAt(object, 'subsets').flatMap((subset) => {
    const ports = recordsAt(subset, 'ports').map((port) => String(numberAt(port, 'port') ?? 0));
    const addresses = recordsAt(subset, 'addresses').map((address) => textAt(address, 'ip'));
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((address) => hostAndPort(address, port)));
  });
  return firstOf(all, shownCount) || '<none>';
}

const hostAndPort = (host: string, port: string): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

const endpointSlice = [
  name,
  column('AddressType', 'string', text('addressType'), 'Kind of the addresses.'),
  column('Ports', 'string', slicePortsOf, 'Ports of the endpoints.'),
  column('Endpoints', 'string', addressesOf, 'Addresses of the endpoints.'),
  age,
];

function slicePortsOf(object: Kind): string {
  const ports = recordsAt(object, 'ports').map((port) => {
    const number = numberAt(port, 'port');
    return number === undefined ? textAt(port, 'name') || '*' : String(number);
  });
  return firstOf(ports, shownCount) || '<unset>';
}

function addressesOf(object: Kind): string {
  const all = recordsAt(object, 'endpoints').flatMap((one) => textsAt(one, 'addresses'));
  return firstOf(all, shownCount) || '<unset>';
}

const ingress = [
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
];

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

/** The object's name, marked when one of the annotations makes it the default of its kind. */
export function defaultableName(annotations: readonly string[]): FilledColumn {
  return {
    definition: name.definition,
    fill(object) {
      const meta = recordAt(object, 'metadata');
      const given = entriesAt(meta, 'annotations');
      const isDefault = given.some(([key, value]) => annotations.includes(key) && value === 'true');
      return textAt(meta, 'name') + (isDefault ? ' (default)' : '');
    },
  };
}

function parentOf(object: Kind): string {
  const parent = at(object, 'spec.parentRef');
  const reference = recordAt({ parent }, 'parent');
  if (reference === undefined) return '<none>';
  const [group, namespace] = [textAt(reference, 'group'), textAt(reference, 'namespace')];
  const resource = textAt(reference, 'resource') + (group === '' ? '' : `.${group}`);
  const place = namespace === '' ? '' : `${namespace}/`;
  return `${resource}/${place}${textAt(reference, 'name')}`;
}

export const networkColumns = (profile: NamingProfile): Readonly<Record<string, TableColumns>> => ({
  'core/Service': tableOf(service),
  'core/Endpoints': tableOf(endpoints),
  'discovery/EndpointSlice': tableOf(endpointSlice),
  'networking/Ingress': tableOf(ingress),
  'networking/IngressClass': tableOf([
    defaultableName([profile.resolve('ingressclass.{kubernetes}.io/is-default-class')]),
    column('Controller', 'string', text('spec.controller'), 'Controller that serves the class.'),
    column('Parameters', 'string', parametersOf, 'Object with the settings of the class.'),
    age,
  ]),
  'networking/NetworkPolicy': tableOf([
    name,
    column('Pod-Selector', 'string', selector('spec.podSelector'), 'Pods that it applies to.'),
    age,
  ]),
  'networking/IPAddress': tableOf([
    name,
    column('ParentRef', 'string', parentOf, 'Object that the address is given to.'),
  ]),
  'networking/ServiceCIDR': tableOf([
    name,
    column('CIDRs', 'string', joined('spec.cidrs', ''), 'Ranges that addresses come from.'),
    age,
  ]),
});
