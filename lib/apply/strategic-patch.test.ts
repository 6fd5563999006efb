import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { StatusError } from '../base/status.ts';
import { rawData } from '../codec/json.ts';
import { sortedText } from '../api/raw-json.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { applyStrategicPatch, parseStrategicPatch } from './strategic-patch.ts';

const scheme = builtInScheme({ profile: namingProfile('svc') });
const bytes = (value: unknown): Uint8Array =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

/** What becomes of a document; the same with both as raw JSON. Neither is changed. */
function patched(type: string, document: unknown, patch: unknown): unknown {
  const info = scheme.type(type);
  const before = frozen(JSON.parse(JSON.stringify(document)) as JsonValue);
  const text = JSON.stringify(
    applyStrategicPatch(before, frozen(parseStrategicPatch(bytes(patch))), info),
  );
  const raw = applyStrategicPatch(
    rawData(bytes(document)),
    parseStrategicPatch(bytes(patch), rawData),
    info,
  );
  expect(JSON.parse(sortedText(raw))).toEqual(JSON.parse(text));
  return JSON.parse(text);
}

function failure(type: string, document: unknown, patch: unknown): string {
  try {
    patched(type, document, patch);
  } catch (error) {
    if (error instanceof StatusError) return `${String(error.code)} ${error.message}`;
    throw error;
  }
  return 'applied';
}

const pod = (spec: object): object => ({ spec });
const containers = (...list: object[]): object => pod({ containers: list });
const [a, b, c] = [
  { name: 'a', image: 'a:1' },
  { name: 'b', image: 'b:1' },
  { name: 'c', image: 'c:1' },
] as const;

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

describe('objects', () => {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } };
  test.each([
    [
      'merge, null deletes',
      'core/v1.ConfigMap',
      { data: { a: '1', b: '2' } },
      { data: { a: null, c: '3' } },
      { data: { b: '2', c: '3' } },
    ],
    [
      'a null for what is not there',
      'core/v1.ConfigMap',
      { data: { a: '1' } },
      { data: { b: null }, binaryData: null },
      { data: { a: '1' } },
    ],
    [
      'replaced',
      'core/v1.ConfigMap',
      { data: { a: '1' } },
      { data: { $patch: 'replace', c: '3' } },
      { data: { c: '3' } },
    ],
    [
      'emptied',
      'core/v1.ConfigMap',
      { data: { a: '1' } },
      { data: { $patch: 'delete' } },
      { data: {} },
    ],
    [
      'keys that are kept',
      'core/v1.ConfigMap',
      { data: { a: '1', b: '2' } },
      { data: { $retainKeys: ['b', 'd'], d: '4' } },
      { data: { b: '2', d: '4' } },
    ],
    [
      'a union whose other member goes',
      'apps/v1.Deployment',
      { spec: { strategy } },
      { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      { spec: { strategy: { type: 'Recreate' } } },
    ],
    [
      'directives in what is new say nothing',
      'core/v1.Pod',
      {},
      {
        spec: {
          $retainKeys: ['containers'],
          '$setElementOrder/containers': [],
          containers: [{ name: 'a', $patch: 'delete' }, b],
        },
      },
      { spec: { containers: [b] } },
    ],
    [
      'nulls in what is new are left out',
      'core/v1.Pod',
      {},
      { spec: { a: null, nodeSelector: { x: null, y: 'z' } } },
      { spec: { nodeSelector: { y: 'z' } } },
    ],
    [
      'what has another type is replaced',
      'core/v1.ConfigMap',
      { data: { a: '1' } },
      { data: ['x'] },
      { data: ['x'] },
    ],
    [
      'what the type does not know merges',
      'core/v1.ConfigMap',
      { x: { y: 1, l: [1] } },
      { x: { z: 2, l: [2] } },
      { x: { y: 1, z: 2, l: [2] } },
    ],
    ['nothing', 'core/v1.ConfigMap', { data: { a: '1' } }, {}, { data: { a: '1' } }],
  ])('%s', (_claim, type, before, changes, expected) => {
    expect(patched(type, before, changes)).toEqual(expected);
  });
});

describe('refused', () => {
  test.each([
    ['no object', {}, [], '400 a strategic merge patch must be a JSON object'],
    [
      'an unknown directive',
      {},
      { $patch: 'bogus' },
      '400 unknown $patch "bogus": use "replace" or "delete"',
    ],
    [
      'an unknown directive of an element',
      containers(a),
      containers({ name: 'a', $patch: 'merge' }),
      '400 unknown $patch "merge": use "replace" or "delete"',
    ],
    [
      'keys that are kept without one that is set',
      { metadata: { labels: {} } },
      { metadata: { labels: { $retainKeys: ['a'], b: '1' } } },
      '400 $retainKeys of the patch must name "b", which it sets',
    ],
    [
      'keys that are no list',
      {},
      { $retainKeys: 'a' },
      '400 $retainKeys of the patch must be a list',
    ],
    [
      'an order that is no list',
      {},
      { '$setElementOrder/x': {} },
      '400 $setElementOrder/x of the patch must be a list',
    ],
    [
      'a deletion that is no list',
      {},
      { '$deleteFromPrimitiveList/x': 'a' },
      '400 $deleteFromPrimitiveList/x must be a list of values',
    ],
    [
      'an order without what is set',
      containers(a),
      pod({ containers: [b], '$setElementOrder/containers': [{ name: 'a' }] }),
      '400 $setElementOrder/containers lists elements of containers in another order',
    ],
    [
      'an element without its key',
      containers(a),
      containers({ image: 'x' }),
      '422 an element of containers has no name to merge it by',
    ],
    [
      'a deletion without its key',
      containers(a),
      containers({ $patch: 'delete' }),
      '422 an element of containers has no name to merge it by',
    ],
    [
      'objects beside values',
      containers(a),
      pod({ containers: ['x'] }),
      '422 containers holds objects and other values',
    ],
    [
      'lists of lists',
      { metadata: { finalizers: [['a']] } },
      { metadata: { finalizers: ['b'] } },
      '422 lists of lists, as in finalizers, cannot be merged',
    ],
  ])('%s', (_claim, before, patch, expected) => {
    const found = failure('core/v1.Pod', before, patch);
    expect(found.replace('the strategic merge patch does not fit the object: ', '')).toBe(expected);
  });
});

test('hostile keys are data', () => {
  const text =
    '{"data":{"__proto__":"x","constructor":"y"},"metadata":{"labels":{"__proto__":"z"}}}';
  const before = '{"data":{"a":"1","__proto__":"w"}}';
  const info = scheme.type('core/v1.ConfigMap');
  const after = applyStrategicPatch(
    JSON.parse(before) as JsonValue,
    parseStrategicPatch(bytes(text)),
    info,
  );
  expect(JSON.stringify(after)).toBe(
    '{"data":{"a":"1","__proto__":"x","constructor":"y"},"metadata":{"labels":{"__proto__":"z"}}}',
  );
  expect(({} as JsonObject)['labels']).toBeUndefined();
});

test('a patch applied twice is one applied once', () => {
  const patch = pod({
    containers: [{ name: 'b', image: 'x' }, { name: 'n' }, { name: 'a', $patch: 'delete' }],
    nodeSelector: { a: null, b: 'c' },
  });
  const once = patched('core/v1.Pod', containers(a, b, c), patch);
  expect(patched('core/v1.Pod', once, patch)).toEqual(once);
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
