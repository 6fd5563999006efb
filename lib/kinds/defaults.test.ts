import { describe, expect, test } from '@jest/globals';
import { featureGates } from '../config/gates.ts';
import { createDefaults } from '../api/defaults.ts';
import type { Defaults } from '../api/defaults.ts';
import { defaultValueOf } from '../api/default-value.ts';
import { cloneJson } from '../api/json-value.ts';
import { allCases, completed, profile, scheme } from './testing/completed-cases.ts';
import type { DefaultCase } from './testing/default-case.ts';
import { builtInRules } from './built-in-kinds.ts';

test.each(allCases.map((one) => [one.claim, one] as const))('%s', (_claim, one) => {
  const changes = completed({ ...one, given: cloneJson(one.given) });
  const isExpected = (path: string): boolean =>
    !(one.except ?? []).some((prefix) => path.startsWith(prefix)) || Object.hasOwn(one.adds, path);
  const found = changes.filter(([path]) => isExpected(path));
  expect(Object.fromEntries(found)).toEqual(one.adds);
});

test.each(allCases.map((one) => [one.claim, one] as const))('once is enough: %s', (_claim, one) => {
  const given = cloneJson(one.given);
  completed({ ...one, given });
  expect(completed({ ...one, given })).toEqual([]);
});

test('every default is a value of its field', () => {
  for (const { types } of scheme.packages.values()) {
    for (const { fields } of types) {
      for (const field of fields) {
        const isGiven = field.options['defaultValue'] !== undefined;
        expect(defaultValueOf(field) === undefined).toBe(!isGiven);
      }
    }
  }
});

test('rules belong to types that exist', () => {
  for (const id of Object.keys(builtInRules.defaults)) expect(scheme.type(id).id).toBe(id);
});

describe('what decides the defaults', () => {
  const defaults = (gates: Readonly<Record<string, boolean>> = {}): Defaults =>
    createDefaults(
      {
        profile,
        isOn: (gate) => gates[gate] ?? featureGates(new Map()).isEnabled(gate),
        nowMs: () => 0,
      },
      builtInRules.defaults,
    );
  const versionOf = (id: string, gates?: DefaultCase['gates']): string =>
    defaults(gates).versionOf(scheme.type(id));
  test('names the rules below a type with their versions', () => {
    const pod = versionOf('core/v1.Pod');
    expect(pod).toContain('core/v1.Pod:2');
    expect(pod).toContain('core/v1.Volume:1');
    expect(versionOf('core/v1.ConfigMap')).toBe('');
  });
  test.each([
    ['core/v1.Pod', 'PodLevelResources', false],
    ['apps/v1.StatefulSet', 'MaxUnavailableStatefulSet', true],
    ['storage/v1.CSIDriver', 'VolumeLimitScaling', true],
  ])('changes for %s with the gate %s', (id, gate, isOn) => {
    expect(versionOf(id, { [gate]: isOn })).not.toBe(versionOf(id));
    expect(versionOf(id, { Other: isOn })).toBe(versionOf(id));
  });
  test('is part of every record of a resource', () => {
    for (const resource of scheme.resources) {
      expect(resource.defaultsVersion).toBe(scheme.defaults.versionOf(resource.type));
    }
  });
});
