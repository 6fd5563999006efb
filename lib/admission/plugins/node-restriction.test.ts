// Whom NodeRestriction restricts, and what nodes write of themselves, their leases and storage.
import { describe, expect, test } from '@jest/globals';
import { nodeUser, refusedOf } from '../testing/node-writes.ts';
import { resourceOf } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import { nodeRestriction } from './node-restriction.ts';

const node = (labels: object = {}, more: object = {}, metadata: object = {}): object => ({
  metadata: { name: 'n1', labels, ...metadata },
  ...more,
});

describe('who is restricted', () => {
  const foreign = { resource: 'nodes', operation: 'UPDATE', name: 'n2', old: node() } as const;

  test.each([
    ['a node', nodeUser('n1'), 'node "n1" is not allowed to modify node "n2"'],
    ['not without the group', { ...nodeUser('n1'), groups: ['other'] }, undefined],
    ['not without the prefix', { ...nodeUser('n1'), name: 'n1' }, undefined],
    ['a node without a name', nodeUser(''), 'could not determine node from user "system:node:"'],
  ])('p.NodeRestriction: %s', async (_claim, user, refused) => {
    expect(await refusedOf({ ...foreign, user }, node())).toBe(refused);
  });

  test('a node without a name writes nothing at all', async () => {
    const write = { resource: 'configmaps', name: 'x', user: nodeUser('') };
    expect(await refusedOf(write, {})).toMatch(/^could not determine node from user/);
  });

  test('resources that it does not know are for authorization to decide', async () => {
    expect(await refusedOf({ resource: 'events', name: 'x' }, {})).toBeUndefined();
  });

  test('the refusal is a 403 of what is written', async () => {
    const change = { resource: resourceOf('nodes'), namespace: '', user: nodeUser('n1') };
    const { refused } = await admit(nodeRestriction, {}, node(), { ...change, name: 'n9' });
    expect(refused).toBe(
      '403 nodes "n9" is forbidden: node "n1" is not allowed to modify node "n9"',
    );
  });
});

describe('a node creates itself', () => {
  const create = { resource: 'nodes', operation: 'CREATE', name: 'n1' } as const;
  const set = 'node "n1" is not allowed to set the following labels: ';

  test.each([
    ['with labels of its own', { 'example.com/a': 'b', a: 'b' }, undefined],
    [
      'with labels that nodes set',
      {
        'svc.io/hostname': 'n1',
        'svc.io/os': 'linux',
        'svc.io/arch': 'amd64',
        'node.svc.io/instance-type': 'x',
        'topology.svc.io/zone': 'z',
        'topology.svc.io/region': 'r',
        'failure-domain.beta.svc.io/zone': 'z',
        'beta.svc.io/os': 'linux',
        'kubelet.svc.io/x': '',
        'a.kubelet.svc.io/x': '',
        'node.svc.io/x': '',
      },
      undefined,
    ],
    [
      'not with labels of administrators',
      { 'node-restriction.svc.io/b': '', 'a.node-restriction.svc.io/a': '' },
      `${set}a.node-restriction.svc.io/a, node-restriction.svc.io/b`,
    ],
    ['not with others of the system', { 'svc.io/x': '' }, `${set}svc.io/x`],
    [
      'not with a role',
      { 'node-role.svc.io/control-plane': '' },
      `${set}node-role.svc.io/control-plane`,
    ],
    ['with what looks alike', { 'notsvc.io/x': '', 'svc.io.example.com/x': '' }, undefined],
  ])('%s', async (_claim, labels, refused) => {
    expect(await refusedOf(create, node(labels))).toBe(refused);
  });

  test('without a source of its configuration', async () => {
    const made = node({}, { spec: { configSource: { configMap: {} } } });
    expect(await refusedOf(create, made)).toBe(
      'node "n1" is not allowed to create pods with a non-nil configSource',
    );
  });

  test('by its name, not by one that is made', async () => {
    const write = { ...create, name: '' };
    expect(await refusedOf(write, { metadata: { generateName: 'n' } })).toBe(
      'node "n1" is not allowed to modify node ""',
    );
  });
});

describe.each(['', 'status'])('a node updates itself, subresource "%s"', (subresource) => {
  const update = { resource: 'nodes', operation: 'UPDATE', name: 'n1', subresource } as const;
  const taints = [{ key: 'a', effect: 'NoSchedule' }];
  const source = { configMap: { name: 'a' } };
  const owners = [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u' }];

  test.each([
    ['its status', node({}, { status: { phase: 'Running' } }), node(), undefined],
    ['its own labels', node({ 'example.com/x': 'y' }), node(), undefined],
    [
      'no labels of administrators',
      node({ 'node-restriction.svc.io/x': 'y' }),
      node(),
      'is not allowed to modify labels: node-restriction.svc.io/x',
    ],
    [
      'nor removes them',
      node(),
      node({ 'node-restriction.svc.io/x': 'y' }),
      'is not allowed to modify labels: node-restriction.svc.io/x',
    ],
    [
      'nor changes those of the system',
      node({ 'svc.io/x': 'b', 'svc.io/w': '' }),
      node({ 'svc.io/x': 'a' }),
      'is not allowed to modify labels: svc.io/w, svc.io/x',
    ],
    ['not those that stay', node({ 'svc.io/x': 'a' }), node({ 'svc.io/x': 'a' }), undefined],
    [
      'no taints',
      node({}, { spec: { taints } }),
      node(),
      'node "n1" is not allowed to modify taints',
    ],
    [
      'nor removes them',
      node({}, { spec: { taints: [] } }),
      node({}, { spec: { taints } }),
      'node "n1" is not allowed to modify taints',
    ],
    ['taints that stay', node({}, { spec: { taints } }), node({}, { spec: { taints } }), undefined],
    [
      'no source of its configuration',
      node({}, { spec: { configSource: source } }),
      node(),
      'node "n1" is not allowed to update configSource to a new non-nil configSource',
    ],
    ['but may drop it', node(), node({}, { spec: { configSource: source } }), undefined],
    [
      'no owners, by which it would be deleted and come again without taints (CVE-2025-5187)',
      node({}, {}, { ownerReferences: owners }),
      node(),
      'node "n1" is not allowed to modify ownerReferences',
    ],
    [
      'nor removes them',
      node(),
      node({}, {}, { ownerReferences: owners }),
      'node "n1" is not allowed to modify ownerReferences',
    ],
  ])('%s', async (_claim, object, old, refused) => {
    expect(await refusedOf({ ...update, old }, object)).toBe(refused);
  });
});

describe('a node deletes', () => {
  test.each([
    ['nodes', '', 'n2', { metadata: {} }, 'node "n1" is not allowed to modify node "n2"'],
    [
      'csinodes',
      'storage.{v}',
      'n2',
      {},
      'can only access CSINode with the same name as the requesting node',
    ],
    ['csinodes', 'storage.{v}', 'n1', {}, undefined],
    [
      'resourceslices',
      'resource.{v}',
      's',
      { spec: { nodeName: 'n2' } },
      'can only delete ResourceSlice with the same NodeName as the requesting node',
    ],
    [
      'resourceslices',
      'resource.{v}',
      's',
      { spec: { allNodes: true } },
      'can only delete ResourceSlice with the same NodeName as the requesting node',
    ],
    ['resourceslices', 'resource.{v}', 's', { spec: { nodeName: 'n1' } }, undefined],
  ])('%s %s %s of %j: %s', async (resource, group, name, old, refused) => {
    const write = { resource, group, name, old, operation: 'DELETE' } as const;
    expect(await refusedOf(write, {})).toBe(refused);
  });
});

describe.each(['CREATE', 'UPDATE'] as const)('%s of', (operation) => {
  test.each([
    ['leases', 'svc-node-lease', 'n1', undefined],
    [
      'leases',
      'svc-node-lease',
      'n2',
      'can only access node lease with the same name as the requesting node',
    ],
    ['leases', 'ns', 'n1', 'can only access leases in the "svc-node-lease" system namespace'],
    ['csinodes', '', 'n1', undefined],
    ['csinodes', '', 'n2', 'can only access CSINode with the same name as the requesting node'],
  ])('%s %s/%s: %s', async (resource, namespace, name, refused) => {
    const group = resource === 'leases' ? 'coordination.{v}' : 'storage.{v}';
    const write = { resource, group, namespace, name, operation, old: {} };
    expect(await refusedOf(write, { metadata: { name } })).toBe(refused);
  });
});

test.each([
  [{ nodeName: 'n1' }, undefined],
  [
    { nodeName: 'n2' },
    'can only create ResourceSlice with the same NodeName as the requesting node',
  ],
  [
    { allNodes: true },
    'can only create ResourceSlice with the same NodeName as the requesting node',
  ],
])('a new slice of devices %j: %s', async (spec, refused) => {
  const write = { resource: 'resourceslices', group: 'resource.{v}', name: 's' };
  expect(await refusedOf(write, { spec })).toBe(refused);
});

describe('a claim of a volume', () => {
  const claim = (status: object, metadata: object = {}, spec: object = {}): object => ({
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c', resourceVersion: '1', ...metadata },
    spec: { volumeName: 'pv', ...spec },
    status: { phase: 'Bound', ...status },
  });
  const update = { resource: 'persistentvolumeclaims', name: 'c', operation: 'UPDATE' } as const;
  const only =
    'node "n1" is not allowed to update fields other than status.quantity and status.conditions';

  test.each([
    ['what its expansion is', claim({ capacity: { storage: '2Gi' } }), undefined],
    ['conditions', claim({ conditions: [{ type: 'Resizing', status: 'True' }] }), undefined],
    [
      'what is allocated',
      claim({
        allocatedResources: { storage: '2Gi' },
        allocatedResourceStatuses: { storage: 'x' },
      }),
      undefined,
    ],
    [
      'what the server notes',
      claim({}, { resourceVersion: '2', managedFields: [{ operation: 'Update' }] }),
      undefined,
    ],
    ['not its phase', claim({ phase: 'Lost' }), only],
    ['not its modes', claim({ accessModes: ['ReadOnlyMany'] }), only],
    ['not its labels', claim({}, { labels: { a: 'b' } }), only],
    ['not its finalizers', claim({}, { finalizers: ['a/b'] }), only],
    ['not its spec', claim({}, {}, { volumeName: 'other' }), only],
  ])('%s', async (_claim, object, refused) => {
    const write = { ...update, subresource: 'status', old: claim({}) };
    expect(await refusedOf(write, object)).toBe(refused);
  });

  test.each(['CREATE', 'UPDATE', 'DELETE'] as const)('is not for nodes: %s', async (operation) => {
    const write = { ...update, operation, old: claim({}) };
    expect(await refusedOf(write, claim({}))).toBe('may only update PVC status');
  });
});
