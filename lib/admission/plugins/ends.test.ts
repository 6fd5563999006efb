// NamespaceExists, and the two plugins that say always the same.
import { describe, expect, test } from '@jest/globals';
import { resourceOf } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import { alwaysAdmit, alwaysDeny } from './always.ts';
import { namespaceExists } from './namespace-exists.ts';

describe('NamespaceExists', () => {
  const namespaces = { namespaces: [{ metadata: { name: 'a' } }] };

  test.each([
    ['in memory', { memory: namespaces }, undefined],
    ['in the store alone', { memory: {}, store: namespaces }, undefined],
    ['nowhere', {}, '404 namespaces "a" not found'],
  ])('a namespace that is %s', async (_claim, known, refused) => {
    for (const operation of ['CREATE', 'UPDATE', 'DELETE'] as const) {
      expect((await admit(namespaceExists, known, {}, { operation })).refused).toBe(refused);
    }
  });

  test('cluster-scoped objects need none', async () => {
    const change = { namespace: '', resource: resourceOf('nodes') };
    expect((await admit(namespaceExists, {}, {}, change)).refused).toBeUndefined();
  });
});

test('AlwaysAdmit admits', async () => {
  expect((await admit(alwaysAdmit, {}, {})).refused).toBeUndefined();
});

test('AlwaysDeny refuses', async () => {
  const text = '403 pods "x" is forbidden: admission control is denying all modifications';
  expect((await admit(alwaysDeny, {}, {})).refused).toBe(text);
});
