// Pods as nodes write them.
import { describe, expect, test } from '@jest/globals';
import { refusedOf } from '../testing/node-writes.ts';

const owner = (change: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  name: 'n1',
  uid: 'node-uid',
  controller: true,
  ...change,
});

const mirror = (spec: object = {}, metadata: object = {}): object => ({
  metadata: {
    name: 'x',
    namespace: 'ns',
    annotations: { 'svc.io/config.mirror': 'hash' },
    ownerReferences: [owner()],
    ...metadata,
  },
  spec: { nodeName: 'n1', containers: [{ name: 'c' }], ...spec },
});

const nodes = [{ metadata: { name: 'n1', uid: 'node-uid' } }];
const pods = [
  { metadata: { name: 'own', namespace: 'ns' }, spec: { nodeName: 'n1' } },
  { metadata: { name: 'other', namespace: 'ns' }, spec: { nodeName: 'n2' } },
  { metadata: { name: 'unbound', namespace: 'ns' }, spec: {} },
];
const known = { memory: { nodes, pods } };
const volume = (source: object): object => ({ volumes: [{ name: 'v', ...source }] });
const projected = (source: object): object => volume({ projected: { sources: [source] } });

describe('a node creates a pod', () => {
  const only = 'node "n1" can only create pods with ';

  test.each<[string, object, string | undefined]>([
    ['that it runs by itself', mirror(), undefined],
    [
      'not any other',
      mirror({}, { annotations: {} }),
      'pod does not have "svc.io/config.mirror" annotation, ' +
        'node "n1" can only create mirror pods',
    ],
    ['not of another node', mirror({ nodeName: 'n2' }), `${only}spec.nodeName set to itself`],
    ['not unbound', mirror({ nodeName: '' }), `${only}spec.nodeName set to itself`],
    [
      'not without an owner',
      mirror({}, { ownerReferences: [] }),
      `${only}an owner reference set to itself`,
    ],
    [
      'not with several',
      mirror({}, { ownerReferences: [owner(), owner()] }),
      `${only}a single owner reference set to itself`,
    ],
    ...[{ name: 'n2' }, { kind: 'Pod' }, { apiVersion: 'v2' }].map(
      (change): [string, object, string] => [
        `not with the owner ${JSON.stringify(change)}`,
        mirror({}, { ownerReferences: [owner(change)] }),
        `${only}an owner reference set to itself`,
      ],
    ),
    [
      'not with an owner that does not control it',
      mirror({}, { ownerReferences: [owner({ controller: false })] }),
      `${only}a controller owner reference set to itself`,
    ],
    [
      'not one that holds up the deletion of its owner',
      mirror({}, { ownerReferences: [owner({ blockOwnerDeletion: true })] }),
      'node "n1" must not set blockOwnerDeletion on an owner reference',
    ],
    [
      'not with the uid of another',
      mirror({}, { ownerReferences: [owner({ uid: 'old' })] }),
      'node n1 UID mismatch: expected old got node-uid',
    ],
  ])('%s', async (_claim, pod, refused) => {
    expect(await refusedOf({ resource: 'pods' }, pod, known)).toBe(refused);
  });

  test('not before it is registered', async () => {
    expect(await refusedOf({ resource: 'pods' }, mirror())).toBe('404 node "n1" not found');
  });

  test.each<[string, object, string]>([
    ['serviceaccounts', { serviceAccountName: 'a' }, 'serviceaccounts'],
    ['pull secrets', { imagePullSecrets: [{ name: 's' }] }, 'secrets'],
    ['secrets', volume({ secret: { secretName: 's' } }), 'secrets'],
    ['secrets that it may do without', volume({ secret: {} }), 'secrets (via secret volumes)'],
    [
      'config maps of an environment',
      { containers: [{ envFrom: [{ configMapRef: { name: 'c' } }] }] },
      'configmaps',
    ],
    [
      'secrets of an init container',
      { initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: 's' } } }] }] },
      'secrets',
    ],
    ['config maps without a name', volume({ configMap: {} }), 'configmaps (via configmap volumes)'],
    ['resource claims (CVE-2025-4563)', { resourceClaims: [{ name: 'r' }] }, 'resourceclaims'],
    ['drivers', volume({ csi: { driver: 'd' } }), 'csidrivers (via CSI volumes)'],
    ['endpoints', volume({ glusterfs: { endpoints: 'e' } }), 'endpoints (via glusterFS volumes)'],
    ['claims', volume({ persistentVolumeClaim: { claimName: 'c' } }), 'persistentvolumeclaims'],
    [
      'claims that are made',
      volume({ ephemeral: {} }),
      'persistentvolumeclaims (via ephemeral volumes)',
    ],
    ['files', volume({ azureFile: { shareName: 's' } }), 'secrets (via azureFile volumes)'],
    ['projected config maps', projected({ configMap: {} }), 'configmaps (via projected volumes)'],
    ['projected secrets', projected({ secret: {} }), 'secrets (via projected volumes)'],
    [
      'tokens',
      projected({ serviceAccountToken: { path: 't' } }),
      'serviceaccounts (via projected volumes)',
    ],
    ['trust', projected({ clusterTrustBundle: {} }), 'clustertrustbundles'],
    ['certificates', projected({ podCertificate: {} }), 'podcertificates'],
  ])('not one that names %s', async (_claim, spec, named) => {
    expect(await refusedOf({ resource: 'pods' }, mirror(spec), known)).toBe(
      `node "n1" can not create pods that reference ${named}`,
    );
  });

  test('with volumes that name nothing', async () => {
    const volumes = [
      { name: 'a', hostPath: { path: '/' } },
      { name: 'b', emptyDir: {} },
      { name: 'c', projected: { sources: [{ downwardAPI: {} }] } },
    ];
    expect(await refusedOf({ resource: 'pods' }, mirror({ volumes }), known)).toBeUndefined();
  });

  test.each([
    [volume({ future: {} }), 'unknown volume type for volume  "v"'],
    [projected({ future: {} }), 'unknown source for projected volume "v"'],
  ])('not with what nobody knows: %j', async (spec, problem) => {
    expect(await refusedOf({ resource: 'pods' }, mirror(spec), known)).toBe(
      `error checking mirror pod for API references: ${problem}`,
    );
  });
});

describe('a node', () => {
  const old = { spec: { nodeName: 'n1' } };
  const foreign = { spec: { nodeName: 'n2' } };

  test.each([
    ['deletes its pods', old, undefined],
    [
      'deletes no others',
      foreign,
      'node "n1" can only delete pods with spec.nodeName set to itself',
    ],
    ['deletes none unbound', {}, 'node "n1" can only delete pods with spec.nodeName set to itself'],
  ])('%s', async (_claim, stored, refused) => {
    const write = { resource: 'pods', operation: 'DELETE', name: 'x', old: stored } as const;
    expect(await refusedOf(write, {})).toBe(refused);
  });

  test('deletes none that cannot be read', async () => {
    expect(await refusedOf({ resource: 'pods', operation: 'DELETE', name: 'x' }, {})).toBe(
      'node "n1" can only delete pods with spec.nodeName set to itself',
    );
  });

  test('updates no pod but for its status', async () => {
    const write = { resource: 'pods', operation: 'UPDATE', name: 'x', old } as const;
    expect(await refusedOf(write, old)).toBe(
      'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
    );
  });

  test.each(['binding', 'ephemeralcontainers', 'resize', 'future'])(
    'does not write pods/%s',
    async (subresource) => {
      const write = { resource: 'pods', operation: 'UPDATE', name: 'x', subresource, old } as const;
      expect(await refusedOf(write, old)).toBe(
        `unexpected pod subresource "${subresource}", only 'status' and 'eviction' are allowed`,
      );
    },
  );

  test.each([
    ['own', undefined],
    ['other', 'node n1 can only evict pods with spec.nodeName set to itself'],
    ['unbound', 'node n1 can only evict pods with spec.nodeName set to itself'],
    ['absent', '404 pod "absent" not found'],
  ])('evicts %s: %s', async (name, refused) => {
    const write = { resource: 'pods', subresource: 'eviction', name };
    expect(await refusedOf(write, { metadata: { name } }, known)).toBe(refused);
  });

  test('evicts the pod that an eviction names', async () => {
    const write = { resource: 'pods', subresource: 'eviction', name: '' };
    expect(await refusedOf(write, {}, known)).toBe('could not determine pod from request data');
    const object = { metadata: { name: 'own' } };
    expect(await refusedOf(write, object, known)).toBeUndefined();
  });
});

describe('the status of a pod', () => {
  const pod = (status: object, metadata: object = {}, nodeName = 'n1'): object => ({
    metadata: { name: 'x', labels: { a: 'b' }, ...metadata },
    spec: { nodeName },
    status,
  });
  const claims = [{ name: 'gpu', resourceClaimName: 'made' }];
  const extended = { resourceClaimName: 'made', requestMappings: [] };

  test.each<[string, object, object, string | undefined]>([
    ['of its own pod', pod({ phase: 'Running' }), pod({}), undefined],
    [
      'of another pod',
      pod({ phase: 'Running' }, {}, 'n2'),
      pod({}, {}, 'n2'),
      'node "n1" can only update pod status for pods with spec.nodeName set to itself',
    ],
    [
      'of one that says it is its own now',
      pod({ phase: 'Running' }),
      pod({}, {}, 'n2'),
      'node "n1" can only update pod status for pods with spec.nodeName set to itself',
    ],
    [
      'with labels',
      pod({}, { labels: { a: 'c' } }),
      pod({}),
      'node "n1" cannot update labels through pod status',
    ],
    [
      'with resource claims that would be readable (CVE-2025-4563)',
      pod({ resourceClaimStatuses: claims }),
      pod({}),
      'node "n1" cannot update resource claim statues',
    ],
    [
      'with other resource claims',
      pod({ resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'other' }] }),
      pod({ resourceClaimStatuses: claims }),
      'node "n1" cannot update resource claim statues',
    ],
    [
      'with the same resource claims',
      pod({ resourceClaimStatuses: claims, extendedResourceClaimStatus: extended }),
      pod({ resourceClaimStatuses: claims, extendedResourceClaimStatus: extended }),
      undefined,
    ],
    [
      'with a claim of extended resources',
      pod({ extendedResourceClaimStatus: extended }),
      pod({}),
      'node "n1" cannot update extended resource claim status',
    ],
  ])('%s', async (_claim, object, old, refused) => {
    const write = { resource: 'pods', operation: 'UPDATE', subresource: 'status', old } as const;
    expect(await refusedOf(write, object)).toBe(refused);
  });

  test('is not created', async () => {
    const write = { resource: 'pods', subresource: 'status', name: 'x' };
    expect(await refusedOf(write, pod({}))).toBe('unexpected operation "CREATE"');
  });
});
