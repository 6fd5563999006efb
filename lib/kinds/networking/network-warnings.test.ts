import { expect, test } from '@jest/globals';
import type { ApiObject } from '../../codec/codec.ts';
import { runtimeClassWarnings } from '../node/runtime-class-validation.ts';
import { profile } from '../testing/shown-cells.ts';
import type { Warnings } from '../validator.ts';
import { ingressWarnings, networkPolicyWarnings } from './network-warnings.ts';

const annotations = { 'kubernetes.io/ingress.class': 'a' };
const excepted = ['2001:db8::/64', '2001:DB8:1::/64'];

test.each<[string, Warnings, ApiObject, readonly string[]]>([
  [
    'an ingress with its class in an annotation',
    ingressWarnings,
    { metadata: { annotations }, spec: {} },
    [
      'annotation "kubernetes.io/ingress.class" is deprecated, please use ' +
        "'spec.ingressClassName' instead",
    ],
  ],
  [
    'an ingress with its class in both',
    ingressWarnings,
    { metadata: { annotations }, spec: { ingressClassName: 'a' } },
    [],
  ],
  [
    'a policy with networks that are not canonical',
    networkPolicyWarnings,
    { spec: { egress: [{ to: [{}, { ipBlock: { cidr: '2001:DB8::/32', except: excepted } }] }] } },
    [
      'spec.egress[0].to[1].ipBlock.cidr: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 ' +
        'canonical format ("2001:db8::/32")',
      'spec.egress[0].to[1].ipBlock.except[1]: IPv6 CIDR value "2001:DB8:1::/64" should be in ' +
        'RFC 5952 canonical format ("2001:db8:1::/64")',
    ],
  ],
  [
    'a runtime class with old labels of nodes',
    runtimeClassWarnings,
    {
      scheduling: {
        nodeSelector: { 'beta.kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64' },
      },
    },
    ['scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
])('%s', (_claim, warnings, object, expected) => {
  const write = { object, old: undefined, naming: profile, subresource: '', apiVersion: '' };
  expect(warnings(write)).toEqual(expected);
});
