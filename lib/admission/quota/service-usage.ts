// What a service takes of quotas: itself, its load balancer, and the ports that nodes keep for it.
import { recordAt, recordsAt, textAt, numberAt } from '../../api/json-access.ts';
import { wholeQuantity } from '../../api/quantity.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { Amounts } from '../../kinds/core/container-totals.ts';
import { one } from './measure.ts';

const names: ReadonlySet<string> = new Set([
  'services',
  'count/services',
  'services.loadbalancers',
  'services.nodeports',
]);

export const isServiceName = (name: string): boolean => names.has(name);

export function serviceUsage(service: Readonly<ApiObject>): Amounts {
  const spec = recordAt(service, 'spec');
  const loadBalancers = textAt(spec, 'type') === 'LoadBalancer' ? 1 : 0;
  return new Map([
    ['services', one],
    ['count/services', one],
    ['services.loadbalancers', wholeQuantity(loadBalancers)],
    ['services.nodeports', wholeQuantity(nodePortCount(spec))],
  ]);
}

/** A load balancer gets a port of the nodes for each of its own, unless it does without. */
function nodePortCount(spec: JsonObject | undefined): number {
  const ports = recordsAt(spec, 'ports');
  switch (textAt(spec, 'type')) {
    case 'NodePort':
      return ports.length;
    case 'LoadBalancer':
      return spec?.['allocateLoadBalancerNodePorts'] === false
        ? ports.filter((port) => (numberAt(port, 'nodePort') ?? 0) !== 0).length
        : ports.length;
    default:
      return 0;
  }
}
