// The small plugins that complete pods and nodes, or look at one member of them.
import { describe, expect, test } from '@jest/globals';
import { resourceOf } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { denyServiceExternalIps } from './deny-service-external-ips.ts';
import { extendedResourceToleration } from './extended-resource-toleration.ts';
import { hardAntiAffinity } from './hard-anti-affinity.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition.ts';

const noExecute = { operator: 'Exists', effect: 'NoExecute' };
const notReady = { key: 'node.svc.io/not-ready', ...noExecute };
const unreachable = { key: 'node.svc.io/unreachable', ...noExecute };
const added = { tolerationSeconds: 7 };

describe('DefaultTolerationSeconds', () => {
  test.each([
    [
      undefined,
      [
        { ...notReady, ...added },
        { ...unreachable, ...added },
      ],
    ],
    [
      [{ ...notReady, tolerationSeconds: 5 }],
      [
        { ...notReady, tolerationSeconds: 5 },
        { ...unreachable, ...added },
      ],
    ],
    [[{ operator: 'Exists' }], [{ operator: 'Exists' }]],
    [
      [{ key: 'node.svc.io/unreachable', operator: 'Exists' }],
      [
        { key: 'node.svc.io/unreachable', operator: 'Exists' },
        { ...notReady, ...added },
      ],
    ],
    [
      [{ ...notReady, effect: 'NoSchedule' }],
      [
        { ...notReady, effect: 'NoSchedule' },
        { ...notReady, ...added },
        { ...unreachable, ...added },
      ],
    ],
  ])('p.DefaultTolerationSeconds: makes of %j %j', async (tolerations, expected) => {
    for (const operation of ['CREATE', 'UPDATE'] as const) {
      const pod = { spec: tolerations === undefined ? {} : { tolerations } };
      const known = { tolerationSeconds: 7 };
      const { object } = await admit(defaultTolerationSeconds, known, pod, { operation });
      expect(object['spec']).toEqual({ tolerations: expected });
    }
  });

  test('leaves the status alone', async () => {
    const change = { operation: 'UPDATE', subresource: 'status' } as const;
    expect((await admit(defaultTolerationSeconds, {}, { spec: {} }, change)).isChanged).toBe(false);
  });
});

describe('TaintNodesByCondition', () => {
  const taint = { key: 'node.svc.io/not-ready', effect: 'NoSchedule' };

  test.each([
    [{}, { taints: [taint] }],
    [
      { spec: { taints: [{ key: 'x', effect: 'NoExecute' }] } },
      { taints: [{ key: 'x', effect: 'NoExecute' }, taint] },
    ],
    [{ spec: { taints: [taint] } }, { taints: [taint] }],
  ])('p.TaintNodesByCondition: makes of %j %j', async (node, spec) => {
    const change = { resource: resourceOf('nodes'), namespace: '' };
    expect((await admit(taintNodesByCondition, {}, node, change)).object['spec']).toEqual(spec);
  });

  test('lets a taint be taken off', async () => {
    const change = { resource: resourceOf('nodes'), operation: 'UPDATE' } as const;
    expect((await admit(taintNodesByCondition, {}, {}, change)).isChanged).toBe(false);
  });
});

describe('ExtendedResourceToleration', () => {
  const of = (key: string): object => ({ key, operator: 'Exists', effect: 'NoSchedule' });
  const pod = (...names: readonly string[]): object => ({
    containers: [
      { name: 'c', resources: { requests: Object.fromEntries(names.map((name) => [name, '1'])) } },
    ],
  });

  test.each([
    [pod('cpu', 'svc.io/own'), undefined],
    [pod('example.com/b', 'example.com/a'), [of('example.com/a'), of('example.com/b')]],
    [{ ...pod('example.com/a'), tolerations: [of('example.com/a')] }, [of('example.com/a')]],
    [
      { ...pod('example.com/a'), tolerations: [{ key: 'example.com/a', operator: 'Exists' }] },
      [{ key: 'example.com/a', operator: 'Exists' }, of('example.com/a')],
    ],
    [
      { initContainers: [{ resources: { requests: { 'example.com/a': '1' } } }] },
      [of('example.com/a')],
    ],
  ])('p.ExtendedResourceToleration: %j tolerates %j', async (spec, tolerations) => {
    const { object } = await admit(extendedResourceToleration, {}, { spec });
    expect((object['spec'] as Record<string, unknown>)['tolerations']).toEqual(tolerations);
  });
});

describe('LimitPodHardAntiAffinityTopology', () => {
  const pod = (...keys: readonly string[]): object => ({
    metadata: { name: 'x' },
    spec: {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({
            topologyKey,
          })),
        },
      },
    },
  });

  test.each([
    [[], undefined],
    [['svc.io/hostname'], undefined],
    [
      ['svc.io/hostname', 'zone'],
      '403 pods "x" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has ' +
        'TopologyKey zone but only key svc.io/hostname is allowed',
    ],
  ])('p.LimitPodHardAntiAffinityTopology: %j', async (keys, refused) => {
    const { refused: found } = await admit(hardAntiAffinity, {}, pod(...keys));
    expect(found).toBe(refused);
  });
});

describe('DenyServiceExternalIPs', () => {
  const service = (...externalIPs: readonly string[]): object => ({ spec: { externalIPs } });

  test.each([
    [service(), undefined, undefined],
    [service('192.0.2.1'), undefined, /Use of external IPs is denied by admission control/],
    [service('192.0.2.1'), service('192.0.2.1', '192.0.2.2'), undefined],
    [service('192.0.2.3'), service('192.0.2.1'), /external IPs is denied/],
  ])('p.DenyServiceExternalIPs: %j over %j', async (object, old, message) => {
    const operation = old === undefined ? 'CREATE' : 'UPDATE';
    const change = { resource: resourceOf('services'), operation, old } as const;
    const { refused } = await admit(denyServiceExternalIps, {}, object, change);
    if (message === undefined) expect(refused).toBeUndefined();
    else expect(refused).toMatch(message);
  });
});
