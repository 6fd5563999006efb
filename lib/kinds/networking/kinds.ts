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
import { validateIpAddress, validateServiceCidr } from './address-validation.ts';
import { validateIngressClass } from './ingress-class-validation.ts';
import { validateIngress } from './ingress-validation.ts';
import { validateNetworkPolicy } from './network-validation.ts';
import { ingressWarnings, networkPolicyWarnings } from './network-warnings.ts';

export const networkingKinds: readonly Kind[] = [
  {
    name: 'networking/Ingress',
    columns: ingressColumns,
    conversions: ingressConversions,
    validate: validateIngress,
    warnings: ingressWarnings,
  },
  {
    name: 'networking/IngressClass',
    columns: ingressClassColumns,
    validate: validateIngressClass,
  },
  {
    name: 'networking/IPAddress',
    columns: ipAddressColumns,
    validate: validateIpAddress,
  },
  {
    name: 'networking/NetworkPolicy',
    columns: networkPolicyColumns,
    defaults: networkPolicyDefaults,
    validate: validateNetworkPolicy,
    warnings: networkPolicyWarnings,
  },
  {
    name: 'networking/ServiceCIDR',
    columns: serviceCidrColumns,
    validate: validateServiceCidr,
  },
];
