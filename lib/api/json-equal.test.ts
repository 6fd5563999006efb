import { expect, test } from '@jest/globals';
import { alwaysThere, sameJson } from './json-equal.ts';
import { switches } from '../config/flag-kinds.ts';
import { noKindRules } from './testing/no-kind-rules.ts';
import { createScheme } from './scheme.ts';
import type { FieldInfo, JsonValue } from './type-info.ts';
import { namingProfile } from './vendor.ts';

test.each<[JsonValue | undefined, JsonValue | undefined, boolean]>([
  [1, 1, true],
  [1n, 1, true],
  [{ a: [1, { b: 'c' }] }, { a: [1, { b: 'c' }] }, true],
  [{ a: [1] }, { a: [2] }, false],
  [{ a: null, b: [] }, {}, true],
  [{ a: 0 }, {}, false],
  [{ emptyDir: {} }, {}, false],
  [{}, { emptyDir: {} }, false],
  [{ resources: {} }, {}, true],
  [{}, { status: { loadBalancer: {} } }, true],
  [{ resources: { limits: { cpu: '1' } } }, {}, false],
  [JSON.parse('{"__proto__":1}') as JsonValue, {}, false],
  [undefined, null, true],
  [[], undefined, true],
])('%j and %j', (left, right, isSame) => {
  expect(sameJson(left, right)).toBe(isSame);
  expect(sameJson(right, left)).toBe(isSame);
});

test('members that are always there have no tracked presence', () => {
  const runtimeConfig = switches.parse('api/all=true');
  const { storedResources } = createScheme({
    rules: noKindRules,
    profile: namingProfile('svc'),
    runtimeConfig,
  });
  const types = new Set(storedResources.map(({ type }) => type));
  const plain = new Set<string>();
  for (const type of types) {
    for (const field of type.fields) {
      if (field.message === undefined) continue;
      types.add(field.message);
      if (isPlainMessage(field)) plain.add(field.jsonName);
    }
  }
  expect([...alwaysThere].filter((name) => !plain.has(name))).toEqual([]);
  expect([...plain].filter((name) => !alwaysThere.has(name)).sort()).toEqual(kept);
});

const isPlainMessage = ({ cardinality, message, pointer, jsonName }: FieldInfo): boolean =>
  cardinality === 'single' &&
  message !== undefined &&
  message.special === undefined &&
  !pointer &&
  jsonName !== '' &&
  jsonName !== '-';

/** Also names of members whose presence says something in other kinds. */
const kept = ['conditions', 'podSelector', 'resource', 'schema'];
