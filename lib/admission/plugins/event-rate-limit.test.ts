import { describe, expect, test } from '@jest/globals';
import { StatusError } from '../../base/status.ts';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { admissionChain } from '../chain.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { asked, resourceOf } from '../testing/asked.ts';
import { partsOf } from '../testing/cluster.ts';
import { eventRateLimit } from './event-rate-limit.ts';

const head = { kind: 'Configuration', apiVersion: 'eventratelimit.admission.svc.io/v1alpha1' };
const event = (name = 'p', component = 'c'): ApiObject => ({
  metadata: { name: 'e' },
  source: { component, host: 'h' },
  involvedObject: { kind: 'Pod', namespace: 'a', name, uid: 'u', apiVersion: 'v1' },
});

function limited(...limits: readonly object[]): {
  ask: (change?: Partial<AdmissionRequest>, object?: ApiObject) => Promise<string>;
  clock: ManualClock;
} {
  const clock = new ManualClock();
  const chain = admissionChain([
    eventRateLimit(partsOf({ configuration: { ...head, limits }, clock })),
  ]);
  const ask = async (change: Partial<AdmissionRequest> = {}, object = event()): Promise<string> => {
    const { request } = asked({ resource: resourceOf('events'), name: 'e', ...change });
    try {
      await chain.validate(request, object, new AbortController().signal);
      return 'admitted';
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return `${String(error.code)} ${error.reason} ${error.message}`;
    }
  };
  return { ask, clock };
}
const refused = (text: string): string => `429 TooManyRequests Too many requests: ${text}`;
const user = { name: 'jane', uid: '', groups: [], extra: {} };

describe('p.EventRateLimit', () => {
  test.each([
    ['Server', {}, event('q'), { namespace: 'b', user }, ''],
    ['Namespace', { namespace: 'b' }, event(), { user }, 'a'],
    ['User', { user }, event(), { namespace: 'b' }, 'tester'],
    ['SourceAndObject', {}, event('q'), { namespace: 'b', user }, 'chPodapuv1'],
  ] as const)('p.EventRateLimit: by %s', async (type, other, object, same, key) => {
    const { ask, clock } = limited({ type, qps: 1, burst: 1 });
    expect(await ask()).toBe('admitted');
    expect(await ask(same)).toBe(refused(`limit reached on type ${type} for key ${key}`));
    if (type !== 'Server') expect(await ask(other, object)).toBe('admitted');
    clock.pass(1000);
    expect(await ask({ operation: 'UPDATE' })).toBe('admitted');
  });

  test('p.EventRateLimit: all are asked, and all that refuse are told of', async () => {
    const { ask, clock } = limited(
      { type: 'Namespace', qps: 1, burst: 1 },
      { type: 'User', qps: 1, burst: 3 },
    );
    expect(await ask()).toBe('admitted');
    const first = 'limit reached on type Namespace for key a';
    expect(await ask()).toBe(refused(first));
    expect(await ask()).toBe(refused(first));
    expect(await ask()).toBe(refused(`[${first}, limit reached on type User for key tester]`));
    clock.pass(1000);
    expect(await ask()).toBe('admitted');
  });

  test('p.EventRateLimit: a dry run counts nothing, and is not refused', async () => {
    const { ask } = limited({ type: 'Server', qps: 1, burst: 1 });
    expect(await ask({ dryRun: true })).toBe('admitted');
    expect(await ask()).toBe('admitted');
    expect(await ask({ dryRun: true })).toBe('admitted');
    expect(await ask({ operation: 'DELETE' })).toBe('admitted');
    expect(await ask({ resource: resourceOf('pods') })).toBe('admitted');
  });

  test('p.EventRateLimit: events of both groups, which are stored alike', async () => {
    const { ask } = limited({ type: 'SourceAndObject', qps: 1, burst: 1 });
    expect(await ask({ resource: resourceOf('events', 'events.{v}') })).toBe('admitted');
    expect(await ask()).toMatch(/^429 /);
  });

  test('p.EventRateLimit: the least recently used are forgotten', async () => {
    const { ask } = limited({ type: 'Namespace', qps: 1, burst: 1, cacheSize: 2 });
    for (const namespace of ['a', 'b']) await ask({ namespace });
    expect(await ask({ namespace: 'a' })).toMatch(/^429/);
    expect(await ask({ namespace: 'c' })).toBe('admitted'); // b is forgotten
    expect(await ask({ namespace: 'a' })).toMatch(/^429/);
    expect(await ask({ namespace: 'b' })).toBe('admitted');
  });

  test('p.EventRateLimit: long keys are told apart', async () => {
    const { ask } = limited({ type: 'SourceAndObject', qps: 1, burst: 1 });
    const long = 'x'.repeat(10_000);
    expect(await ask({}, event(`${long}a`))).toBe('admitted');
    expect(await ask({}, event(`${long}b`))).toBe('admitted');
    expect(await ask({}, event(`${long}b`))).toMatch(/^429/);
  });
});

test.each([
  [undefined, /^there is no configuration of its limits$/],
  [{ ...head, limits: [] }, /^limits: must not be empty$/],
  [{ ...head, kind: 'Limits' }, /must be of kind Configuration/],
  [
    { ...head, limits: [{ type: 'Pod', qps: 1, burst: 1 }] },
    /^limits\[0\]\.type: "Pod" is none of/,
  ],
  [{ ...head, limits: [{ type: 'toString', qps: 1, burst: 1 }] }, /"toString" is none of/],
  [{ ...head, limits: [{ type: 'User', burst: 1 }] }, /^limits\[0\]\.qps: must be positive$/],
  [{ ...head, limits: [{ type: 'User', qps: 1 }] }, /^limits\[0\]\.burst: must be positive$/],
  [
    { ...head, limits: [{ type: 'User', qps: 1, burst: 1, cacheSize: -1 }] },
    /^limits\[0\]\.cacheSize: must not be negative$/,
  ],
  [{ ...head, limits: [{ type: 'User', qps: 1.5, burst: 1 }] }, /qps: must be a whole number/],
  [{ ...head, limits: [{ type: 'User', rate: 1 }] }, /unknown field "limits\[0\]\.rate"/],
])('p.EventRateLimit: the configuration %j is refused', (configuration, message) => {
  const known = configuration === undefined ? {} : { configuration };
  expect(() => eventRateLimit(partsOf(known))).toThrow(message);
});
