import { describe, expect, test } from '@jest/globals';
import { badRequest } from '../base/status.ts';
import { admissionChain } from './chain.ts';
import { measuredChain, measuredPlugin } from './measured.ts';
import type { AdmissionObserver } from './measured.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';

const request = { operation: 'CREATE', dryRun: false } as AdmissionRequest;
const signal = new AbortController().signal;
const refusal = badRequest('no');

describe.each([
  ['at once', (isRefused: boolean) => () => refuseIf(isRefused)],
  ['later', (isRefused: boolean) => () => Promise.resolve().then(() => refuseIf(isRefused))],
])('plugins that answer %s', (_when, answer) => {
  test.each([false, true])('are counted by type, refused: %s', async (isRejected) => {
    const told: string[] = [];
    const observer: AdmissionObserver = {
      onPlugin: (name, operation, type, outcome, seconds) =>
        told.push(`${name} ${operation} ${type} ${outcome} ${said(seconds)}`),
      onStep: (operation, type, outcome, seconds) =>
        told.push(`step ${operation} ${type} ${outcome} ${said(seconds)}`),
    };
    const plugin: AdmissionPlugin = {
      name: 'Test',
      sideEffects: false,
      handles: () => true,
      mutate: answer(false),
      async validate() {
        await answer(isRejected)();
      },
    };
    const chain = measuredChain(admissionChain([measuredPlugin(plugin, observer)]), observer);
    expect(await chain.mutate(request, {}, signal)).toBe('yes');
    const validated = (async () => chain.validate(request, {}, signal))();
    await (isRejected ? expect(validated).rejects.toBe(refusal) : validated);
    const end = `CREATE validate ${isRejected ? 'rejected' : 'admitted'} timed`;
    expect(told).toEqual([
      'Test CREATE admit admitted timed',
      'step CREATE admit admitted timed',
      `Test ${end}`,
      `step ${end}`,
    ]);
  });
});

function refuseIf(isRefused: boolean): boolean {
  if (isRefused) throw refusal;
  return true;
}

const said = (seconds: number): string => (seconds >= 0 ? 'timed' : 'not timed');

test('a plugin has the methods that it had', () => {
  const observer: AdmissionObserver = { onPlugin: () => undefined, onStep: () => undefined };
  const bare = { name: 'Bare', sideEffects: true, handles: () => false };
  expect(Object.keys(measuredPlugin(bare, observer))).toEqual(['name', 'sideEffects', 'handles']);
});
