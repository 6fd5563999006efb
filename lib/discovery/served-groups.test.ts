import { expect, test } from '@jest/globals';
import { widgetResource } from '../codec/testing/sample-types.ts';
import { servedGroups } from './served-groups.ts';
import type { ServedStore } from './served-groups.ts';

const store = (name: string): ServedStore => {
  const [group = '', version = '', resource = ''] = name.split('/');
  const info = { name: 'status', kind: widgetResource.kind, verbs: ['get'] };
  const target = { resource: widgetResource, input: widgetResource, info };
  return {
    resource: { ...widgetResource, group, version, resource },
    subresources: new Map(resource === 'pods' ? [['status', target]] : []),
  };
};
const version = (name: string) => ({ version: name, resources: [] });
const known = [
  { group: '', versions: [version('v1')] },
  { group: 'zoo', versions: [version('v1beta1'), version('v2')] },
  { group: 'idle', versions: [version('v1')] },
];

test('known groups and versions in their order, then the others; nothing without a store', () => {
  const stores = [
    'b.example/v1beta1/things',
    'zoo/v3/tigers',
    'zoo/v2/lions',
    'b.example/v1/things',
    'a.example/v1/things',
    'zoo/v1beta1/lions',
    '/v1/pods',
    'b.example/v1/others',
  ].map(store);
  const groups = servedGroups(known)(stores);
  expect(
    groups.flatMap(({ group, versions }) =>
      versions.map((one) => [group, one.version, one.resources.map(({ resource }) => resource)]),
    ),
  ).toEqual([
    ['', 'v1', ['pods']],
    ['zoo', 'v1beta1', ['lions']],
    ['zoo', 'v2', ['lions']],
    ['zoo', 'v3', ['tigers']],
    ['a.example', 'v1', ['things']],
    ['b.example', 'v1', ['others', 'things']],
    ['b.example', 'v1beta1', ['things']],
  ]);
  expect(groups[0]?.versions[0]?.resources[0]?.subresources.map(({ name }) => name)).toEqual([
    'status',
  ]);
});

test('a group that did not change is the same one', () => {
  const groupsOf = servedGroups(known);
  const [pods, lions, tigers] = [store('/v1/pods'), store('zoo/v2/lions'), store('zoo/v2/tigers')];
  const [core, zoo] = groupsOf([pods, lions]);
  const [coreAgain, more] = groupsOf([pods, lions, tigers]);
  expect(coreAgain).toBe(core);
  expect(more).not.toBe(zoo);
  expect(groupsOf([pods])).toEqual([core]);
});
