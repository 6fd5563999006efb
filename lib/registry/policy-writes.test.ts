// What a write of an admission policy or its binding is refused for: types of results, what
// messages may use, what stays as it was stored.
import { expect, test } from '@jest/globals';
import { cloneJson } from '../api/json-value.ts';
import type { JsonObject } from '../api/type-info.ts';
import type { ApiObject } from '../codec/codec.ts';
import { policyEnvironment } from '../cel/use/policy-environment.ts';
import { environmentFor } from '../kinds/admissionregistration/expressions.ts';
import { builtInScheme, kindStrategies } from '../kinds/built-in-kinds.ts';
import { namingProfile } from '../api/vendor.ts';
import type { WriteContext } from '../kinds/strategy.ts';
import { defaultValidation, storedRules } from './validation.ts';

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const strategies = kindStrategies({ naming, eventTtlSeconds: 1 });
const context: WriteContext = {
  user: { name: 'u', uid: '', groups: [], extra: {} },
  ...{ dryRun: false, fieldManager: '', subresource: '', warnings: [], nowMs: 0 },
  apiVersion: 'admissionregistration.svc.io/v1',
};

type Plural =
  'validatingadmissionpolicies' | 'mutatingadmissionpolicies' | 'validatingadmissionpolicybindings';

/** Failures of a write: `field: message`. */
async function failuresOf(
  plural: Plural,
  spec: JsonObject,
  oldSpec?: JsonObject,
): Promise<readonly string[]> {
  const group = 'admissionregistration.svc.io';
  const resource = scheme.storedResource(group, plural);
  if (resource === undefined) throw new Error(`no ${plural}`);
  const rules = storedRules(resource, strategies(resource), defaultValidation);
  const object = (of: JsonObject): ApiObject => {
    const made: ApiObject = { metadata: { name: 'p' }, spec: cloneJson(of) };
    scheme.defaults.apply(made, resource.type);
    return made;
  };
  const old = oldSpec && object(oldSpec);
  const found = await rules.validate(object(spec), old, context, []);
  return found.map(({ field, detail, reason }) => `${field}: ${detail === '' ? reason : detail}`);
}

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const matchConstraints = { resourceRules: [rule] };
const validating = (spec: JsonObject, old?: JsonObject): Promise<readonly string[]> =>
  failuresOf(
    'validatingadmissionpolicies',
    { matchConstraints, ...spec },
    old && { matchConstraints, ...old },
  );
const validation = (one: JsonObject): Promise<readonly string[]> =>
  validating({ validations: [one] });
const mutating = (spec: JsonObject): Promise<readonly string[]> =>
  failuresOf('mutatingadmissionpolicies', {
    matchConstraints,
    reinvocationPolicy: 'Never',
    ...spec,
  });
const mutation = (
  patchType: string,
  member: string,
  expression: string,
): Promise<readonly string[]> => mutating({ mutations: [{ patchType, [member]: { expression } }] });

test.each(['CREATE', 'UPDATE', 'CONNECT', '*', 'DELETE'])(
  'c.map-operations: %s of a mutating policy',
  async (operation) => {
    const resourceRules = [{ ...rule, operations: [operation] }];
    const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{}]' } }];
    const found = await mutating({ matchConstraints: { resourceRules }, mutations });
    const place = 'spec.matchConstraints.resourceRules.operations';
    expect(found.filter((text) => text.startsWith(place))).toHaveLength(
      operation === 'DELETE' ? 1 : 0,
    );
  },
);

test.each([
  ['Forbidden', 0],
  ['Invalid', 0],
  ['RequestEntityTooLarge', 0],
  ['Unauthorized', 1],
])('c.reason: %s', async (reason, count) => {
  expect(await validation({ expression: 'true', reason })).toHaveLength(count);
});

test('c.multi-line: an expression with line breaks needs no message', async () => {
  expect(await validation({ expression: 'true\n  && true' })).toEqual([]);
  expect(await validation({ expression: 'true', message: 'a\nb' })).toHaveLength(1);
});

test('c.message-authorizer: message expressions may not use it', async () => {
  const asks = 'authorizer.path("/").check("get").allowed()';
  const messageExpression = `${asks} ? "a" : "b"`;
  const [found] = await validation({ expression: asks, messageExpression });
  expect(found).toMatch(
    /^spec\.validations\[0\]\.messageExpression: .*undeclared reference to 'auth/s,
  );
  const variables = [{ name: 'text', expression: 'authorizer.path("/").check("get").reason()' }];
  const used = { expression: 'true', messageExpression: 'variables.text' };
  expect(await validating({ variables, validations: [used] })).toEqual([]);
});

test.each<[string, Promise<readonly string[]>, string]>([
  ['a validation', validation({ expression: 'object.a' }), 'must evaluate to bool but got dyn'],
  [
    'a condition',
    validating({
      matchConditions: [{ name: 'n', expression: '1' }],
      validations: [{ expression: 'true' }],
    }),
    'must evaluate to bool but got int',
  ],
  [
    'a message',
    validation({ expression: 'true', messageExpression: 'object.a' }),
    'must evaluate to string but got dyn',
  ],
  [
    'an annotation',
    validating({ auditAnnotations: [{ key: 'k', valueExpression: 'object.a' }] }),
    'must evaluate to one of [string null_type] but got dyn',
  ],
  [
    'a configuration',
    mutation('ApplyConfiguration', 'applyConfiguration', 'object'),
    'must evaluate to Object but got dyn',
  ],
  [
    'a patch',
    mutation('JSONPatch', 'jsonPatch', '[{"op": "add"}]'),
    'must evaluate to list(JSONPatch) but got list(map(string, string))',
  ],
])('c.message-type: the result of %s has exactly its type', async (_claim, found, text) => {
  expect(await found).toEqual([expect.stringMatching(/: must evaluate/)]);
  expect((await found)[0]).toContain(text);
});

test('n.matchConditions: 64, n.auditAnnotations: 20, n.valueExpression: 5120 bytes', async () => {
  const conditions = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `c${String(index)}`,
      expression: 'true',
    }));
  const validations = [{ expression: 'true' }];
  expect(await validating({ matchConditions: conditions(64), validations })).toEqual([]);
  expect(await validating({ matchConditions: conditions(65), validations })).toHaveLength(1);
  const notes = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      key: `k${String(index)}`,
      valueExpression: "'x'",
    }));
  expect(await validating({ auditAnnotations: notes(20) })).toEqual([]);
  expect(await validating({ auditAnnotations: notes(21) })).toHaveLength(1);
  const note = (bytes: number) => [{ key: 'k', valueExpression: `'${'x'.repeat(bytes - 2)}'` }];
  expect(await validating({ auditAnnotations: note(5_120) })).toEqual([]);
  expect(await validating({ auditAnnotations: note(5_121) })).toHaveLength(1);
});

test('v.actions: Deny with Warn is invalid, each once, at least one', async () => {
  const actions = (...validationActions: string[]): Promise<readonly string[]> =>
    failuresOf('validatingadmissionpolicybindings', { policyName: 'p', validationActions });
  expect(await actions('Deny', 'Audit')).toEqual([]);
  expect(await actions('Deny', 'Warn')).toHaveLength(1);
  expect(await actions('Warn', 'Warn')).toHaveLength(1);
  expect(await actions()).toHaveLength(1);
  expect(await actions('Other')).toHaveLength(1);
});

test('v.stored-expressions: match conditions that stay are not judged again', async () => {
  const wrong = [{ name: 'n', expression: 'nowhere' }];
  const spec = { matchConditions: wrong, validations: [{ expression: 'true' }] };
  expect(await validating(spec)).toHaveLength(1);
  expect(await validating({ ...spec, validations: [{ expression: '1 == 1' }] }, spec)).toEqual([]);
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  expect(await validating({ ...spec, paramKind }, spec)).toHaveLength(1);
  const changed = [{ name: 'n', expression: 'nowhere2' }];
  expect(await validating({ ...spec, matchConditions: changed }, spec)).toHaveLength(1);
});

test('v.stored-expressions: what the stored object has is compiled as stored', () => {
  const [fresh, stored] = [{ version: 33 }, { version: 'stored' as const }].map((version) =>
    policyEnvironment({ naming, hasParams: false, hasAuthorizer: false, ...version }),
  );
  if (fresh === undefined || stored === undefined) throw new Error('there are two');
  const environments = { fresh, stored, storedTexts: new Set(['[1].sort()']) };
  expect(environmentFor('[1].sort()', environments)).toBe(stored);
  expect(environmentFor('[1].sort() == [1]', environments)).toBe(fresh);
});
