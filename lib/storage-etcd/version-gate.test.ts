import { expect, test } from '@jest/globals';
import { isTooOld, supportsProgressRequests } from './version-gate.ts';

test.each([
  ['3.4.23', false],
  ['3.4.30', false],
  ['3.4.31', true],
  ['3.4.31-rc.1', false],
  ['3.4.99', true],
  ['3.5.0-rc.0', false],
  ['3.5.0', false],
  ['3.5.12', false],
  ['3.5.13-rc.0', false],
  ['3.5.13', true],
  ['3.5.16', true],
  ['3.5.30+git', true],
  ['3.6.0', true],
  ['v3.6.1', true],
  ['4.0.0', true],
  ['2.3.8', false],
  ['', false],
  ['3.5', false],
  ['unknown', false],
  ['3.5.x', false],
])('%s: %s', (version, isSupported) => {
  expect(supportsProgressRequests(version)).toBe(isSupported);
});

test.each([
  ['2.3.8', true],
  ['3.3.27', true],
  ['3.4.0-rc.1', false],
  ['3.4.0', false],
  ['3.5.30+git', false],
  ['4.0.0', false],
  ['unknown', false],
])('%s is too old to be used: %s', (version, expected) => {
  expect(isTooOld(version)).toBe(expected);
});
