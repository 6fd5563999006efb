// How the expressions of validating policies are evaluated: what they see, what they cost, whom
// they ask.
import { expect, test } from '@jest/globals';
import { resourceOf } from '../testing/asked.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { pod, PolicyWorld } from './testing/policy-world.ts';

const violated = (...expressions: string[]): object => ({
  validations: expressions.map((expression) => ({
    expression: 'false',
    messageExpression: expression,
  })),
});

/** What a message expression gives. */
async function told(expression: string, change: Partial<AdmissionRequest> = {}): Promise<string> {
  const world = new PolicyWorld();
  world.add('p', { ...violated(expression), matchConstraints: anything });
  return (await world.violations(pod('x'), change)).join();
}

const anything = {
  resourceRules: [
    { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*', '*/*'] },
  ],
};
const old = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'was', namespace: 'a' } };

test.each<[string, string, Partial<AdmissionRequest>, string]>([
  ['object and oldObject', 'string(object.metadata.name) + string(oldObject == null)', {}, 'xtrue'],
  [
    'oldObject alone of a deletion',
    'string(object == null) + string(oldObject.metadata.name)',
    { operation: 'DELETE', old },
    'truewas',
  ],
  [
    'request, without its objects',
    '[request.operation, request.kind.kind, request.resource.resource, request.name, ' +
      'request.namespace, request.userInfo.username, string(request.dryRun), ' +
      'string(has(request.options.fieldManager)), string(has(request.subResource))].join("|")',
    { options: { kind: 'CreateOptions', fieldManager: 'm' } },
    'CREATE|Pod|pods|x|a|tester|false|true|false',
  ],
  [
    'namespaceObject: metadata, spec and status only',
    'namespaceObject.metadata.labels["team"] + string(has(namespaceObject.spec))',
    {},
    'xtrue',
  ],
  [
    'namespaceObject is null for what is in no namespace',
    'string(namespaceObject == null)',
    { resource: resourceOf('nodes'), namespace: '' },
    'true',
  ],
  [
    'namespaceObject is null for namespaces',
    'string(namespaceObject == null) + request.namespace',
    { resource: resourceOf('namespaces'), namespace: '', name: 'a', operation: 'UPDATE', old },
    'truea',
  ],
])('v.variables-in-scope: %s', async (_claim, expression, change, text) => {
  expect(await told(expression, change)).toBe(text);
});

test('v.variables-in-scope: messages have no authorizer, and conditions no namespace', async () => {
  const world = new PolicyWorld();
  const asks = 'authorizer.path("/x").check("get").allowed()';
  const matchConditions = [{ name: 'n', expression: 'namespaceObject == null' }];
  const validations = [
    { expression: `!${asks}`, message: 'may', messageExpression: `string(${asks})` },
    { expression: '!authorizer.requestResource.check("create").allowed()', message: 'may, too' },
  ];
  world.add('p', { matchConditions, validations });
  expect(await world.violations(pod('x'))).toEqual(['may', 'may, too']);
  expect(world.questions).toMatchObject([
    { path: '/x', verb: 'get', isResourceRequest: false },
    { verb: 'create', group: '', resource: 'pods', namespace: 'a', name: 'x' },
  ]);
});

test('v.composition: variables see those before, fail their users, and count once', async () => {
  const world = new PolicyWorld();
  const variables = [
    { name: 'kind', expression: 'object.kind' },
    { name: 'isPod', expression: 'variables.kind == "Pod"' },
    { name: 'broken', expression: 'object.spec.no' },
  ];
  const validations = [
    { expression: '!variables.isPod', message: 'a pod' },
    { expression: 'variables.broken == 1', message: 'unused' },
    { expression: '!variables.isPod', messageExpression: 'string(variables.kind) + " again"' },
  ];
  world.add('p', { variables, validations });
  expect(await world.violations(pod('x'))).toEqual([
    'a pod',
    'expression \'variables.broken == 1\' resulted in error: composited variable "broken" fails ' +
      'to evaluate: no such key: no',
    'Pod again',
  ]);
  const once = new PolicyWorld();
  once.add('p', { variables, validations: [{ expression: 'variables.isPod' }] });
  await once.judge(pod('x'));
  const twice = new PolicyWorld();
  twice.add('p', { variables, validations: [1, 2].map(() => ({ expression: 'variables.isPod' })) });
  await twice.judge(pod('x'));
  const [first, second] = [once, twice].map(({ logged }) => Number(logged[0]?.['cost']));
  expect((second ?? 0) - (first ?? 0)).toBe(2);
});

/** Costs nearly all that one call may. */
const dear = 'object.spec.list.all(a, object.spec.list.all(b, a + b >= 0))';
const dearPod = pod('x', { spec: { list: Array.from({ length: 330 }, (_, index) => index) } });
const budgetText =
  'validation failed due to running out of cost budget, no further validation rules will be run';

test('v.budget: one call may cost a million', async () => {
  const world = new PolicyWorld();
  world.add('p', { validations: [{ expression: `${dear} && ${dear} && ${dear}` }] });
  const [text] = await world.violations(dearPod);
  expect(text).toMatch(/resulted in error: operation cancelled: actual cost limit exceeded$/);
});

test('v.budget: validations share one with messages, annotations have their own', async () => {
  const costOf = async (spec: object): Promise<[string[], number]> => {
    const world = new PolicyWorld();
    world.add('p', spec);
    return [await world.violations(dearPod), Number(world.logged[0]?.['cost'])];
  };
  const many = (count: number) => Array.from({ length: count }, () => ({ expression: dear }));
  const [, cost] = await costOf({ validations: many(1) });
  const fitting = Math.floor(10_000_000 / cost);
  const auditAnnotations = [{ key: 'k', valueExpression: `string(${dear})` }];
  const [passed, spent] = await costOf({ validations: many(fitting), auditAnnotations });
  expect(passed).toEqual([]);
  expect(spent - fitting * cost).toBeGreaterThan(cost);
  expect((await costOf({ validations: many(fitting + 1) }))[0]).toEqual([budgetText]);
  const said = { expression: 'true', messageExpression: `string(${dear})` };
  const both = { validations: [...many(fitting - 1), said, said] };
  const failed = `failed messageExpression: ${budgetText}`;
  expect((await costOf(both))[0]).toEqual(both.validations.map(() => failed));
}, 30_000);

test('v.budget: match conditions have a budget of their own', async () => {
  const world = new PolicyWorld();
  const condition = (name: string) => ({ name, expression: dear });
  world.add('p', { matchConditions: ['a', 'b', 'c', 'd', 'e'].map(condition), validations: [] });
  expect(await world.violations(dearPod)).toEqual([budgetText]);
});

test.each<[string, string, string | undefined, string[]]>([
  ['true admits', 'true', undefined, []],
  ['false is a violation', 'false', 'Ignore', ['failed expression: false']],
  [
    'an error is a violation under Fail',
    'object.no',
    'Fail',
    ["expression 'object.no' resulted in error: no such key: no"],
  ],
  ['an error admits under Ignore', 'object.no == 1', 'Ignore', []],
])('v.decision: %s', async (_claim, expression, failurePolicy, violations) => {
  const world = new PolicyWorld();
  world.add('p', {
    failurePolicy,
    validations: [{ expression: expression === 'object.no' ? 'object.no == 1' : expression }],
  });
  const texts = violations.map((text) => text.replace("'object.no'", "'object.no == 1'"));
  expect(await world.violations(pod('x'))).toEqual(texts);
});

test('v.decision: an expression that does not compile any more is an error', async () => {
  const world = new PolicyWorld();
  world.add('p', { validations: [{ expression: 'nowhere' }, { expression: 'object.kind' }] });
  const [first, second] = await world.violations(pod('x'));
  expect(first).toMatch(/^compilation error: compilation failed: ERROR: <input>:1:1: undeclared/);
  expect(second).toBe('compilation error: must evaluate to bool but got dyn');
});

test('v.authorizer: each distinct question is asked once for a request, by whoever', async () => {
  const world = new PolicyWorld();
  const question = (verb: string): object => ({
    expression: `authorizer.group("apps").resource("deployments").check("${verb}").allowed()`,
  });
  world.allows = ({ verb }) => verb === 'get';
  const matchConditions = [{ name: 'c', ...question('get') }];
  world.add(
    'p',
    { matchConditions, validations: [question('get'), question('get'), question('list')] },
    {},
    {},
  );
  world.add('q', { validations: [question('list')] });
  expect((await world.violations(pod('x'))).length).toBe(3);
  expect(world.questions.map(({ verb }) => verb)).toEqual(['get', 'list']);
  await world.judge(pod('x'));
  expect(world.questions).toHaveLength(4);
});

test('v.authorizer: on behalf of a service account, and with selectors', async () => {
  const world = new PolicyWorld();
  const expression =
    'authorizer.serviceAccount("a", "robot").group("").resource("pods").labelSelector("k=v")' +
    '.check("list").reason() == "because"';
  world.add('p', { validations: [{ expression }] });
  expect(await world.violations(pod('x'))).toEqual([]);
  expect(world.questions).toMatchObject([
    {
      user: {
        name: 'system:serviceaccount:a:robot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:a'],
      },
      labelSelector: { requirements: [{ key: 'k', operator: 'in', values: ['v'] }] },
    },
  ]);
});
