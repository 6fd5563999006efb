import { expect, test } from '@jest/globals';
import { admit, partsOf } from '../testing/cluster.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';

const zone = 'topology.svc.io/zone';
const region = 'topology.svc.io/region';
const labels = { [zone]: 'z', [region]: 'r', 'topology.svc.io/rack': '1', other: 'x' };
const nodes = { nodes: [{ metadata: { name: 'n', labels } }] };
const own = { [zone]: 'mine', a: 'b' };
const pod = (nodeName?: string): object => ({ metadata: { labels: own }, spec: { nodeName } });
const binding = (target: object): object => ({ metadata: { labels: own }, target });

test.each([
  ['a pod on a node has its zone and region', pod('n'), '', { ...own, [zone]: 'z', [region]: 'r' }],
  ['a pod on no node keeps its own', pod(), '', own],
  ['a pod on a node that is not there yet keeps its own', pod('m'), '', own],
  [
    'a binding says those of the node',
    binding({ kind: 'Node', name: 'n' }),
    'binding',
    { ...own, [zone]: 'z', [region]: 'r' },
  ],
  ['a binding to something else says its own', binding({ name: 'n' }), 'binding', own],
])('p.PodTopologyLabels: %s', async (_claim, object, subresource, expected) => {
  const change = { subresource };
  const admitted = await admit(podTopologyLabels, { memory: nodes }, object, change);
  expect(admitted.object.metadata?.labels).toEqual(expected);
  expect(admitted.isChanged).toBe(expected !== own);
  const again = await admit(podTopologyLabels, { memory: nodes }, admitted.object, change);
  expect(again.isChanged).toBe(false);
});

test('p.PodTopologyLabels: not without its gate', () => {
  const gatesOff = ['PodTopologyLabelsAdmission'];
  expect(podTopologyLabels(partsOf({ gatesOff }))).toBeUndefined();
});
