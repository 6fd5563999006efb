// JSON patches of mutating policies, and the texts of those that do not fit.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { canonicalObject } from '../../codec/normalise.ts';
import { resourceOf } from '../testing/asked.ts';
import { writtenBy } from '../testing/written.ts';
import { MutationFailure } from './mutation-result.ts';
import { applyWrittenPatch } from './written-patch.ts';

const configMaps = resourceOf('configmaps').type;

function patched(object: JsonObject, text: string): unknown {
  const live = canonicalObject(object, configMaps);
  const before = JSON.stringify(live);
  const result = applyWrittenPatch(live, writtenBy(text, live), configMaps);
  expect(JSON.stringify(live)).toBe(before);
  return result instanceof MutationFailure ? result.message : JSON.parse(JSON.stringify(result));
}

describe('m.json-patch: a list of operations', () => {
  const live: JsonObject = {
    metadata: { name: 'x', labels: { a: '1' } },
    data: { k: 'v', 'x/y~z': '1' },
  };
  test.each<[string, string, object]>([
    ['add', '[JSONPatch{op: "add", path: "/data/n", value: "w"}]', { data: { k: 'v', n: 'w' } }],
    ['replace', '[JSONPatch{op: "replace", path: "/data/k", value: "w"}]', { data: { k: 'w' } }],
    ['copy', '[JSONPatch{op: "copy", from: "/data/k", path: "/data/c"}]', { data: { c: 'v' } }],
    ['move', '[JSONPatch{op: "move", from: "/data/k", path: "/data/c"}]', { data: { c: 'v' } }],
    [
      'escaped keys',
      '[JSONPatch{op: "replace", path: "/data/" + jsonpatch.escapeKey("x/y~z"), value: "2"}]',
      { data: { 'x/y~z': '2' } },
    ],
    [
      'a test that holds',
      `[JSONPatch{op: "test", path: "/data/k", value: "v"},
        JSONPatch{op: "replace", path: "/data/k", value: "w"}]`,
      { data: { k: 'w' } },
    ],
    [
      'objects as values',
      '[JSONPatch{op: "add", path: "/metadata", value: Object.metadata{name: "y"}}]',
      { metadata: { name: 'y' } },
    ],
    [
      'an object is named as it likes',
      '[JSONPatch{op: "add", path: "/metadata", value: Object.other{name: "y"}}]',
      { metadata: { name: 'y' } },
    ],
    ['remove', '[JSONPatch{op: "remove", path: "/metadata/labels"}]', { metadata: { name: 'x' } }],
  ])('%s', (_claim, text, wanted) => {
    expect(patched(live, text)).toMatchObject(wanted);
  });

  test.each([
    ['another value', '[%, JSONPatch{op: "test", path: "/metadata/name", value: "w"}]'],
    ['an absent value', '[%, JSONPatch{op: "test", path: "/data/none", value: "w"}]'],
    ['no operation', '[]'],
  ])('%s: the object stays as it is, without an error', (_claim, text) => {
    const object = canonicalObject(live, configMaps);
    const operations = text.replace('%', 'JSONPatch{op: "remove", path: "/data/k"}');
    expect(applyWrittenPatch(object, writtenBy(operations, object), configMaps)).toBe(object);
  });

  test.each<[string, string]>([
    [
      'op: "add", path: "/none/x"',
      'add operation does not apply: doc is missing path: "/none/x": missing value',
    ],
    [
      'op: "add", path: "/metadata/finalizers/7"',
      "error in add for path: '/metadata/finalizers/7': " +
        'Unable to access invalid index: 7: invalid index referenced',
    ],
    [
      'op: "add", path: "/metadata/finalizers/x"',
      "error in add for path: '/metadata/finalizers/x': value was not a proper array index: 'x'",
    ],
    [
      'op: "remove", path: "/data/none"',
      "error in remove for path: '/data/none': " +
        'Unable to remove nonexistent key: none: missing value',
    ],
    [
      'op: "remove", path: "/none/x"',
      'remove operation does not apply: doc is missing path: "/none/x": missing value',
    ],
    [
      'op: "replace", path: "/none/x"',
      'replace operation does not apply: doc is missing path: /none/x: missing value',
    ],
    [
      'op: "replace", path: "/data/a~1b"',
      'replace operation does not apply: doc is missing key: /data/a~1b: missing value',
    ],
    [
      'op: "test", path: "/none/x"',
      'test operation does not apply: is missing path: /none/x: missing value',
    ],
    [
      'op: "copy", from: "/none/x", path: "/data/c"',
      'copy operation does not apply: doc is missing from path: /none/x: missing value',
    ],
    [
      'op: "move", from: "/data/k", path: "/none/x"',
      'move operation does not apply: doc is missing destination path: /none/x: missing value',
    ],
    [
      'op: "move", from: "/data/n", path: "/data/x"',
      "error in move for path: 'n': Unable to remove nonexistent key: n: missing value",
    ],
    [
      'op: "copy", from: "/data/n", path: "/data/x"',
      "error in copy for from: '/data/n': Unable to remove nonexistent key: n: missing value",
    ],
    [
      'op: "copy", from: "/data/k", path: "/metadata/finalizers/9"',
      "error in copy for path: '/metadata/finalizers/9': " +
        'Unable to access invalid index: 9: invalid index referenced',
    ],
    ['op: "bogus", path: "/data"', 'Unexpected kind: bogus'],
    [
      'op: "remove", path: "data"',
      'invalid operation 0 of the JSON patch: ' +
        '"path" must be a JSON pointer such as /metadata/labels/a',
    ],
    ['op: "add", path: "/bogus", value: 1', 'strict decoding error: unknown field "bogus"'],
    [
      'op: "add", path: "/data/n", value: 1',
      'ConfigMap cannot be read: data.n must be a string, not an integer',
    ],
    [
      'op: "replace", path: "", value: 1',
      'ConfigMap cannot be read: it must be an object, not an integer',
    ],
    [
      'op: "add", path: "/data/n", value: type(1)',
      'a value of type type cannot be written as JSON',
    ],
  ])('JSONPatch{%s} is an error', (operation, wanted) => {
    const object = { ...live, metadata: { ...(live['metadata'] as object), finalizers: ['a'] } };
    expect(patched(object, `[JSONPatch{${operation}}]`)).toBe(`JSON Patch: ${wanted}`);
  });

  test('parts of a value have the names of their paths', () => {
    const value = 'Object.metadata{labels: Object.metadata.labelz{}}';
    expect(patched(live, `[JSONPatch{op: "add", path: "/metadata", value: ${value}}]`)).toBe(
      'type mismatch: unexpected type name "Object.metadata.labelz", ' +
        'expected "Object.metadata.labels", which matches field name path from root Object type',
    );
  });

  test.each(['/__proto__/polluted', '/data/__proto__/polluted', '/constructor/prototype/polluted'])(
    '%s pollutes nothing',
    (path) => {
      const text = `[JSONPatch{op: "add", path: "${path}", value: "x"}]`;
      expect(patched(live, text)).toEqual(expect.stringContaining('JSON Patch: '));
      expect(({} as JsonObject)['polluted']).toBeUndefined();
    },
  );
});
