// What is kept of compiled policies: each is compiled once, within a bound of bytes.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { atOnce } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import { resourcesCriteria } from '../match/criteria.ts';
import { naming } from '../testing/asked.ts';
import type { Policy } from './bindings.ts';
import { compileShared, keptOf } from './compiled.ts';
import type { PolicyExpressions } from './compiled.ts';
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

test('what was needed for compiling alone is not handed on', () => {
  const validations = [{ expression: 'object != null', messageExpression: '"m"' }];
  const validating = atOnce(compileValidating(policy('p', { validations }), naming));
  const mutating = atOnce(compileMutating(policy('p', { mutations: [] }), naming));
  for (const { variables } of [validating, mutating]) {
    expect(Object.keys(variables).sort()).toEqual(['bind', 'conditions']);
  }
});

type Shared = Parameters<typeof keptOf>[0];

/** A value, and whether it was collected since: nothing holds the environment but what is kept. */
function compiledAway(keep: (shared: Shared) => PolicyExpressions): {
  kept: PolicyExpressions;
  environment: WeakRef<object>;
} {
  const variables = [{ name: 'v', expression: 'object.metadata.name' }];
  const shared = atOnce(compileShared(policy('p', { variables }), naming));
  return { kept: keep(shared), environment: new WeakRef(shared.variables.environment) };
}

test('nor does what is kept hold it', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const made = [compiledAway(keptOf), compiledAway((shared) => shared)];
  await new Promise((resolve) => setImmediate(resolve)); // A reference that was just made holds.
  collect();
  expect(made.map(({ environment }) => environment.deref() !== undefined)).toEqual([false, true]);
  expect(made[0]?.kept.variables.conditions).toHaveLength(1);
});
