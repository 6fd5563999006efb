import { describe, expect, test } from '@jest/globals';
import type { ApiObject } from '../../codec/codec.ts';
import { StatusError } from '../../base/status.ts';
import { admissionChain } from '../chain.ts';
import { asked } from '../testing/asked.ts';
import { admit, partsOf } from '../testing/cluster.ts';
import { nodeDeclaredFeatureValidator, podResizeValidator } from './bound-pod-changes.ts';

const node = (name: string, status: object, labels: object = {}): object => ({
  metadata: { name, labels },
  status,
});
const pod = (generation: number, spec: object): ApiObject => ({
  metadata: { name: 'x', generation },
  spec: { nodeName: 'n', ...spec },
});
const update = (subresource: string, old: object): object => ({
  operation: 'UPDATE',
  subresource,
  old,
});
const amounts = (cpu: string, memory = '1Gi'): object => ({ requests: { cpu, memory } });

describe('p.NodeDeclaredFeatureValidator', () => {
  const podLevel = 'InPlacePodLevelResourcesVerticalScaling';
  const starters = 'InPlacePodVerticalScalingInitContainers';
  const init = (cpu: string, more: object = {}): object => ({
    initContainers: [{ name: 'i', resources: amounts(cpu), ...more }],
  });
  const sidecar = { restartPolicy: 'Always' };
  const lacks = (features: string): string =>
    `403 pods "x" is forbidden: pod update requires features ${features} ` +
    'which are not available on node "n"';

  test.each([
    ['that changes resources of the pod', { resources: amounts('1') }, {}, [], lacks(podLevel)],
    ['that a node can carry out', { resources: amounts('1') }, {}, [podLevel], undefined],
    ['that changes a starting container', init('2'), init('1'), [], lacks(starters)],
    ['that changes a staying one', init('2', sidecar), init('1', sidecar), [], undefined],
    [
      'that needs two features',
      { ...init('2'), resources: amounts('1') },
      init('1'),
      [],
      lacks(`${podLevel}, ${starters}`),
    ],
    ['that changes something else', { hostname: 'a' }, {}, [], undefined],
  ])('p.NodeDeclaredFeatureValidator: an update %s', async (_claim, spec, old, features, text) => {
    const nodes = { nodes: [node('n', { declaredFeatures: features })] };
    for (const subresource of ['', 'resize']) {
      const change = update(subresource, pod(1, old));
      const { refused } = await admit(
        nodeDeclaredFeatureValidator,
        { memory: nodes },
        pod(2, spec),
        change,
      );
      expect(refused).toBe(text);
    }
  });

  test.each([
    [
      'of a node that is missing is refused',
      2,
      {},
      '403 pods "x" is forbidden: node "n" not found',
    ],
    ['of the same generation is none', 1, {}, undefined],
    ['of a pod on no node is of no concern', 2, { nodeName: '' }, undefined],
  ])('p.NodeDeclaredFeatureValidator: an update %s', async (_claim, generation, spec, text) => {
    const object = pod(generation, { resources: amounts('1'), ...spec });
    const change = update('', pod(1, {}));
    expect((await admit(nodeDeclaredFeatureValidator, {}, object, change)).refused).toBe(text);
  });

  test('p.NodeDeclaredFeatureValidator: not without its gate', () => {
    const gatesOff = ['NodeDeclaredFeatures'];
    expect(nodeDeclaredFeatureValidator(partsOf({ gatesOff }))).toBeUndefined();
  });
});

describe('p.PodResizeValidator', () => {
  const allocatable = { cpu: '2', memory: '2Gi' };
  const linux = { 'svc.io/os': 'linux' };
  const container = (cpu: string, memory?: string): object => ({
    name: 'c',
    resources: amounts(cpu, memory),
  });
  const short = "node didn't have enough allocatable resources: ";
  const refusedOf = async (spec: object, labels: object): Promise<unknown[] | undefined> => {
    const chain = admissionChain([
      podResizeValidator(partsOf({ memory: { nodes: [node('n', { allocatable }, labels)] } })) ?? {
        name: '',
        sideEffects: false,
        handles: () => false,
      },
    ]);
    const { request } = asked(update('resize', pod(1, {})));
    try {
      await chain.validate(request, pod(2, spec), new AbortController().signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const text = error.message.replace('pods "x" is forbidden: ', '');
      return [text, error.code, error.details?.causes];
    }
  };

  test.each([
    ['that fits', { containers: [container('2', '2Gi')] }, linux, undefined],
    ['on a node that says nothing of its system', { containers: [container('1')] }, {}, undefined],
    [
      'on another system',
      { containers: [container('1')] },
      { 'svc.io/os': 'windows' },
      [
        'pod resize is only supported on linux nodes, node "n" is "windows"',
        403,
        [{ reason: 'UnsupportedPlatform' }],
      ],
    ],
    [
      'of too much of one',
      { containers: [container('1500m'), container('501m')] },
      linux,
      [`${short}cpu, requested: 2001, allocatable: 2000`, 403, [{ reason: 'NodeCapacity' }]],
    ],
    [
      'of too much of both, with what the sandbox takes',
      { containers: [container('2', '2Gi')], overhead: { cpu: '1u', memory: '1' } },
      linux,
      [
        `${short}cpu, requested: 2001, allocatable: 2000; ` +
          'memory, requested: 2147483649, allocatable: 2147483648',
        403,
        [{ reason: 'NodeCapacity' }],
      ],
    ],
    [
      'of a pod that states it for all',
      { containers: [container('1')], resources: { requests: { cpu: '3' } } },
      linux,
      [`${short}cpu, requested: 3000, allocatable: 2000`, 403, [{ reason: 'NodeCapacity' }]],
    ],
  ])('p.PodResizeValidator: a resize %s', async (_claim, spec, labels, refused) => {
    expect(await refusedOf(spec, labels)).toEqual(refused);
  });

  test('p.PodResizeValidator: a pod whose node is missing is not resized', async () => {
    const spec = { containers: [container('1')] };
    const change = update('resize', pod(1, {}));
    const text = '403 pods "x" is forbidden: node "n" not found';
    expect((await admit(podResizeValidator, {}, pod(2, spec), change)).refused).toBe(text);
    const same = update('resize', pod(2, {}));
    expect((await admit(podResizeValidator, {}, pod(2, spec), same)).refused).toBeUndefined();
  });
});
