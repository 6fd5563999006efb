// Conditions over one budget, variables that are computed when first used, and mutations.
import { describe, expect, test } from '@jest/globals';
import type { AuthorizationDecision } from '../model/declarations.ts';
import { naming, programOf } from '../testing/evaluate.ts';
import { Budget } from './budget.ts';
import { composeVariables } from './composition.ts';
import { compileCondition, evaluateConditions } from './conditions.ts';
import type { ConditionsOutcome } from './conditions.ts';
import { unescapeName } from '../schema/escaping.ts';
import { toJson } from '../testing/to-json.ts';
import { mutationProblem } from './mutation-types.ts';
import {
  authorizationEnvironment,
  claimsEnvironment,
  policyEnvironment,
  userEnvironment,
} from './policy-environment.ts';

const environment = policyEnvironment({ naming, hasParams: true, hasAuthorizer: true });
const object = { metadata: { name: 'web' }, spec: { replicas: 3 } };
const compile = (...texts: string[]) => texts.map((text) => compileCondition(environment, text));

function values(outcome: ConditionsOutcome): unknown {
  if (outcome.kind !== 'results') return outcome;
  return outcome.results.map((one) => (one.kind === 'value' ? one.value : one.message));
}

describe('conditions', () => {
  test('each give a value or an error', () => {
    const budget = new Budget(100);
    const conditions = compile(
      'object.spec.replicas < 5',
      'object.spec.missing == 1',
      'params == null',
      'nowhere',
      '1 + 1',
    );
    const outcome = values(evaluateConditions(conditions, { object, params: null }, budget));
    expect(outcome).toMatchObject([
      true,
      "expression 'object.spec.missing == 1' resulted in error: no such key: missing",
      true,
      expect.stringContaining('compilation error: compilation failed: ERROR: <input>:1:1'),
      'compilation error: must evaluate to bool but got int',
    ]);
  });

  test('stop when the budget is spent, and then none counts', () => {
    const conditions = compile('object.spec.replicas < 5', 'object.spec.replicas > 1');
    expect(evaluateConditions(conditions, { object }, new Budget(8)).kind).toBe('results');
    const budget = new Budget(7);
    expect(evaluateConditions(conditions, { object }, budget)).toEqual({
      kind: 'exhausted',
      message:
        'validation failed due to running out of cost budget, ' +
        'no further validation rules will be run',
    });
    expect(budget.remaining).toBe(-1);
  });

  test('know the resource of the request', () => {
    const [condition] = compile('authorizer.requestResource.check("delete").allowed()');
    const asked: unknown[] = [];
    const decide = (check: unknown): AuthorizationDecision => {
      asked.push(check);
      return { decision: 'allow', reason: '', error: '' };
    };
    const requested = { apiGroup: 'apps', resource: 'deployments', subresource: '', name: 'web' };
    const outcome = evaluateConditions(
      condition === undefined ? [] : [condition],
      { 'authorizer.requestResource': { ...requested, namespace: 'default' } },
      new Budget(1_000_000),
      { authorizer: { decide } },
    );
    expect(values(outcome)).toEqual([true]);
    expect(asked).toMatchObject([{ ...requested, verb: 'delete', namespace: 'default' }]);
  });
});

describe('variables', () => {
  const composed = composeVariables(environment, [
    { name: 'replicas', expression: 'object.spec.replicas' },
    { name: 'many', expression: 'variables.replicas > 2' },
    { name: 'broken', expression: 'nowhere' },
    { name: 'failing', expression: 'object.spec.missing' },
    { name: 'allowed', expression: 'authorizer.path("/").check("get").allowed()' },
  ]);
  const evaluate = (text: string, budget: Budget) => {
    const { bindings, costs } = composed.bind({ object });
    const condition = compileCondition(composed.environment, text);
    return values(evaluateConditions([condition], bindings, budget, { sharedCosts: costs }));
  };

  test('are computed once, and charged to who uses them first', () => {
    const once = new Budget(100);
    const twice = new Budget(100);
    expect(evaluate('variables.many', once)).toEqual([true]);
    expect(evaluate('variables.many && variables.many', twice)).toEqual([true]);
    expect(once.remaining).toBe(100 - 2 - 3 - 3);
    expect(twice.remaining).toBe(once.remaining - 2);
  });

  test('that nobody uses cost nothing', () => {
    const budget = new Budget(100);
    expect(evaluate('true', budget)).toEqual([true]);
    expect(budget.remaining).toBe(100);
  });

  test('that fail say which one', () => {
    const budget = new Budget(100);
    expect(evaluate('variables.failing == 1', budget)).toEqual([
      expect.stringContaining(
        'composited variable "failing" fails to evaluate: no such key: missing',
      ),
    ]);
    expect(evaluate('variables.broken == 1', budget)).toEqual([
      expect.stringContaining('composited variable "broken" fails to compile'),
    ]);
  });

  test('that ask the authorizer are asked again', () => {
    const condition = compileCondition(composed.environment, 'variables.allowed');
    const answers: AuthorizationDecision[] = [];
    const authorizer = { decide: () => answers[0] };
    const run = (budget: Budget): ConditionsOutcome => {
      const { bindings, costs } = composed.bind({ object }, { authorizer });
      return evaluateConditions([condition], bindings, budget, { authorizer, sharedCosts: costs });
    };
    const budget = new Budget(1_000_000);
    expect(run(budget)).toMatchObject({ kind: 'pending', check: { path: '/' } });
    expect(budget.remaining).toBe(1_000_000);
    answers.push({ decision: 'allow', reason: '', error: '' });
    expect(values(run(budget))).toEqual([true]);
    expect(1_000_000 - budget.remaining).toBe(350_003 + 2);
  });
});

test('each use has its own variables', () => {
  const errorOf = (environmentOf: typeof claimsEnvironment, text: string): string | undefined =>
    compileCondition(environmentOf({ naming }), text).error;
  expect(errorOf(claimsEnvironment, 'claims.sub == "a"')).toBeUndefined();
  expect(errorOf(claimsEnvironment, 'claims.sub')).toBe('must evaluate to bool but got any');
  expect(errorOf(claimsEnvironment, 'claims + 1')).toMatch(/\(map\(string, any\), int\)/);
  expect(errorOf(claimsEnvironment, 'user.username == "a"')).toMatch(/undeclared reference/);
  expect(errorOf(userEnvironment, 'user.groups.exists(g, g == "a")')).toBeUndefined();
  expect(errorOf(userEnvironment, 'user.missing == "a"')).toMatch(/undefined field 'missing'/);
  expect(errorOf(authorizationEnvironment, 'request.user == "a"')).toBeUndefined();
  expect(errorOf(authorizationEnvironment, 'object.a == 1')).toMatch(/undeclared reference/);
});

describe('mutations', () => {
  const mutating = policyEnvironment({
    naming,
    hasParams: false,
    hasAuthorizer: false,
    isMutating: true,
  });
  const written = (text: string) => {
    const result = programOf(text, mutating).evaluate({ object });
    if (result.kind !== 'value') throw new Error(JSON.stringify(result));
    const json = toJson(result.value, (_object, key) => unescapeName(key) ?? key);
    return { json, problem: mutationProblem(result.value) };
  };

  test('write objects whose parts are named by path', () => {
    const text =
      'Object{metadata: Object.metadata{labels: Object.metadata.labels{a__dot__b: "c"}},' +
      ' spec: Object.spec{replicas: object.spec.replicas + 1, ?paused: optional.none()}}';
    expect(written(text)).toEqual({
      json: { metadata: { labels: { 'a.b': 'c' } }, spec: { replicas: 4 } },
      problem: undefined,
    });
  });

  test('refuse parts with the name of another path', () => {
    expect(written('Object{spec: Object.status{replicas: 1}}').problem).toBe(
      'type mismatch: unexpected type name "Object.status", expected "Object.spec", ' +
        'which matches field name path from root Object type',
    );
  });

  test('write patches', () => {
    const text =
      'JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: 1}';
    expect(written(`[${text}]`).json).toEqual([
      { op: 'add', path: '/metadata/labels/a~1b', value: 1 },
    ]);
  });
});
