import { describe, expect, test } from '@jest/globals';
import { a, b, c, containers, patched } from './testing/strategically-patched.ts';

describe('lists of objects merge by their key', () => {
  test.each([
    [
      'an element that is there changes in its place',
      [a, b],
      [{ name: 'b', image: 'b:2' }],
      [a, { name: 'b', image: 'b:2' }],
    ],
    ['a new element comes before those that the patch does not name', [a, b], [c], [c, a, b]],
    ['elements that the patch names come in its order', [a, b, c], [c, a], [b, c, a]],
    ['what is before one that is named stays before it', [a, b, c], [b], [a, b, c]],
    ['a deletion', [a, b], [{ name: 'a', $patch: 'delete' }], [b]],
    ['the deletion of what is not there', [a], [{ name: 'x', $patch: 'delete' }], [a]],
    [
      'a deletion and a change',
      [a, b],
      [
        { name: 'a', $patch: 'delete' },
        { name: 'b', image: 'x' },
      ],
      [{ name: 'b', image: 'x' }],
    ],
    ['a replacement', [a, b], [c, { $patch: 'replace' }], [c]],
    [
      'nulls in what is new are left out',
      [a],
      [{ name: 'b', image: null, env: [] }],
      [{ name: 'b', env: [] }, a],
    ],
    [
      'of several with one key the first is meant',
      [a, { ...a, image: 'second' }],
      [{ name: 'a', image: 'x' }],
      [
        { name: 'a', image: 'x' },
        { ...a, image: 'second' },
      ],
    ],
    ['nothing', [a, b], [], [a, b]],
  ])('%s', (_claim, before, changes, expected) => {
    const after = patched('core/v1.Pod', containers(...before), containers(...changes));
    expect(after).toEqual(containers(...expected));
  });

  test('lists in elements merge, too', () => {
    const env = (...names: string[]): object => ({
      name: 'a',
      env: names.map((name) => ({ name, value: name })),
    });
    expect(
      patched(
        'core/v1.Pod',
        containers(env('A', 'B')),
        containers({
          name: 'a',
          env: [
            { name: 'B', value: null },
            { name: 'C', value: 'C' },
          ],
        }),
      ),
    ).toEqual(
      containers({
        name: 'a',
        env: [{ name: 'A', value: 'A' }, { name: 'B' }, { name: 'C', value: 'C' }],
      }),
    );
  });

  test('keys may be numbers', () => {
    const ports = (...list: object[]): object => ({ spec: { ports: list } });
    expect(
      patched(
        'core/v1.Service',
        ports({ port: 80, name: 'a' }, { port: 443, name: 'b' }),
        ports({ port: 443, name: 'c' }),
      ),
    ).toEqual(ports({ port: 80, name: 'a' }, { port: 443, name: 'c' }));
  });

  test('lists without a strategy are replaced', () => {
    const rules = (...verbs: string[]): object => ({ rules: [{ verbs }] });
    expect(patched('rbac/v1.Role', rules('get'), rules('list'))).toEqual(rules('list'));
    const args = (...list: string[]): object => containers({ name: 'a', args: list });
    expect(patched('core/v1.Pod', args('x', 'y'), args('z'))).toEqual(args('z'));
  });
});

describe('lists of values are sets', () => {
  const meta = (metadata: object): object => ({ metadata });
  test.each([
    ['what is new comes first', ['a', 'b'], { finalizers: ['c', 'b'] }, ['c', 'a', 'b']],
    ['deleted', ['a', 'b', 'c'], { '$deleteFromPrimitiveList/finalizers': ['b', 'x'] }, ['a', 'c']],
    [
      'put into an order',
      ['a', 'b', 'c'],
      { '$setElementOrder/finalizers': ['c', 'a'] },
      ['b', 'c', 'a'],
    ],
    [
      'added in an order',
      ['a', 'b'],
      { '$setElementOrder/finalizers': ['c', 'b', 'a'], finalizers: ['c'] },
      ['c', 'b', 'a'],
    ],
    [
      'deleted and put into an order',
      ['a', 'b', 'c'],
      { '$deleteFromPrimitiveList/finalizers': ['a'], '$setElementOrder/finalizers': ['c', 'b'] },
      ['c', 'b'],
    ],
    [
      'deleted where there are none',
      undefined,
      { '$deleteFromPrimitiveList/finalizers': ['a'] },
      undefined,
    ],
    [
      'made in an order',
      undefined,
      { '$setElementOrder/finalizers': ['b', 'a'], finalizers: ['b', 'a'] },
      ['b', 'a'],
    ],
    [
      'ordered where there are none',
      undefined,
      { '$setElementOrder/finalizers': ['b', 'a'] },
      undefined,
    ],
  ])('%s', (_claim, finalizers, changes, expected) => {
    expect(patched('core/v1.ConfigMap', meta({ finalizers }), meta(changes))).toEqual(
      meta(expected === undefined ? {} : { finalizers: expected }),
    );
  });
});

test('objects in the order of the patch, with those of others where they were', () => {
  const secrets = (...names: string[]): object[] => names.map((name) => ({ name }));
  const order = (...names: string[]): object => ({ '$setElementOrder/secrets': secrets(...names) });
  const account = 'core/v1.ServiceAccount';
  expect(
    patched(
      account,
      { secrets: secrets('a', 'b') },
      { secrets: secrets('c'), ...order('c', 'b', 'a') },
    ),
  ).toEqual({ secrets: secrets('c', 'b', 'a') });
  expect(patched(account, { secrets: secrets('x', 'a', 'y', 'b') }, order('b', 'a'))).toEqual({
    secrets: secrets('x', 'y', 'b', 'a'),
  });
});

test('lists of thousands', () => {
  const many = Array.from({ length: 5_000 }, (_, at) => ({ name: `c${String(at)}`, image: 'x' }));
  const changes = many.map(({ name }, at) =>
    at % 3 === 0 ? { name, $patch: 'delete' } : { name, image: 'y' },
  );
  const after = patched('core/v1.Pod', containers(...many), containers(...changes));
  expect(after).toEqual(
    containers(...many.filter((_, at) => at % 3 !== 0).map(({ name }) => ({ name, image: 'y' }))),
  );
});
