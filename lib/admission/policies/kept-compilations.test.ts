// What is kept of compiled policies: each is compiled once, within a bound of bytes.
import { expect, test } from '@jest/globals';
import { atOnce } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import { resourcesCriteria } from '../match/criteria.ts';
import { naming } from '../testing/asked.ts';
import type { Policy } from './bindings.ts';
import { KeptCompilations } from './kept-compilations.ts';
import { compileMutating } from './mutating-expressions.ts';
import { compileValidating } from './validating-expressions.ts';

const policy = (name: string, spec = {}): Policy => ({
  name,
  spec,
  criteria: resourcesCriteria(undefined),
  failsOpen: false,
  paramKind: undefined,
});

/** Compiled policies have the size that their name says. */
function keeping(bytesMax: number): { kept: KeptCompilations<{ bytes: number }>; made: string[] } {
  const made: string[] = [];
  function* compile({ name }: Policy): Steps<{ bytes: number }> {
    made.push(name);
    yield;
    return { bytes: Number(name) };
  }
  return { kept: new KeptCompilations(compile, bytesMax), made };
}

test('a policy is compiled once, until others that are asked for need its place', async () => {
  const { kept, made } = keeping(100);
  const [forty, fifty, thirty] = [policy('40'), policy('50'), policy('30')];
  for (const one of [forty, fifty, forty, fifty, forty]) await kept.of(one);
  expect([made, kept.bytes]).toEqual([['40', '50'], 90]);
  await kept.of(thirty); // Fifty was not asked for longest.
  await kept.of(forty);
  expect([made, kept.bytes]).toEqual([['40', '50', '30'], 70]);
  await kept.of(fifty);
  expect([made, kept.bytes]).toEqual([['40', '50', '30', '50'], 90]);
});

test('one that is larger than all that may be kept is compiled each time', async () => {
  const { kept, made } = keeping(100);
  const large = policy('101');
  for (const one of [large, large]) await kept.of(one);
  expect([made, kept.bytes]).toEqual([['101', '101'], 0]);
});

test('what was needed for compiling alone is not kept', () => {
  const validations = [{ expression: 'object != null', messageExpression: '"m"' }];
  const validating = atOnce(compileValidating(policy('p', { validations }), naming));
  const mutating = atOnce(compileMutating(policy('p', { mutations: [] }), naming));
  for (const { variables } of [validating, mutating]) {
    expect(Object.keys(variables).sort()).toEqual(['bind', 'conditions']);
  }
});
