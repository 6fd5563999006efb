import { describe, expect, test } from '@jest/globals';
import { gateTable } from './gate-table.ts';
import { effectiveGates } from './gate-effects.ts';
import type { GateName } from './gate-effects.ts';
import { featureGates } from './gates.ts';

const gates = (text: string) =>
  featureGates(
    new Map(
      text.split(',').flatMap((pair) => {
        const [name = '', value = ''] = pair.split('=');
        return name === '' ? [] : [[name, value] as const];
      }),
    ),
  );

describe('feature gates', () => {
  test.each([
    ['', 'WatchList', true],
    ['WatchList=false', 'WatchList', false],
    ['WatchList=F', 'WatchList', false],
    ['kube:WatchList=false', 'WatchList', false],
    ['AllBeta=false', 'WatchList', false],
    ['AllBeta=false,WatchList=true', 'WatchList', true],
    ['WatchList=true,AllBeta=false', 'WatchList', true],
    ['', 'AllowUnsafeMalformedObjectDeletion', false],
    ['AllAlpha=true', 'AllowUnsafeMalformedObjectDeletion', true],
    ['AllAlpha=true', 'APIResponseCompression', true],
  ] as [string, GateName, boolean][])('%j: %s is %s', (text, gate, isOn) => {
    expect(gates(text).isOn(gate)).toBe(isOn);
  });

  test.each([
    ['NoSuchGate=true', /unrecognized feature gate: NoSuchGate/],
    ['other:WatchList=true', /unrecognized feature gate: other:WatchList/],
    ['constructor=true', /unrecognized feature gate: constructor/],
    ['WatchList=maybe', /invalid value of WatchList: "maybe"/],
    ['AllAlpha=maybe', /invalid value of AllAlpha/],
    [
      'APIServerTracing=false',
      /cannot set feature gate APIServerTracing to false, .* locked to true/,
    ],
  ])('%s is refused', (text, message) => {
    expect(() => gates(text)).toThrow(message);
  });

  test.each([
    ['APIServerTracing=true', ['generally available', 'no effect']],
    ['StorageNamespaceIndex=true', ['deprecated', 'no effect']],
    ['WatchList=true', []],
  ])('%s is noted', (text, notes) => {
    const found = gates(text).notes;
    expect(found).toHaveLength(notes.length);
    notes.forEach((note, index) => expect(found[index]).toContain(note));
  });

  test('the table has each gate once, GA gates on, and all that have an effect', () => {
    const names = gateTable.map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of Object.keys(effectiveGates)) expect(names).toContain(name);
    for (const [, stage, isOn] of gateTable) if (stage === 'Alpha') expect(isOn).toBe(false);
  });
});
