import { expect, test } from '@jest/globals';
import { FieldErrors } from '../../api/field-errors.ts';
import { namingProfile } from '../../api/vendor.ts';
import type { Attributes } from '../authorizer.ts';
import { attributesOf } from '../testing/attributes.ts';
import { compileMatchConditions, conditionEnvironment } from './match-conditions.ts';

const environment = conditionEnvironment(namingProfile('svc'));
const conditionsOf = (...expressions: readonly string[]) => {
  const errors = new FieldErrors();
  const conditions = compileMatchConditions(expressions, environment, { errors, path: 'c' });
  expect(errors.list).toEqual([]);
  return conditions;
};

const pods: Partial<Attributes> = {
  user: { name: 'jane', uid: '', groups: ['g'], extra: {} },
  isResourceRequest: true,
  verb: 'list',
  version: 'v1',
  resource: 'pods',
  namespace: 'ns-1',
  labelSelector: { requirements: [{ key: 'a', operator: 'in', values: ['b'] }] },
};
const path: Partial<Attributes> = { path: '/metrics' };

const onPath = 'request.nonResourceAttributes.path == "/metrics"';
const inNs = 'request.resourceAttributes.namespace.startsWith("ns-")';

test.each<[expressions: string[], asked: Partial<Attributes>, outcome: string]>([
  [[], pods, 'match'],
  [['has(request.resourceAttributes)', inNs, 'request.user != "bob"'], pods, 'match'],
  [['has(request.resourceAttributes)', inNs], { ...pods, namespace: 'x' }, 'excluded'],
  [['has(request.resourceAttributes)'], path, 'excluded'],
  // One that is false decides, wherever it stands among those that fail.
  [[inNs, 'request.user == "nobody"'], path, 'excluded'],
  [['request.user == "nobody"', inNs], path, 'excluded'],
  [[onPath, '!has(request.resourceAttributes)'], path, 'match'],
  [['"g" in request.groups'], pods, 'match'],
  [['request.uid == "" && request.resourceAttributes.subresource == ""'], pods, 'match'],
  [['size(request.extra) == 0'], pods, 'match'],
  [
    ['request.resourceAttributes.labelSelector.requirements.exists(r, r.operator == "In")'],
    pods,
    'match',
  ],
  [['has(request.resourceAttributes.fieldSelector)'], pods, 'excluded'],
])('%j', (expressions, asked, outcome) => {
  expect(conditionsOf(...expressions).match(attributesOf(asked))).toBe(outcome);
});

test('those that fail are told, when none is false', () => {
  const outcome = conditionsOf('true', inNs, `${inNs} && true`).match(attributesOf(path));
  expect(outcome).toEqual({
    errors: [
      `cel evaluation error: expression '${inNs}' resulted in error: ` +
        'no such key: resourceAttributes',
      `cel evaluation error: expression '${inNs} && true' resulted in error: ` +
        'no such key: resourceAttributes',
    ],
  });
});

test('an expression that costs too much fails', () => {
  const groups = Array.from({ length: 300 }, (_, index) => `g${String(index)}`);
  const dear = 'request.groups.all(a, request.groups.all(b, request.groups.all(c, a + b != c)))';
  const user = { name: 'u', uid: '', groups, extra: {} };
  expect(conditionsOf(dear).match(attributesOf({ user }))).toEqual({
    errors: [expect.stringContaining('cost limit exceeded')],
  });
});
