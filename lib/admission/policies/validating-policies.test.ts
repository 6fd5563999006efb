// What validating policies make of a write: which judge it, in which order, and what is said.
import { describe, expect, test } from '@jest/globals';
import type { ApiObject } from '../../codec/codec.ts';
import { resourceOf } from '../testing/asked.ts';
import { itemOf, everyPod, pod, PolicyWorld } from './testing/policy-world.ts';

const not = (expression: string, more: object = {}): object => ({
  validations: [{ expression: `!(${expression})`, ...more }],
});
const never = (message: string): object => ({ validations: [{ expression: 'false', message }] });

test('p.ValidatingAdmissionPolicy: every operation is judged', async () => {
  const world = new PolicyWorld();
  const everything = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'] };
  const matchConstraints = { resourceRules: [everything] };
  const validations = [{ expression: 'false', messageExpression: 'request.operation' }];
  world.add('p', { matchConstraints, validations });
  const old = pod('x') as ApiObject;
  for (const operation of ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const) {
    expect(await world.violations(pod('x'), { operation, old })).toEqual([operation]);
  }
  expect(world.plugin).not.toHaveProperty('mutate');
});

describe('which policies judge', () => {
  test('v.order: files first, then policies, bindings and params by name', async () => {
    const world = new PolicyWorld();
    const messageExpression = '"param " + params.metadata.name';
    world.params = ['p1', 'p2'].map((name) => ({ metadata: { name, namespace: 'a' } }));
    const paramRef = { selector: {}, parameterNotFoundAction: 'Deny' };
    world.add('b', never('b says'), {}, {});
    const paramKind = { apiVersion: 'example.com/v1', kind: 'Param' };
    const validations = [{ expression: 'false', messageExpression }];
    world.add('a', { paramKind, validations }, { paramRef });
    const [policy, binding] = [
      {
        metadata: { name: 'z' },
        spec: { ...never('file says'), matchConstraints: { resourceRules: [everyPod] } },
      },
      { metadata: { name: 'z' }, spec: { policyName: 'z', validationActions: ['Deny'] } },
    ];
    world.policiesOfFiles = [itemOf(policy)];
    world.bindingsOfFiles = [itemOf(binding)];
    const says = ['file says', 'param p1', 'param p2', 'b says', 'b says'];
    expect(await world.violations(pod('x'))).toEqual(says);
  });

  test('v.active: a policy without a binding does nothing, nor one without the other', async () => {
    const world = new PolicyWorld();
    world.add('alone', never('no'), null);
    world.add('gone', never('no'));
    world.remove('gone');
    expect((await world.judge(pod('x'))).refused).toBeUndefined();
  });

  test('v.match: names, exclusions, and what a binding leaves', async () => {
    const world = new PolicyWorld();
    const named = { ...everyPod, resourceNames: ['special'] };
    world.add('names', { ...never('named'), matchConstraints: { resourceRules: [named] } });
    const excludeResourceRules = [{ ...everyPod, operations: ['CREATE'] }];
    const matchConstraints = { resourceRules: [everyPod], excludeResourceRules };
    world.add('but', { ...never('no create'), matchConstraints });
    const matchResources = { objectSelector: { matchLabels: { strict: 'yes' } } };
    world.add('narrow', never('strict'), { matchResources });
    expect(await world.violations(pod('x'))).toEqual([]);
    expect(await world.violations(pod('special'))).toEqual(['named']);
    const updated = { operation: 'UPDATE', old: {} } as const;
    expect(await world.violations(pod('x'), updated)).toEqual(['no create']);
    const strict = { metadata: { name: 'x', labels: { strict: 'yes' } } };
    expect(await world.violations(pod('x', strict))).toEqual(['strict']);
    const configMap = { metadata: { name: 'special' } };
    expect(await world.violations(configMap, { resource: resourceOf('configmaps') })).toEqual([]);
  });

  test('v.match: conditions are asked for each binding and param, and may use params', async () => {
    const world = new PolicyWorld();
    world.params = ['p1', 'p2'].map((name) => ({ metadata: { name, namespace: 'a' } }));
    const paramKind = { apiVersion: 'example.com/v1', kind: 'Param' };
    const matchConditions = [{ name: 'second', expression: 'params.metadata.name == "p2"' }];
    const validations = [
      { expression: 'false', messageExpression: 'string(params.metadata.name)' },
    ];
    const paramRef = { selector: {}, parameterNotFoundAction: 'Deny' };
    world.add('p', { paramKind, matchConditions, validations }, { paramRef });
    expect(await world.violations(pod('x'))).toEqual(['p2']);
    const name = 'apiserver_admission_match_condition_exclusions_total';
    expect(await world.countOf(name, 'kind="policy"', 'type="validate"')).toBe(1);
  });

  test('x.match: a condition that fails refuses or skips, and is counted', async () => {
    const world = new PolicyWorld();
    const matchConditions = [{ name: 'broken', expression: 'object.spec.missing == 1' }];
    world.add('p', { matchConditions, ...never('no') });
    world.add('q', { matchConditions, ...never('no'), failurePolicy: 'Ignore' });
    const text = "expression 'object.spec.missing == 1' resulted in error: no such key: missing";
    expect(await world.violations(pod('x'))).toEqual([text]);
    const name = 'apiserver_admission_match_condition_evaluation_errors_total';
    const labels = ['kind="policy"', 'name="p"', 'operation="CREATE"', 'type="validate"'];
    expect(await world.countOf(name, ...labels)).toBe(1);
    const seconds = 'apiserver_admission_match_condition_evaluation_seconds_count';
    expect(await world.countOf(seconds, ...labels)).toBe(1);
  });

  test('a.excluded-reviews, a.excluded-configuration: policies never see them', async () => {
    const world = new PolicyWorld();
    const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] };
    world.add('all', { ...never('no'), matchConstraints: { resourceRules: [rule] } });
    const seen = async (resource: string, group: string): Promise<boolean> => {
      const request = { resource: resourceOf(resource, group), namespace: '' };
      return (await world.violations({ metadata: { name: 'x' } }, request)).length > 0;
    };
    expect(await seen('nodes', '')).toBe(true);
    expect(await seen('subjectaccessreviews', 'authorization.{v}')).toBe(false);
    expect(await seen('tokenreviews', 'authentication.{v}')).toBe(false);
    const group = 'admissionregistration.{v}';
    expect(await seen('validatingadmissionpolicies', group)).toBe(false);
    expect(await seen('mutatingwebhookconfigurations', group)).toBe(false);
  });

  test('what does not match changes no answer', async () => {
    const world = new PolicyWorld();
    world.add('m', not('object.metadata.name == "bad"'), { validationActions: ['Deny', 'Audit'] });
    const before = [await world.judge(pod('bad')), await world.judge(pod('good'))];
    const elsewhere = { resourceRules: [{ ...everyPod, resources: ['nodes', 'pods/status'] }] };
    world.add('a', { ...never('no'), matchConstraints: elsewhere });
    const others = { namespaceSelector: { matchLabels: { team: 'y' } }, resourceRules: [everyPod] };
    world.add('z', { ...never('no'), matchConstraints: others });
    expect([await world.judge(pod('bad')), await world.judge(pod('good'))]).toEqual(before);
  });
});
