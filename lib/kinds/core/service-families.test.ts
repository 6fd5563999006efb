import { describe, expect, test } from '@jest/globals';
import type { IpFamily } from '../../api/ip-address.ts';
import { textAt, textsAt } from '../../api/json-access.ts';
import { cloneJson } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { completeOldSpec, settleFamilies } from './service-families.ts';

const [v4, v6]: readonly [IpFamily, IpFamily] = ['IPv4', 'IPv6'];
const type = 'ClusterIP';
const selector = { app: 'a' };
const headless = { type, clusterIP: 'None', clusterIPs: ['None'] };

/** `policy: families`, or the fields that are refused. */
function settled(given: JsonObject, old: JsonObject | undefined, families: IpFamily[]): string {
  const spec = cloneJson(given);
  const errors = settleFamilies(spec, old, families);
  if (errors.length > 0) return errors.map(({ field }) => field).join(' ');
  return `${textAt(spec, 'ipFamilyPolicy')}: ${textsAt(spec, 'ipFamilies').join()}`;
}

const both = [v4, v6];
const prefer = { type, ipFamilyPolicy: 'PreferDualStack' };
const require = { type, ipFamilyPolicy: 'RequireDualStack' };
const single = { type, ipFamilyPolicy: 'SingleStack' };

describe('a new service', () => {
  test.each<[string, JsonObject, IpFamily[], string]>([
    ['has one family, the default one', { type }, both, 'SingleStack: IPv4'],
    ['has the family of the first network', { type }, [v6, v4], 'SingleStack: IPv6'],
    ['has the family of its address', addressed('fd00::1'), both, 'SingleStack: IPv6'],
    ['has two where it prefers two', prefer, both, 'PreferDualStack: IPv4,IPv6'],
    ['has one where there is one network', prefer, [v4], 'PreferDualStack: IPv4'],
    ['keeps the order', { ...require, ipFamilies: [v6] }, both, 'RequireDualStack: IPv6,IPv4'],
    ['cannot require two of one network', require, [v4], 'spec.ipFamilyPolicy'],
    ['cannot have a family of no network', { type, ipFamilies: [v6] }, [v4], 'spec.ipFamilies[0]'],
    ['cannot have an address of no network', addressed('fd00::1'), [v4], 'spec.clusterIPs[0]'],
    [
      'cannot have two of a single stack',
      { ...single, ipFamilies: both },
      both,
      'spec.ipFamilyPolicy',
    ],
    ['needs a policy for two', { type, ipFamilies: both }, both, 'spec.ipFamilyPolicy'],
    ['without address and selector has both', headless, [v4], 'RequireDualStack: IPv4,IPv6'],
    ['without address has one', { ...headless, selector }, both, 'SingleStack: IPv4'],
    [
      'without address has both where it requires them',
      { ...headless, ...require, selector },
      both,
      'RequireDualStack: IPv4,IPv6',
    ],
    ['of a name elsewhere has none', { type: 'ExternalName' }, both, ': '],
  ])('%s', (_claim, spec, families, expected) => {
    expect(settled(spec, undefined, families)).toBe(expected);
  });
});

function addressed(...clusterIPs: string[]): JsonObject {
  return { type, clusterIP: clusterIPs[0] ?? '', clusterIPs };
}

describe('a changed service', () => {
  const one = { ...addressed('10.0.0.1'), ipFamilies: [v4], ipFamilyPolicy: 'SingleStack' };
  const two = { ...addressed('10.0.0.1', 'fd00::1'), ipFamilies: both };
  const dual = { ...two, ipFamilyPolicy: 'RequireDualStack' };
  test.each<[string, JsonObject, JsonObject, string]>([
    ['keeps its policy', addressed('10.0.0.1'), one, 'SingleStack: IPv4'],
    [
      'gets the other family with its policy',
      { ...one, ipFamilyPolicy: 'PreferDualStack' },
      one,
      'PreferDualStack: IPv4,IPv6',
    ],
    [
      'that prefers two and has one keeps one, although there are two networks',
      { ...one, ipFamilyPolicy: 'PreferDualStack' },
      { ...one, ipFamilyPolicy: 'PreferDualStack' },
      'PreferDualStack: IPv4',
    ],
    [
      'releases a family by its policy alone',
      { ...dual, ipFamilies: [v4], clusterIPs: ['10.0.0.1'] },
      dual,
      'spec.ipFamilyPolicy spec.ipFamilyPolicy',
    ],
    [
      'comes from a name elsewhere',
      { type },
      { type: 'ExternalName', externalName: 'x' },
      'SingleStack: IPv4',
    ],
  ])('%s', (_claim, spec, old, expected) => {
    expect(settled(spec, old, both)).toBe(expected);
  });
});

test.each<[string, JsonObject, JsonObject]>([
  [
    'its only address',
    { type, clusterIP: 'fd00::1' },
    { clusterIPs: ['fd00::1'], ipFamilies: [v6] },
  ],
  [
    'two addresses',
    addressed('10.0.0.1', 'fd00::1'),
    { ipFamilies: both, ipFamilyPolicy: 'RequireDualStack' },
  ],
  [
    'no address and no selector',
    headless,
    { ipFamilies: both, ipFamilyPolicy: 'RequireDualStack' },
  ],
  ['no address', { ...headless, selector }, { ipFamilies: [v4], ipFamilyPolicy: 'SingleStack' }],
])('a service of an older server is compared with what it means: %s', (_what, spec, expected) => {
  expect(completeOldSpec(spec, both)).toMatchObject(expected);
});
