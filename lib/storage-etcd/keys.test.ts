import { expect, test } from '@jest/globals';
import { createKeyspace, InvalidKeyError, isSegment, prefixEnd } from './keys.ts';

const keyspace = createKeyspace('/registry');

test.each([
  ['pods', 'default', 'web-0', '/registry/pods/default/web-0'],
  ['namespaces', '', 'default', '/registry/namespaces/default'],
  ['services/specs', 'default', 'web', '/registry/services/specs/default/web'],
  ['example.com/widgets', 'a', '__proto__', '/registry/example.com/widgets/a/__proto__'],
])('%s %s/%s lies at its place', (storagePrefix, namespace, name, key) => {
  expect(keyspace.key(storagePrefix, namespace, name)).toBe(key);
});

test.each([
  '',
  '.',
  '..',
  'a/b',
  '/',
  '%2f',
  'a%2E',
  'a\0b',
  'a\nb',
  '\u007f',
  '\ud800',
  'x'.repeat(2_000),
])('the segment %j is refused everywhere', (segment) => {
  expect(isSegment(segment)).toBe(false);
  expect(() => keyspace.key('pods', 'default', segment)).toThrow(InvalidKeyError);
  expect(() => keyspace.namespacePrefix('pods', segment)).toThrow(InvalidKeyError);
  expect(() => keyspace.internalKey(segment)).toThrow(InvalidKeyError);
});

test.each(['a//b', '../pods', 'pods/', '/pods', 'pods/..'])(
  'the storage prefix %j is refused',
  (storagePrefix) => {
    expect(() => keyspace.resourcePrefix(storagePrefix)).toThrow(InvalidKeyError);
  },
);

test('a prefix never selects a sibling that starts alike', () => {
  expect(keyspace.resourcePrefix('pods')).toBe('/registry/pods/');
  expect(prefixEnd('/registry/pods/')).toBe('/registry/pods0');
  expect(() => prefixEnd('/registry/pods')).toThrow('ends with');
});

test('shared values and resources cannot meet', () => {
  expect(keyspace.internalKey('ca')).toBe('/registry/svc-internal/ca');
  expect(() => keyspace.key('svc-internal', '', 'ca')).toThrow('svc-internal');
});

test.each(['registry', '/registry/', '/registry'])(
  'the etcd prefix %s means /registry/',
  (prefix) => {
    expect(createKeyspace(prefix).root).toBe('/registry/');
  },
);
test.each(['', '/', '/a/../b', '/a//b'])('the etcd prefix %j is refused', (prefix) => {
  expect(() => createKeyspace(prefix)).toThrow(InvalidKeyError);
});
