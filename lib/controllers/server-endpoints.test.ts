import { describe, expect, test } from '@jest/globals';
import { slicesOf, subsetsOf } from './server-endpoints.ts';

const at = (ip: string, port = 6443) => ({ ip, port });
const port = (number: number) => [{ name: 'https', port: number, protocol: 'TCP' }];

describe('replicas', () => {
  test.each([
    ['nobody', [], []],
    [
      'one port, in any order',
      [at('10.0.0.2'), at('10.0.0.1'), at('10.0.0.2')],
      [{ addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], ports: port(6443) }],
    ],
    [
      'several ports on one address',
      [at('10.0.0.1', 7001), at('10.0.0.1', 7000), at('10.0.0.2', 7001)],
      [
        { addresses: [{ ip: '10.0.0.1' }], ports: port(7000) },
        { addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], ports: port(7001) },
      ],
    ],
    [
      'both families',
      [at('fd00::1'), at('10.0.0.1')],
      [{ addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], ports: port(6443) }],
    ],
  ])('as subsets: %s', (_name, replicas, subsets) => {
    expect(subsetsOf(replicas)).toEqual(subsets);
  });

  test.each<[string, Parameters<typeof slicesOf>[0], readonly (readonly string[])[]]>([
    ['nobody', [], []],
    ['one port', [at('10.0.0.2'), at('10.0.0.1')], [['svc', 'IPv4', '10.0.0.1', '10.0.0.2']]],
    ['IPv6 alone', [at('fd00::1')], [['svc', 'IPv6', 'fd00::1']]],
    [
      'two ports and families: the first slice has the name of the Service',
      [at('fd00::1'), at('10.0.0.1', 7001), at('10.0.0.1', 7000)],
      [
        ['svc', 'IPv4', '10.0.0.1'],
        ['svc-ipv4-7001', 'IPv4', '10.0.0.1'],
        ['svc-ipv6-6443', 'IPv6', 'fd00::1'],
      ],
    ],
  ])('as slices: %s', (_name, replicas, slices) => {
    const made = slicesOf(replicas, 'svc').map(({ name, content }) => [
      name,
      content.addressType,
      ...content.endpoints.flatMap(({ addresses }) => addresses as string[]),
    ]);
    expect(made).toEqual(slices);
  });
});
