import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { StatusError } from '../base/status.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { applyStrategicPatch, parseStrategicPatch } from './strategic-patch.ts';
import { a, b, c, containers, patched, pod } from './testing/strategically-patched.ts';

function failure(type: string, document: unknown, patch: unknown): string {
  try {
    patched(type, document, patch);
  } catch (error) {
    if (error instanceof StatusError) return `${String(error.code)} ${error.message}`;
    throw error;
  }
  return 'applied';
}

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
      'a union whose other member is deleted, too, as kubectl apply does',
      'apps/v1.Deployment',
      { spec: { strategy } },
      { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null } } },
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
      'what is new is left out with the directive that it holds',
      'core/v1.Pod',
      {},
      {
        metadata: { labels: { $patch: 'replace', a: 'b' }, annotations: { a: 'b' } },
        spec: { tolerations: [{ $patch: 'replace' }, { key: 'a' }] },
      },
      { metadata: { annotations: { a: 'b' } }, spec: { tolerations: [{ key: 'a' }] } },
    ],
    [
      'a list that is replaced whole keeps its elements, whatever they hold',
      'core/v1.Pod',
      { spec: { tolerations: [{ key: 'b' }] } },
      { spec: { tolerations: [{ $patch: 'replace' }, { key: 'a', value: null }] } },
      { spec: { tolerations: [{}, { key: 'a' }] } },
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
  const info = builtInScheme({ profile: namingProfile('svc') }).type('core/v1.ConfigMap');
  const after = applyStrategicPatch(
    JSON.parse(before) as JsonValue,
    parseStrategicPatch(Buffer.from(text)),
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
