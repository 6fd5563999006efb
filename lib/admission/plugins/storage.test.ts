// The plugins of claims, volumes and the classes of claims and ingresses.
import { describe, expect, test } from '@jest/globals';
import { resourceOf } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';

const claims = { resource: resourceOf('persistentvolumeclaims') };
const marked = (name: string, annotation: string, second = 0, value = 'true'): object => ({
  metadata: {
    name,
    creationTimestamp: `2026-01-01T00:00:0${String(second)}Z`,
    annotations: { [annotation]: value },
  },
});

describe('a claim without a storage class', () => {
  const mark = 'storageclass.svc.io/is-default-class';
  const nameOf = async (classes: readonly object[], claim: object): Promise<unknown> => {
    const known = { memory: { storageclasses: classes } };
    const { object } = await admit(defaultStorageClass, known, claim, claims);
    return (object['spec'] as Record<string, unknown>)['storageClassName'];
  };

  test.each([
    ['none', [], undefined],
    ['none that is not marked', [marked('a', mark, 0, 'false')], undefined],
    ['the marked one', [marked('a', 'other'), marked('b', mark)], 'b'],
    ['one marked the older way', [marked('a', 'storageclass.beta.svc.io/is-default-class')], 'a'],
    ['the newest', [marked('a', mark, 1), marked('c', mark, 3), marked('b', mark, 2)], 'c'],
    ['of two of one second the first by name', [marked('b', mark), marked('a', mark)], 'a'],
  ])('p.DefaultStorageClass: gets %s', async (_claim, classes, name) => {
    expect(await nameOf(classes, { spec: {} })).toBe(name);
  });

  test.each([
    [{ spec: { storageClassName: '' } }, ''],
    [{ spec: { storageClassName: 'own' } }, 'own'],
    [
      { metadata: { annotations: { 'volume.beta.svc.io/storage-class': 'old' } }, spec: {} },
      undefined,
    ],
  ])('is not %j', async (claim, name) => {
    expect(await nameOf([marked('a', mark)], claim)).toBe(name);
  });
});

describe('an ingress without a class', () => {
  const known = {
    memory: { ingressclasses: [marked('a', 'ingressclass.svc.io/is-default-class')] },
  };
  const change = { resource: resourceOf('ingresses', 'networking.{v}') };

  test.each([
    [{ spec: {} }, { ingressClassName: 'a' }],
    [{ spec: { ingressClassName: 'own' } }, { ingressClassName: 'own' }],
    [{ metadata: { annotations: { 'svc.io/ingress.class': 'old' } }, spec: {} }, {}],
  ])('p.DefaultIngressClass: %j becomes %j', async (ingress, spec) => {
    expect((await admit(defaultIngressClass, known, ingress, change)).object['spec']).toEqual(spec);
  });
});

test.each([
  ['persistentvolumes', '', 'svc.io/pv-protection'],
  ['persistentvolumeclaims', '', 'svc.io/pvc-protection'],
  ['volumeattributesclasses', 'storage.{v}', 'svc.io/vac-protection'],
])(
  'p.StorageObjectInUseProtection: %s are held by a finalizer',
  async (resource, group, finalizer) => {
    const change = { resource: resourceOf(resource, group) };
    const finalizersOf = async (given: readonly string[] | undefined): Promise<unknown> => {
      const made = { metadata: { name: 'x', ...(given && { finalizers: given }) } };
      const { object } = await admit(storageObjectInUseProtection, {}, made, change);
      return object.metadata?.finalizers;
    };
    expect(await finalizersOf(undefined)).toEqual([finalizer]);
    expect(await finalizersOf(['own/f'])).toEqual(['own/f', finalizer]);
    expect(await finalizersOf([finalizer])).toEqual([finalizer]);
  },
);

describe('a claim that grows', () => {
  const claim = (storage: string, storageClassName: string, phase = 'Bound'): object => ({
    metadata: { name: 'x' },
    spec: { storageClassName, resources: { requests: { storage } } },
    status: { phase },
  });
  const known = {
    memory: {
      storageclasses: [
        { metadata: { name: 'open' }, allowVolumeExpansion: true },
        { metadata: { name: 'fixed' } },
      ],
    },
  };
  const fixed = /only dynamically provisioned pvc can be resized and the storageclass that/;

  test.each([
    ['of a class that allows it', claim('2Gi', 'open'), claim('1Gi', 'open'), undefined],
    ['of a class that does not', claim('2Gi', 'fixed'), claim('1Gi', 'fixed'), fixed],
    ['of a class that is gone', claim('2Gi', 'gone'), claim('1Gi', 'gone'), fixed],
    ['without a class', claim('2Gi', ''), claim('1Gi', ''), fixed],
    ['and changes its class', claim('2Gi', 'open'), claim('1Gi', 'fixed'), fixed],
    [
      'before it is bound',
      claim('2Gi', 'open'),
      claim('1Gi', 'open', 'Pending'),
      /Only bound persistent volume claims/,
    ],
    ['not at all', claim('1024Mi', 'fixed'), claim('1Gi', 'fixed'), undefined],
    ['smaller', claim('1Gi', 'fixed'), claim('2Gi', 'fixed'), undefined],
  ])('p.PersistentVolumeClaimResize: %s', async (_claim, object, old, message) => {
    const change = { ...claims, operation: 'UPDATE', old } as const;
    const { refused } = await admit(persistentVolumeClaimResize, known, object, change);
    if (message === undefined) expect(refused).toBeUndefined();
    else expect(refused).toMatch(message);
  });
});
