import { describe, expect, test } from '@jest/globals';
import { admissionChain } from '../chain.ts';
import { asked } from '../testing/asked.ts';
import { admit, partsOf } from '../testing/cluster.ts';
import { podTolerationRestriction } from './pod-toleration-restriction.ts';

const defaultsKey = 'scheduler.alpha.svc.io/defaultTolerations';
const allowedKey = 'scheduler.alpha.svc.io/tolerationsWhitelist';
const head = {
  kind: 'Configuration',
  apiVersion: 'podtolerationrestriction.admission.svc.io/v1alpha1',
};
const of = (key: string, more: object = {}): object => ({ key, operator: 'Exists', ...more });
const namespace = (annotations: object): object => ({
  namespaces: [{ metadata: { name: 'a', annotations } }],
});
const pod = (tolerations: readonly object[], spec: object = {}): object => ({
  metadata: { name: 'x' },
  spec: { containers: [{ name: 'c' }], tolerations, ...spec },
});
const asking = { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] };
const pressure = of('node.svc.io/memory-pressure', { effect: 'NoSchedule' });

describe('p.PodTolerationRestriction', () => {
  test.each([
    ['those of its namespace', { [defaultsKey]: '[{"key":"k","operator":"Exists"}]' }, [of('k')]],
    ['none where the annotation is empty', { [defaultsKey]: '' }, []],
    ['those for all where there is no annotation', {}, [of('all')]],
  ])('p.PodTolerationRestriction: a new pod gets %s', async (_claim, annotations, added) => {
    const configuration = { ...head, default: [of('all')] };
    const known = { memory: namespace(annotations) as Record<string, object[]>, configuration };
    const { object, isChanged, refused } = await admit(
      podTolerationRestriction,
      known,
      pod([of('own')]),
    );
    expect(refused).toBeUndefined();
    expect(object['spec']).toMatchObject({ tolerations: [...added, of('own')] });
    expect(isChanged).toBe(added.length > 0);
    expect((await admit(podTolerationRestriction, known, object)).isChanged).toBe(false);
  });

  test.each(['CREATE', 'UPDATE'] as const)(
    'p.PodTolerationRestriction: %s of a pod that asks for something stays where memory is short',
    async (operation) => {
      const known = { memory: namespace({}) as Record<string, object[]> };
      const { object } = await admit(podTolerationRestriction, known, pod([], asking), {
        operation,
      });
      expect(object['spec']).toMatchObject({ tolerations: [pressure] });
    },
  );

  test('p.PodTolerationRestriction: an update gets no others', async () => {
    const known = { memory: namespace({ [defaultsKey]: '[{"key":"k"}]' }) as Record<string, []> };
    const change = { operation: 'UPDATE' as const };
    const { isChanged } = await admit(podTolerationRestriction, known, pod([]), change);
    expect(isChanged).toBe(false);
  });

  const text =
    '403 pods "x" is forbidden: pod tolerations (possibly merged with namespace default ' +
    'tolerations) conflict with its ';
  test.each([
    ['covered by the namespace', { [allowedKey]: '[{"operator":"Exists"}]' }, undefined],
    ['not covered by it', { [allowedKey]: '[{"key":"l"}]' }, `${text}namespace whitelist`],
    ['in a namespace that allows all', { [allowedKey]: '' }, undefined],
    ['not covered by those for all', {}, `${text}cluster whitelist`],
  ])('p.PodTolerationRestriction: one that is %s', async (_claim, annotations, refused) => {
    const configuration = { ...head, whitelist: [of('other')] };
    const known = { memory: namespace(annotations) as Record<string, object[]>, configuration };
    for (const operation of ['CREATE', 'UPDATE'] as const) {
      const admitted = await admit(podTolerationRestriction, known, pod([of('k')]), { operation });
      expect(admitted.refused).toBe(refused);
    }
    expect((await admit(podTolerationRestriction, known, pod([]))).refused).toBeUndefined();
  });

  test.each(['{', '{}', '[1]', '[{"key":1}]', '[{"key":"a","tolerationSeconds":"1"}]'])(
    'p.PodTolerationRestriction: an annotation %s refuses pods',
    async (annotation) => {
      const known = { memory: namespace({ [defaultsKey]: annotation }) as Record<string, []> };
      expect((await admit(podTolerationRestriction, known, pod([]))).refused).toBe(
        `403 pods "x" is forbidden: annotation ${defaultsKey} of the namespace ` +
          'is no list of tolerations',
      );
    },
  );

  test('p.PodTolerationRestriction: in a namespace that is missing', async () => {
    const { refused } = await admit(podTolerationRestriction, {}, pod([]));
    expect(refused).toBe('404 namespaces "a" not found');
  });

  test('p.PodTolerationRestriction: in both phases, and not for subresources', async () => {
    const memory = namespace({ [allowedKey]: '[{"key":"l"}]' }) as Record<string, object[]>;
    const plugin = podTolerationRestriction(partsOf({ memory }));
    if (plugin === undefined) throw new Error('there is none');
    const { signal } = new AbortController();
    const late = { metadata: {}, spec: { tolerations: [{ key: 'k' }] } };
    const chain = admissionChain([plugin]);
    expect(() => chain.validate(asked().request, late, signal)).toThrow(/conflict with/);
    const { request } = asked({ operation: 'UPDATE', subresource: 'status' });
    await chain.validate(request, late, signal);
  });
});

test.each([
  [{ ...head, kind: 'Other' }, /must be of kind Configuration/],
  [{ ...head, defaults: [] }, /unknown field "defaults"/],
  [{ ...head, default: [{ keys: 'a' }] }, /unknown field "default\[0\]\.keys"/],
  [
    { ...head, default: [{ key: 'a', tolerationSeconds: '1' }] },
    /default\[0\]\.tolerationSeconds: must be a whole number/,
  ],
  [
    { ...head, whitelist: [{ key: 'a', operator: 'Is' }] },
    /^whitelist\[0\]\.operator: Unsupported/,
  ],
])('p.PodTolerationRestriction: the configuration %j is refused', (configuration, message) => {
  expect(() => podTolerationRestriction(partsOf({ configuration }))).toThrow(message);
});
