import { expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { warningsOf } from './testing/warnings-of.ts';

const volumes = (source: JsonObject): JsonObject => ({ volumes: [{ name: 'v', ...source }] });
const token = (path: string): JsonObject => ({ serviceAccountToken: { path } });
const secret = (name: string, path: string): JsonObject => ({
  secret: { name, items: [{ path }] },
});

test.each<[string, JsonObject, readonly string[]]>([
  [
    'pods',
    { spec: volumes({ projected: { sources: [{}] } }) },
    ['volume "v" (Projected) has no sources provided'],
  ],
  [
    'pods',
    { spec: volumes({ projected: { sources: [token('a/b'), secret('s', 'a'), token('c')] } }) },
    [
      'volume "v" (Projected): overlapping paths: "a" (Secret "s") with "a/b" ' +
        '(ServiceAccountToken)',
    ],
  ],
  [
    'pods',
    { spec: volumes({ configMap: { name: 'm', items: [{ path: 'a' }, { path: 'a/' }] } }) },
    ['volume "v" (ConfigMap "m"): overlapping paths: "a" with "a"'],
  ],
  [
    'statefulsets',
    {
      spec: {
        volumeClaimTemplates: [{ spec: { resources: { requests: { storage: '1500m' } } } }],
      },
    },
    [
      'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" ' +
        'is invalid, must be an integer',
    ],
  ],
  [
    'persistentvolumes',
    { spec: { storageos: {}, flocker: {}, persistentVolumeReclaimPolicy: 'Recycle' } },
    [
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, ' +
        'the recommended approach is to use dynamic provisioning.',
      'spec.storageOS: deprecated in v1.22, non-functional in v1.25+',
    ],
  ],
  [
    'persistentvolumeclaims',
    {
      metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'a' } },
      spec: { resources: { requests: { storage: '1500m' } } },
    },
    [
      'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use ' +
        '"storageClassName" attribute instead',
      'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an ' +
        'integer',
    ],
  ],
  [
    'storageclasses',
    { allowedTopologies: [{ matchLabelExpressions: [{ key: 'beta.kubernetes.io/os' }] }] },
    [
      'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.14; use ' +
        '"kubernetes.io/os" instead',
    ],
  ],
  [
    'csistoragecapacities',
    { nodeTopology: { matchLabels: { 'failure-domain.beta.kubernetes.io/zone': 'a' } } },
    [
      'nodeTopology.matchLabels.failure-domain.beta.kubernetes.io/zone: deprecated since v1.17; ' +
        'use "topology.kubernetes.io/zone" instead',
    ],
  ],
])('a new one of %s with %j', (resource, object, expected) => {
  expect(warningsOf(resource, object)).toEqual(expected);
});

test('a driver is warned of its tokens when they change', () => {
  const driver = (audience: string, extra: JsonObject = {}): JsonObject => ({
    spec: { tokenRequests: [{ audience }], ...extra },
  });
  expect(warningsOf('csidrivers', driver('a'))).toHaveLength(1);
  expect(warningsOf('csidrivers', driver('a'), driver('a'))).toEqual([]);
  expect(warningsOf('csidrivers', driver('b'), driver('a'))).toHaveLength(1);
  expect(warningsOf('csidrivers', driver('a', { serviceAccountTokenInSecrets: false }))).toEqual(
    [],
  );
});
