import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { admissionChain } from '../chain.ts';
import { asked } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import { alwaysPullImages } from './always-pull-images.ts';

const pod = (spec: object): ApiObject => ({
  metadata: { name: 'x' },
  spec: spec as JsonObject,
});
const image = (name: string, imagePullPolicy?: string): object => ({
  name: 'c',
  image: name,
  ...(imagePullPolicy && { imagePullPolicy }),
});

describe('p.AlwaysPullImages', () => {
  test('p.AlwaysPullImages: every container of all lists, and every image volume', async () => {
    const given = {
      initContainers: [image('i', 'Never')],
      containers: [image('i', 'IfNotPresent'), image('i')],
      ephemeralContainers: [image('i', 'Always')],
      volumes: [{ name: 'v', image: { reference: 'r', pullPolicy: 'Never' } }, { name: 'w' }],
    };
    const { object, isChanged } = await admit(alwaysPullImages, {}, pod(given));
    expect(object['spec']).toEqual({
      initContainers: [image('i', 'Always')],
      containers: [image('i', 'Always'), image('i', 'Always')],
      ephemeralContainers: [image('i', 'Always')],
      volumes: [{ name: 'v', image: { reference: 'r', pullPolicy: 'Always' } }, { name: 'w' }],
    });
    expect(isChanged).toBe(true);
    expect((await admit(alwaysPullImages, {}, object)).isChanged).toBe(false);
  });

  test.each([
    ['without a new image', [image('i', 'Never')], [image('i', 'Never')], false],
    ['with fewer', [image('i', 'Never')], [image('i'), image('j')], false],
    ['with a new one', [image('j', 'Never')], [image('i', 'Never')], true],
  ])('p.AlwaysPullImages: an update %s', async (_claim, containers, before, isChanged) => {
    const change = { operation: 'UPDATE' as const, old: pod({ containers: before }) };
    const admitted = await admit(alwaysPullImages, {}, pod({ containers }), change);
    expect(admitted).toMatchObject({ isChanged, refused: undefined });
  });

  test.each(['status', 'ephemeralcontainers', 'resize'])(
    'p.AlwaysPullImages: the subresource %s is not looked at',
    async (subresource) => {
      const change = { operation: 'UPDATE' as const, subresource, old: pod({ containers: [] }) };
      const admitted = await admit(alwaysPullImages, {}, pod({ containers: [image('i')] }), change);
      expect(admitted).toMatchObject({ isChanged: false, refused: undefined });
    },
  );

  test.each([
    [
      { containers: [image('i', 'Never')] },
      'spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"',
    ],
    [
      {
        initContainers: [image('i', 'Never')],
        ephemeralContainers: [image('i', 'Never')],
        volumes: [{ name: 'v', image: { reference: 'r', pullPolicy: 'Never' } }],
      },
      '[spec.initContainers[0].imagePullPolicy: Unsupported value: "Never": ' +
        'supported values: "Always", ' +
        'spec.ephemeralContainers[0].imagePullPolicy: Unsupported value: "Never": ' +
        'supported values: "Always", ' +
        'spec.volumes[0].image.pullPolicy: Unsupported value: "Never": ' +
        'supported values: "Always"]',
    ],
  ])('p.AlwaysPullImages: what came after it is refused: %j', (spec, text) => {
    const { request } = asked();
    const chain = admissionChain([alwaysPullImages()]);
    expect(() => chain.validate(request, pod(spec), new AbortController().signal)).toThrow(
      `pods "x" is forbidden: ${text}`,
    );
  });
});
