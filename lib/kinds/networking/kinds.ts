// The kinds of networking: one record each.
import type { Kind } from '../kind.ts';
import {
  ingressClassColumns,
  ingressColumns,
  ipAddressColumns,
  networkPolicyColumns,
  serviceCidrColumns,
} from './columns.ts';
import { ingressConversions } from './conversion.ts';
import { networkPolicyDefaults } from './defaults.ts';
import { validateIngress, validateIngressClass } from './ingress-validation.ts';
import { validateNetworkPolicy, validateServiceCidr } from './network-validation.ts';

export const networkingKinds: readonly Kind[] = [
  {
    name: 'networking/Ingress',
    columns: ingressColumns,
    conversions: ingressConversions,
    validate: validateIngress,
  },
  {
    name: 'networking/IngressClass',
    columns: ingressClassColumns,
    validate: validateIngressClass,
  },
  {
    name: 'networking/IPAddress',
    columns: ipAddressColumns,
  },
  {
    name: 'networking/NetworkPolicy',
    columns: networkPolicyColumns,
    defaults: networkPolicyDefaults,
    validate: validateNetworkPolicy,
  },
  {
    name: 'networking/ServiceCIDR',
    columns: serviceCidrColumns,
    validate: validateServiceCidr,
  },
];
