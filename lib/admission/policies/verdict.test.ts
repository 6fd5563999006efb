// What is said of a write that policies do not let pass, to whom, and what is counted and logged.
import { expect, test } from '@jest/globals';
import { pod, PolicyWorld } from './testing/policy-world.ts';

const never = (message: string): object => ({ validations: [{ expression: 'false', message }] });

test('v.say: the first violation gives message and code, every one is a cause', async () => {
  const world = new PolicyWorld();
  world.add('p', {
    validations: [
      { expression: 'true' },
      { expression: 'false', message: 'one', reason: 'RequestEntityTooLarge' },
      { expression: 'false', message: 'two', reason: 'Forbidden' },
    ],
  });
  world.add('q', never('three'));
  const text = (policy: string, message: string): string =>
    `ValidatingAdmissionPolicy '${policy}' with binding '${policy}-0' denied request: ${message}`;
  const { refused } = await world.judge(pod('x'));
  expect(refused).toMatchObject({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `pods "x" is forbidden: ${text('p', 'one')}`,
    details: { name: 'x', kind: 'pods' },
  });
  const causes = [text('p', 'one'), text('p', 'two'), text('q', 'three')];
  expect(refused?.details?.causes).toEqual(causes.map((message) => ({ message })));
});

test.each([
  ['Unauthorized', 401],
  ['Forbidden', 403],
  ['RequestEntityTooLarge', 413],
  ['Invalid', 422],
  [undefined, 422],
])('v.say: the reason %s has the code %s', async (reason, code) => {
  const world = new PolicyWorld();
  world.add('p', { validations: [{ expression: 'false', reason }] });
  const { refused } = await world.judge(pod('x'));
  expect(refused).toMatchObject({ code, reason: reason ?? 'Invalid' });
});

const long = (bytes: number): string => `"x".replace("x", "${'y'.repeat(bytes)}")`;
test.each<[string, object, string]>([
  ['an expression first', { message: 'm', messageExpression: '" said "' }, 'said'],
  ['the text where the expression gives blanks', { message: ' m ', messageExpression: '" "' }, 'm'],
  [
    'the text where the expression gives two lines',
    { message: 'm', messageExpression: '"a\\nb"' },
    'm',
  ],
  [
    'the text where the expression fails',
    { message: 'm', messageExpression: 'string(object.no)' },
    'm',
  ],
  ['the expression where there is no text', {}, 'failed expression: false && true'],
  ['n.messageResult: 5120 bytes', { messageExpression: long(5_120) }, 'y'.repeat(5_120)],
  ['n.messageResult: one more is too many', { message: 'm', messageExpression: long(5_121) }, 'm'],
])('v.message: %s', async (_claim, more, message) => {
  const world = new PolicyWorld();
  world.add('p', { validations: [{ expression: ' false && true ', ...more }] });
  expect(await world.violations(pod('x'))).toEqual([message]);
});

test('v.actions: Deny refuses, Warn warns, Audit annotates, and all go together', async () => {
  const world = new PolicyWorld();
  world.add(
    'p',
    never('no'),
    { validationActions: ['Warn', 'Audit'] },
    { validationActions: ['Deny'] },
  );
  const { refused, warnings, annotations } = await world.judge(pod('x'));
  expect(refused?.details?.causes).toHaveLength(1);
  const warning = `Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-0': no`;
  expect(warnings).toEqual([warning]);
  expect([...annotations.keys()]).toEqual([
    'validation.policy.admission.svc.io/validation_failure',
  ]);
});

test('v.audit-failure: all failures in one list', async () => {
  const world = new PolicyWorld();
  const validations = ['true', 'false', 'false'].map((expression) => ({
    expression,
    message: 'm',
  }));
  world.add('p', { validations }, { validationActions: ['Audit'] });
  const { annotations } = await world.judge(pod('x'));
  const of = { message: 'm', policy: 'p', binding: 'p-0', validationActions: ['Audit'] };
  const key = 'validation.policy.admission.svc.io/validation_failure';
  expect(JSON.parse(annotations.get(key) ?? '')).toEqual([
    { ...of, expressionIndex: 1 },
    { ...of, expressionIndex: 2 },
  ]);
});

test('v.audit-annotations: distinct values are joined, blanks and null are left out', async () => {
  const world = new PolicyWorld();
  const paramKind = { apiVersion: 'example.com/v1', kind: 'Param' };
  world.params = ['b', 'a', 'b'].map((value, index) => ({
    metadata: { name: `p${String(index)}`, namespace: 'a' },
    value,
  }));
  const auditAnnotations = [
    { key: 'value', valueExpression: '" " + string(params.value)' },
    { key: 'blank', valueExpression: '"  "' },
    { key: 'none', valueExpression: 'null' },
  ];
  const paramRef = { selector: {}, parameterNotFoundAction: 'Deny' };
  world.add('p', { paramKind, auditAnnotations }, { paramRef });
  const { annotations } = await world.judge(pod('x'));
  expect([...annotations]).toEqual([['p/value', 'b, a']]);
});

test('n.auditValue: a value is cut at 10 KiB, between characters', async () => {
  const world = new PolicyWorld();
  const text = `x${'é'.repeat(6_000)}`;
  const auditAnnotations = [{ key: 'k', valueExpression: 'string(object.spec.text)' }];
  world.add('p', { auditAnnotations });
  const { annotations } = await world.judge(pod('x', { spec: { text } }));
  expect(Buffer.byteLength(annotations.get('p/k') ?? '')).toBe(10_239);
});

test('v.audit-annotations: an error refuses whatever the actions, or is left out', async () => {
  const world = new PolicyWorld();
  const auditAnnotations = [{ key: 'k', valueExpression: 'string(object.spec.no)' }];
  world.add('p', { auditAnnotations, failurePolicy: 'Ignore' }, { validationActions: ['Deny'] });
  expect((await world.judge(pod('x'))).refused).toBeUndefined();
  world.add('q', { auditAnnotations }, { validationActions: ['Audit'] });
  const text = "expression 'string(object.spec.no)' resulted in error: no such key: no";
  expect(await world.violations(pod('x'))).toEqual([text]);
});

test('x.policy: each finding is counted by what followed', async () => {
  const world = new PolicyWorld();
  const failing = { validations: [{ expression: 'object.no == 1' }] };
  world.add('open', { ...failing, failurePolicy: 'Ignore' });
  world.add('closed', failing, { validationActions: ['Warn', 'Audit'] });
  world.add('bad', { validations: [{ expression: 'nowhere' }] });
  world.add('no', never('no'));
  await world.judge(pod('x'));
  const name = 'apiserver_validating_admission_policy_check_total';
  const seconds = 'apiserver_validating_admission_policy_check_duration_seconds_count';
  const counted = (action: string, errorType: string, policy: string): Promise<number[]> => {
    const labels = [`enforcement_action="${action}"`, `error_type="${errorType}"`];
    const of = [`policy="${policy}"`, `policy_binding="${policy}-0"`];
    return Promise.all([name, seconds].map((one) => world.countOf(one, ...labels, ...of)));
  };
  expect(await counted('allow', 'invalid_error', 'open')).toEqual([1, 1]);
  expect(await counted('warn', 'invalid_error', 'closed')).toEqual([1, 1]);
  expect(await counted('audit', 'invalid_error', 'closed')).toEqual([1, 1]);
  expect(await counted('deny', 'compile_error', 'bad')).toEqual([1, 1]);
  expect(await counted('deny', 'no_error', 'no')).toEqual([1, 1]);
});

test('the debug log names policy, binding, param, cost and time of each evaluation', async () => {
  const world = new PolicyWorld();
  world.params = [{ metadata: { name: 'one', namespace: 'a' } }];
  const paramKind = { apiVersion: 'example.com/v1', kind: 'Param' };
  const validations = [{ expression: 'params.metadata.name == "one"' }];
  world.add('p', { paramKind, validations }, { paramRef: { name: 'one' } });
  await world.judge(pod('x'));
  expect(world.logged).toEqual([
    expect.objectContaining({ policy: 'p', binding: 'p-0', param: 'a/one', cost: 4 }),
  ]);
  expect(world.logged[0]?.['ms']).toEqual(expect.any(Number));
});
