import { expect, test } from '@jest/globals';
import { compareVersions } from './version-order.ts';

test('stages come first, then numbers, then other names', () => {
  const ordered = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta10', 'v3beta2', 'v12alpha1'];
  const others = ['foo1', 'foo10', 'v01', 'v1beta'];
  const all = [...ordered, ...others];
  expect([...all].reverse().sort(compareVersions)).toEqual(all);
  expect(compareVersions('foo', 'foo')).toBe(0);
  expect(compareVersions('v1', 'v1')).toBe(0);
});
