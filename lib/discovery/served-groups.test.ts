import { expect, test } from '@jest/globals';
import { widgetResource } from '../codec/testing/sample-types.ts';
import type { DiscoveryGroup } from './discovery.ts';
import { ServedGroups } from './served-groups.ts';
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
const groupsOf = (stores: readonly ServedStore[]): readonly DiscoveryGroup[] => {
  const served = new ServedGroups(known);
  served.change([], stores);
  return served.groups;
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
  const groups = groupsOf(stores);
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
  const served = new ServedGroups(known);
  const [pods, lions, tigers] = [store('/v1/pods'), store('zoo/v2/lions'), store('zoo/v2/tigers')];
  served.change([], [pods, lions]);
  const before = served.groups;
  expect(served.groups).toBe(before);
  const [core, zoo] = before;
  served.change([], [tigers]);
  const [coreAgain, more] = served.groups;
  expect(coreAgain).toBe(core);
  expect(more).not.toBe(zoo);
  served.change([lions, tigers], []);
  expect(served.groups).toEqual([core]);
});

test('whatever changes, the order is that of all at once', () => {
  const served = new ServedGroups(known);
  const stores = ['m/v1/x', '/v1/pods', 'z/v1/x', 'a/v1/x', 'zoo/v2/x', 'k/v1/x', 'k/v2/y'].map(
    store,
  );
  const present: ServedStore[] = [];
  for (const one of stores) {
    served.change([], [one]);
    present.push(one);
    expect(served.groups).toEqual(groupsOf(present));
  }
  while (present.length > 0) {
    const [one] = present.splice(present.length >> 1, 1);
    served.change(one === undefined ? [] : [one], []);
    expect(served.groups).toEqual(groupsOf(present));
  }
});

test('what is served but not listed is in no group', () => {
  const listed = store('a.example/v1/things');
  const hidden = store('b.example/v1/things');
  const published = { isListed: false, typeOnce: () => undefined };
  const secret = { ...hidden, resource: { ...hidden.resource, published } };
  const served = new ServedGroups(known);
  served.change([], [listed, secret]);
  expect(served.groups.map(({ group }) => group)).toEqual(['a.example']);
  served.change([secret], [hidden]);
  expect(served.groups.map(({ group }) => group)).toEqual(['a.example', 'b.example']);
});
