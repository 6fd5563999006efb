// What the fields of built-in kinds are selected by.
import { describe, expect, test } from '@jest/globals';
import { selectableFields, storedFieldPath } from '../api/selectable-fields.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { builtInScheme } from './built-in-kinds.ts';

const scheme = builtInScheme({ profile: namingProfile('svc') });
const resource = (name: string, group = '', version = 'v1'): ResourceInfo => {
  const found = scheme.resource({ group, version, resource: name });
  if (found === undefined) throw new Error(name);
  return found;
};

describe('selectable values of', () => {
  test.each<[string, string, JsonObject, Record<string, string>]>([
    ['', 'pods', { spec: {} }, { 'spec.hostNetwork': 'false' }],
    [
      '',
      'pods',
      {
        spec: { nodeName: 'n', hostNetwork: true },
        status: { phase: 'Running', podIP: '1.1.1.1', podIPs: [{ ip: '2.2.2.2' }] },
      },
      {
        'spec.nodeName': 'n',
        'spec.hostNetwork': 'true',
        'status.phase': 'Running',
        'status.podIP': '2.2.2.2',
      },
    ],
    ['', 'nodes', {}, { 'spec.unschedulable': 'false' }],
    ['', 'secrets', { type: 'Opaque' }, { type: 'Opaque' }],
    [
      '',
      'events',
      { source: {}, reportingComponent: 'c' },
      { source: 'c', reportingComponent: 'c' },
    ],
    [
      '',
      'events',
      { source: { component: 's' }, involvedObject: { kind: 'Pod' } },
      { source: 's', 'involvedObject.kind': 'Pod' },
    ],
    ['batch', 'jobs', { status: { succeeded: 3 } }, { 'status.successful': '3' }],
    ['batch', 'jobs', {}, { 'status.successful': '0' }],
    ['', 'replicationcontrollers', { status: { replicas: 2 } }, { 'status.replicas': '2' }],
    ['', 'configmaps', { data: { a: 'b' } }, {}],
  ])('%s %s', (group, name, object, values) => {
    expect(selectableFields(object, resource(name, group))).toEqual(values);
  });
  test('events of the newer group are found by the stored names', () => {
    const event = resource('events', 'events.svc.io');
    const stored = resource('events');
    const paths = event.fieldSelectors.map((path) => storedFieldPath(event, stored, path));
    expect(paths.filter((path) => !stored.fieldSelectors.includes(path))).toEqual([]);
    expect(storedFieldPath(event, stored, 'regarding.uid')).toBe('involvedObject.uid');
  });
});
