// Columns of services and their endpoints.
import { column, wide, tableOf, text, firstOf, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { textAt, numberAt, recordAt, recordsAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { labels } from '../selector-columns.ts';
import { balancedOf } from '../shared-columns.ts';

type Kind = Readonly<JsonObject>;

const shownCount = 3;

export const serviceColumns: TableColumns = tableOf([
  name,
  column('Type', 'string', text('spec.type'), 'How the service is reached.'),
  column('Cluster-IP', 'string', clusterIpOf, 'Address within the cluster.'),
  column('External-IP', 'string', externalIpOf, 'Addresses outside the cluster.'),
  column('Port(s)', 'string', portsOf, 'Ports, with the port on nodes where there is one.'),
  age,
  wide(column('Selector', 'string', labels('spec.selector'), 'Labels of the pods behind it.')),
]);

function clusterIpOf(object: Kind): string {
  const spec = recordAt(object, 'spec');
  return textsAt(spec, 'clusterIPs')[0] ?? (textAt(spec, 'clusterIP') || '<none>');
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

export const endpointsColumns: TableColumns = tableOf([
  name,
  column('Endpoints', 'string', endpointsOf, 'Addresses and ports behind the service.'),
  age,
]);

/** Subsets without a ready address show nothing at all. */
function endpointsOf(object: Kind): string {
  const subsets = recordsAt(object, 'subsets');
  if (subsets.length === 0) return '<none>';
  const all = subsets.flatMap((subset) => {
    const ports = recordsAt(subset, 'ports').map((port) => String(numberAt(port, 'port') ?? 0));
    const addresses = recordsAt(subset, 'addresses').map((address) => textAt(address, 'ip'));
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((address) => hostAndPort(address, port)));
  });
  return firstOf(all, shownCount);
}

const hostAndPort = (host: string, port: string): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
