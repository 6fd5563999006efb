// What budgets allow, by their status alone.
import { describe, expect, test } from '@jest/globals';
import { cloneJson } from '../../api/json-value.ts';
import { limits } from '../../base/limits.ts';
import { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { selectsPod, spares, standingOf, takeDisruption } from './disruption-budget.ts';

const nowMs = Date.parse('2030-01-02T03:04:05Z');
const now = '2030-01-02T03:04:05Z';
const before = '2029-01-01T00:00:00Z';

const podOf = (status: object, metadata: object = {}): ApiObject =>
  ({ metadata: { name: 'p', ...metadata }, spec: {}, status }) as ApiObject;
const budgetOf = (status: object, spec: object = {}, generation = 1): ApiObject =>
  ({
    metadata: { name: 'b', generation },
    spec,
    status: { observedGeneration: 1, ...status },
  }) as unknown as ApiObject;

describe('a pod', () => {
  test.each([
    ['guarded', 'that runs', { phase: 'Running' }, {}],
    ['guarded', 'of a phase that nobody knows', { phase: 'Unknown' }, {}],
    ['guarded', 'without a phase', {}, {}],
    ['pending', 'that does not run yet', { phase: 'Pending' }, {}],
    ['ended', 'that succeeded', { phase: 'Succeeded' }, {}],
    ['ended', 'that failed', { phase: 'Failed' }, {}],
    ['ended', 'that is being deleted', { phase: 'Running' }, { deletionTimestamp: before }],
    ['ended', 'that is deleted before it ran', { phase: 'Pending' }, { deletionTimestamp: before }],
  ])('is %s: one %s', (standing, _which, status, metadata) => {
    expect(standingOf(podOf(status, metadata))).toBe(standing);
  });

  test.each([
    ['no selector', undefined, false],
    ['an empty selector', {}, true],
    ['its labels', { matchLabels: { app: 'a' } }, true],
    ['labels of others', { matchLabels: { app: 'b' } }, false],
    ['an expression', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }, true],
    [
      'an expression that nobody knows',
      { matchExpressions: [{ key: 'app', operator: '~' }] },
      false,
    ],
  ])('is selected by %s: %#', (_what, selector, isSelected) => {
    const budget = budgetOf({}, selector === undefined ? {} : { selector });
    expect(selectsPod(budget, podOf({}, { labels: { app: 'a' } }))).toBe(isSelected);
  });
});

describe('a pod that is not ready', () => {
  const unready = podOf({ phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] });
  const enough = { currentHealthy: 2, desiredHealthy: 2 };
  const few = { currentHealthy: 1, desiredHealthy: 2 };
  const policy = (of: string): object => ({ unhealthyPodEvictionPolicy: of });

  test.each([
    ['goes while the others are enough', enough, {}, true],
    ['goes while the others are enough, as asked for', enough, policy('IfHealthyBudget'), true],
    ['stays while the others are too few', few, policy('IfHealthyBudget'), false],
    ['stays where nothing is known to be needed', { currentHealthy: 2 }, {}, false],
    ['goes where it always may', few, policy('AlwaysAllow'), true],
  ])('%s', (_claim, status, spec, isSpared) => {
    expect(spares(budgetOf(status, spec), unready)).toBe(isSpared);
    expect(spares(budgetOf(status, spec), podOf({ phase: 'Running' }))).toBe(isSpared);
  });

  test('is one that says nothing of it; a ready one is never spared', () => {
    const ready = podOf({ conditions: [{ type: 'Ready', status: 'True' }] });
    expect(spares(budgetOf(enough, policy('AlwaysAllow')), ready)).toBe(false);
  });
});

function taken(budget: ApiObject): unknown {
  const next = cloneJson(budget);
  takeDisruption(next, 'p', nowMs);
  return next['status'];
}

describe('a disruption', () => {
  test('is taken, and names the pod and the time', () => {
    expect(taken(budgetOf({ disruptionsAllowed: 3, disruptedPods: { o: before } }))).toEqual({
      observedGeneration: 1,
      disruptionsAllowed: 2,
      disruptedPods: { o: before, p: now },
    });
  });

  const insufficient = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: 1,
  };
  test.each([
    ['without one before', [], now],
    ['since now, where one was allowed', [{ ...insufficient, status: 'True' }], now],
    ['since when it was so', [{ ...insufficient, reason: 'x' }], before],
  ])('that is the last one is said in a condition %s', (_claim, conditions, since) => {
    const given = conditions.map((one) => ({ ...one, lastTransitionTime: before }));
    const other = { type: 'Other', status: 'True' };
    const budget = budgetOf({ disruptionsAllowed: 1, conditions: [other, ...given] });
    expect(taken(budget)).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [other, { ...insufficient, lastTransitionTime: since }],
    });
  });

  test('takes a pod of any name', () => {
    const next = budgetOf({ disruptionsAllowed: 2 });
    takeDisruption(next, '__proto__', nowMs);
    const { disruptedPods } = next['status'] as { disruptedPods: object };
    expect(Object.entries(disruptedPods)).toEqual([['__proto__', now]]);
  });

  const many = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${String(at)}`, before]));
  const failed = (reason: string): object => ({
    conditions: [{ type: 'DisruptionAllowed', status: 'False', reason, message: 'no scale' }],
  });
  const none = { disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 4 };
  const cannot = 'The disruption budget b does not allow evicting pods currently';
  test.each([
    ['429 while the status lags', budgetOf({ disruptionsAllowed: 9 }, {}, 2), 429, 10, 'is still'],
    ['429 when none is left', budgetOf(none), 429, undefined, cannot],
    [
      '429 while pods are missing',
      budgetOf({ currentHealthy: 1, desiredHealthy: 2 }),
      429,
      undefined,
      'The disruption budget b needs 2 healthy pods and has 1 currently',
    ],
    [
      '429 with why the sync failed',
      budgetOf({ ...failed('SyncFailed') }),
      429,
      undefined,
      `${cannot} because it failed sync: no scale`,
    ],
    [
      '429 with why there is none',
      budgetOf({ ...none, ...failed('InsufficientPods') }),
      429,
      undefined,
      `${cannot} (InsufficientPods): no scale`,
    ],
  ])('is %s', (_claim, budget, code, retryAfterSeconds, said) => {
    const error = refusalOf(budget);
    expect(error).toMatchObject({
      code,
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: { causes: [{ reason: 'DisruptionBudget' }] },
    });
    expect(error.details?.retryAfterSeconds).toBe(retryAfterSeconds);
    expect(error.details?.causes?.[0]?.message).toContain(said);
  });

  test.each([
    ['when fewer than none are allowed', { disruptionsAllowed: -1 }],
    [
      'while nobody confirms what was evicted',
      { disruptionsAllowed: 1, disruptedPods: many(limits.disruptedPodsMax + 1) },
    ],
  ])('is 403 %s', (_claim, status) => {
    expect(refusalOf(budgetOf(status))).toMatchObject({
      code: 403,
      details: { name: 'b', group: 'policy', kind: 'poddisruptionbudget' },
    });
  });

  test('is taken while the list of evicted pods is full, not over', () => {
    const full = many(limits.disruptedPodsMax);
    expect(taken(budgetOf({ disruptionsAllowed: 2, disruptedPods: full }))).toMatchObject({
      disruptionsAllowed: 1,
    });
  });
});

function refusalOf(budget: ApiObject): StatusError {
  try {
    takeDisruption(budget, 'p', nowMs);
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('it is taken');
}
