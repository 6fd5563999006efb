// NamespaceExists, and the two plugins that say always the same.
import { describe, expect, test } from '@jest/globals';
import { asked, resourceOf } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import { alwaysAdmit, alwaysDeny } from './always.ts';
import { namespaceExists } from './namespace-exists.ts';

describe('NamespaceExists', () => {
  const namespaces = { namespaces: [{ metadata: { name: 'a' } }] };

  test.each([
    ['in memory', { memory: namespaces }, undefined],
    ['in the store alone', { memory: {}, store: namespaces }, undefined],
    ['nowhere', {}, '404 namespaces "a" not found'],
  ])('p.NamespaceExists: a namespace that is %s', async (_claim, known, refused) => {
    for (const operation of ['CREATE', 'UPDATE', 'DELETE'] as const) {
      expect((await admit(namespaceExists, known, {}, { operation })).refused).toBe(refused);
    }
  });

  test('cluster-scoped objects need none', async () => {
    const change = { namespace: '', resource: resourceOf('nodes') };
    expect((await admit(namespaceExists, {}, {}, change)).refused).toBeUndefined();
    const namespace = { namespace: 'a', resource: resourceOf('namespaces') };
    expect((await admit(namespaceExists, {}, {}, namespace)).refused).toBeUndefined();
  });
});

test('p.AlwaysAdmit: it admits', async () => {
  expect((await admit(alwaysAdmit, {}, {})).refused).toBeUndefined();
});

describe('p.AlwaysDeny', () => {
  const text = 'is forbidden: admission control is denying all modifications';

  test.each([
    ['CREATE', { metadata: { generateName: 'g-' } }, '', 'g-'],
    ['CREATE', {}, '', 'Unknown'],
    ['UPDATE', {}, 'x', 'x'],
    ['DELETE', {}, 'x', 'x'],
    ['CONNECT', {}, 'x', 'x'],
  ] as const)('p.AlwaysDeny: %s of %j is refused', async (operation, object, name, shown) => {
    const { refused } = await admit(alwaysDeny, {}, object, { operation, name });
    expect(refused).toBe(`403 pods "${shown}" ${text}`);
  });

  test('p.AlwaysDeny: in both phases', () => {
    const plugin = alwaysDeny();
    const { request } = asked();
    const { signal } = new AbortController();
    expect(() => plugin.mutate?.(request, {}, signal, { index: 0, kept: new Map() })).toThrow(text);
    expect(() => plugin.validate?.(request, {}, signal)).toThrow(text);
  });
});
