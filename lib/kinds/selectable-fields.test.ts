// What the fields of built-in kinds are selected by.
import { describe, expect, test } from '@jest/globals';
import { comparedText, selectableFields, storedRequirement } from '../api/selectable-fields.ts';
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
    const storedAs = resource('events');
    const storedPath = (path: string): string =>
      storedRequirement({ path, operator: '=', value: '' }, { resource: event, storedAs }).path;
    const paths = event.fieldSelectors.map(storedPath);
    expect(paths.filter((path) => !storedAs.fieldSelectors.includes(path))).toEqual([]);
    expect(storedPath('regarding.uid')).toBe('involvedObject.uid');
  });
  test('long ones are compared by short stand-ins, which no text can be', () => {
    const secrets = resource('secrets');
    const [long, other] = ['x'.repeat(70_000), `${'x'.repeat(69_999)}y`];
    const { type = '' } = selectableFields({ type: long }, secrets);
    expect(type.length).toBeLessThan(100);
    expect(type.isWellFormed()).toBe(false);
    expect(comparedText(type)).toBe(type);
    const requirement = { path: 'type', operator: '=', value: long } as const;
    const of = { resource: secrets, storedAs: secrets };
    expect(storedRequirement(requirement, of)).toEqual({ ...requirement, value: type });
    expect(selectableFields({ type: other }, secrets)).not.toEqual({ type });
    const name = { path: 'metadata.name', operator: '=', value: 'x'.repeat(1_024) } as const;
    expect(storedRequirement(name, of)).toEqual(name);
  });
});
