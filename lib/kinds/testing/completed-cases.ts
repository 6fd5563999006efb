// All cases, and what completing the object of one changes, at a fixed time. For suites.
import { featureGates } from '../../config/gates.ts';
import { createDefaults } from '../../api/defaults.ts';
import { builtInScheme, builtInRules } from '../built-in-kinds.ts';
import { namingProfile } from '../../api/vendor.ts';
import { coreCases } from './core-cases.ts';
import { changesOf } from './default-case.ts';
import type { Change, DefaultCase } from './default-case.ts';
import { groupCases } from './group-cases.ts';
import { podCases } from './pod-cases.ts';

export const profile = namingProfile('kubernetes');
export const scheme = builtInScheme({ profile });
export const allCases: readonly DefaultCase[] = [...podCases, ...coreCases, ...groupCases];

const nowMs = Date.parse('2024-05-01T12:30:00.5Z');
const gatesByDefault = featureGates(new Map());

/** The object of the case itself is completed. */
export function completed({ type, given, gates = {} }: DefaultCase): Change[] {
  const isOn = (gate: string): boolean =>
    Object.hasOwn(gates, gate) ? gates[gate] === true : gatesByDefault.isEnabled(gate);
  const defaults = createDefaults({ profile, isOn, nowMs: () => nowMs }, builtInRules.defaults);
  return changesOf(given, scheme.type(type), defaults);
}
