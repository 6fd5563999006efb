// Budgets of policies to the unit: one below, all of it, one above.
import { describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { PolicyWorld, pod } from './testing/policy-world.ts';

/** What a call may cost; the list is so long that going through all of it costs three less. */
const callMax = 1_000_000;
const listLength = (callMax - 7) / 3;
const zeros = (length: number): number[] => Array.from({ length }, () => 0);
const list = zeros(listLength);

/** Costs this much, from three less than `callMax` on: each comparison is one more. */
const costing = (cost: number): string =>
  ['object.spec.list.all(a, true)', ...ones(cost - callMax + 3)].join(' && ');
const ones = (count: number): string[] => Array.from({ length: count }, () => '1 == 1');

const overCall = "' resulted in error: operation cancelled: actual cost limit exceeded";
const overBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run';

async function answerTo(
  spec: object,
  shortLength = 0,
): Promise<{ readonly cost: number; readonly text: string }> {
  const world = new PolicyWorld();
  world.add('p', spec);
  const judged = pod('x', { spec: { list, short: zeros(shortLength) } });
  const [text = ''] = await world.violations(judged);
  return { cost: Number(world.logged[0]?.['cost']), text };
}

describe('v.budget: a call', () => {
  test.each<[string, number, boolean]>([
    ['one below', callMax - 1, true],
    ['all of it', callMax, true],
    ['one above', callMax + 1, false],
  ])('%s', async (_where, cost, isEnough) => {
    const answer = await answerTo({ validations: [{ expression: costing(cost) }] });
    if (isEnough) expect(answer).toEqual({ cost, text: '' });
    else expect(answer.text.endsWith(overCall)).toBe(true);
  });
});

describe('v.budget: the validations of a policy together', () => {
  const whole = limits.policyCostMax / callMax;
  test.each<[string, number, boolean]>([
    ['one below', -1, true],
    ['all of it', 0, true],
    ['one above', 1, false],
  ])('%s', async (_where, more, isEnough) => {
    const costs = Array.from({ length: whole }, () => callMax);
    const expressions = costs.map((cost, at) =>
      costing(at === 0 ? cost + Math.min(more, 0) : cost),
    );
    if (more > 0) expressions.push(...ones(more));
    const validations = expressions.map((expression) => ({ expression }));
    const answer = await answerTo({ validations });
    if (isEnough) expect(answer).toEqual({ cost: limits.policyCostMax + more, text: '' });
    else expect(answer.text).toBe(overBudget);
  });
});

describe('v.budget: the match conditions of a policy together', () => {
  test.each<[string, number, string]>([
    ['one below', -1, 'failed expression: false'],
    ['all of it', 0, 'failed expression: false'],
    ['one above', 1, overBudget],
  ])('%s', async (_where, more, text) => {
    const rest = limits.matchConditionsCostMax + more - 2 * callMax;
    const shortLength = Math.floor((rest - 4) / 3);
    const short = ['object.spec.short.all(a, true)', ...ones(rest - 4 - 3 * shortLength)];
    const expressions = [costing(callMax), costing(callMax), short.join(' && ')];
    const matchConditions = expressions.map((expression, at) => ({
      name: `c${String(at)}`,
      expression,
    }));
    const spec = { matchConditions, validations: [{ expression: 'false' }] };
    expect((await answerTo(spec, shortLength)).text).toBe(text);
  });
});
