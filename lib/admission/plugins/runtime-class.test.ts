import { describe, expect, test } from '@jest/globals';
import { admit } from '../testing/cluster.ts';
import type { Admitted } from '../testing/cluster.ts';
import { runtimeClass } from './runtime-class.ts';

const overhead = { cpu: '100m', memory: '10Mi' };
const classes = [
  { metadata: { name: 'bare' } },
  { metadata: { name: 'costly' }, overhead: { podFixed: overhead } },
  {
    metadata: { name: 'placed' },
    scheduling: { nodeSelector: { rt: 'x' }, tolerations: [{ key: 'rt', operator: 'Exists' }] },
  },
];
const ask = (spec: object): Promise<Admitted> =>
  admit(runtimeClass, { memory: { runtimeclasses: classes } }, { metadata: { name: 'x' }, spec });

describe('a pod', () => {
  test.each([
    [{}, {}],
    [{ runtimeClassName: 'bare' }, {}],
    [{ runtimeClassName: 'costly' }, { overhead }],
    [{ runtimeClassName: 'costly', overhead: { cpu: '0.1', memory: '10Mi' } }, { overhead }],
    [
      { runtimeClassName: 'placed' },
      { nodeSelector: { rt: 'x' }, tolerations: [{ key: 'rt', operator: 'Exists' }] },
    ],
    [
      {
        runtimeClassName: 'placed',
        nodeSelector: { rt: 'x', a: 'b' },
        tolerations: [{ key: 'z', operator: 'Exists' }],
      },
      {
        nodeSelector: { rt: 'x', a: 'b' },
        tolerations: [
          { key: 'z', operator: 'Exists' },
          { key: 'rt', operator: 'Exists' },
        ],
      },
    ],
  ])('p.RuntimeClass: %j gets %j', async (spec, expected) => {
    const { object, refused } = await ask(spec);
    expect(refused).toBeUndefined();
    expect(object['spec']).toEqual({ ...spec, ...expected });
  });

  test.each([
    [{ runtimeClassName: 'none' }, 'pod rejected: RuntimeClass "none" not found'],
    [
      { overhead: { cpu: '1' } },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      { runtimeClassName: 'bare', overhead: { cpu: '1' } },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      { runtimeClassName: 'costly', overhead: { cpu: '1' } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      { runtimeClassName: 'placed', nodeSelector: { rt: 'y' } },
      'conflict: runtimeClass.scheduling.nodeSelector[rt] = x; pod.spec.nodeSelector[rt] = y',
    ],
  ])('p.RuntimeClass: %j is refused', async (spec, text) => {
    expect((await ask(spec)).refused).toBe(`403 pods "x" is forbidden: ${text}`);
  });

  test('has a class that memory does not know yet', async () => {
    const pod = { metadata: { name: 'x' }, spec: { runtimeClassName: 'bare' } };
    const known = { memory: {}, store: { runtimeclasses: classes } };
    expect((await admit(runtimeClass, known, pod)).refused).toBeUndefined();
  });
});
