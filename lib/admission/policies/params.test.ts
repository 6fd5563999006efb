// The parameters of policies: which objects they are, and what it means that there are none.
import { expect, test } from '@jest/globals';
import { resourceOf } from '../testing/asked.ts';
import { everyPod, pod, PolicyWorld } from './testing/policy-world.ts';

const never = (message: string): object => ({ validations: [{ expression: 'false', message }] });

const paramKind = { apiVersion: 'example.com/v1', kind: 'Param' };
const validations = [
  {
    expression: 'false',
    messageExpression: 'string(params == null ? "null" : params.kind + params.metadata.name)',
  },
];
const spec = { paramKind, validations };
const param = (name: string, namespace: string, labels: object = {}): object => ({
  metadata: { name, namespace, labels },
});

test.each<[string, object, object | undefined, string[]]>([
  [
    'no paramKind: a paramRef is ignored',
    never('once'),
    { name: 'p', parameterNotFoundAction: 'Deny' },
    ['once'],
  ],
  ['paramKind without paramRef: params is null', spec, undefined, ['null']],
  ['by name, in the namespace of the request', spec, { name: 'one' }, ['Paramone']],
  ['by name, in another namespace', spec, { name: 'far', namespace: 'b' }, ['Paramfar']],
  [
    'by selector: every match',
    spec,
    { selector: { matchLabels: { k: 'v' } } },
    ['Paramone', 'Paramtwo'],
  ],
  [
    'none found: Allow skips the binding',
    spec,
    { name: 'none', parameterNotFoundAction: 'Allow' },
    [],
  ],
  [
    'none found: Deny fails it',
    spec,
    { name: 'none', parameterNotFoundAction: 'Deny' },
    [
      'failed to configure binding: no params found for policy binding with ' +
        '`Deny` parameterNotFoundAction',
    ],
  ],
])('v.params: %s', async (_claim, policy, paramRef, violations) => {
  const world = new PolicyWorld();
  world.params = [param('one', 'a', { k: 'v' }), param('two', 'a', { k: 'v' }), param('far', 'b')];
  world.add('p', policy, paramRef === undefined ? {} : { paramRef });
  expect(await world.violations(pod('x'))).toEqual(violations);
});

test('v.params: a wrong policy or binding is a refusal, unless errors are ignored', async () => {
  const world = new PolicyWorld();
  world.add('p', spec, { paramRef: { name: 'one' } });
  world.add('q', { ...spec, failurePolicy: 'Ignore' }, { paramRef: { name: 'one' } });
  const unknown = await world.judge(pod('x'));
  expect(unknown.refused).toMatchObject({
    code: 422,
    message:
      `pods "x" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure ` +
      `policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Param'`,
  });
  world.params = [];
  const node = { metadata: { name: 'n' } };
  const inCluster = { resource: resourceOf('nodes'), namespace: '' };
  const rules = { resourceRules: [{ ...everyPod, resources: ['nodes'] }] };
  world.add('n', { ...spec, matchConstraints: rules }, { paramRef: { name: 'one' } });
  expect(await world.violations(node, inCluster)).toEqual([
    'failed to configure binding: cannot use namespaced paramRef in policy binding that matches ' +
      'cluster-scoped resources',
  ]);
  world.isParamNamespaced = false;
  world.remove('p');
  world.add('c', spec, { paramRef: { name: 'one', namespace: 'a' } });
  expect(await world.violations(pod('x'))).toEqual([
    'failed to configure binding: paramRef.namespace must not be provided for a ' +
      'cluster-scoped `paramKind`',
  ]);
});

test('v.params-version: params have apiVersion and kind as paramKind has them', async () => {
  const world = new PolicyWorld();
  world.params = [param('one', 'a')];
  const messageExpression = 'string(params.apiVersion) + " " + string(params.kind)';
  const policy = { paramKind, validations: [{ expression: 'false', messageExpression }] };
  world.add('p', policy, { paramRef: { name: 'one' } });
  expect(await world.violations(pod('x'))).toEqual(['example.com/v1 Param']);
});

test('u.params-new: a kind that another replica has just accepted is there when proven', async () => {
  const world = new PolicyWorld();
  world.proof = () => (world.params = [param('one', 'a')]);
  world.add('p', spec, { paramRef: { name: 'one' } });
  expect(await world.violations(pod('x'))).toEqual(['Paramone']);
});

test('u.params-rebind: a binding that is made again has its params at once', async () => {
  const world = new PolicyWorld();
  world.params = [param('one', 'a')];
  const binding = { paramRef: { name: 'one' }, validationActions: ['Deny'] };
  world.add('p', spec, binding);
  expect(await world.violations(pod('x'))).toEqual(['Paramone']);
  world.unbind();
  expect(await world.violations(pod('x'))).toEqual([]);
  world.rebind('p', binding);
  expect(await world.violations(pod('x'))).toEqual(['Paramone']);
});
