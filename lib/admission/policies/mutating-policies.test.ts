// The plugin MutatingAdmissionPolicy: order, sequence, errors and refusals, what a second pass
// repeats, versions and defaults.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { cloneJson } from '../../api/json-value.ts';
import { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { testMetrics } from '../../telemetry/testing/test-metrics.ts';
import { admissionChain } from '../chain.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import { asked, resourceOf, scheme } from '../testing/asked.ts';
import { admit, partsOf } from '../testing/cluster.ts';
import { mutatingPolicyObjects } from '../testing/policies.ts';
import type { PolicyText } from '../testing/policies.ts';
import { mutatingPolicies } from './mutating-policies.ts';

const namespaces = [{ metadata: { name: 'a', labels: { team: 'blue' } } }];
const configMaps = resourceOf('configmaps');
const { signal } = new AbortController();

const labelled = (text: string): string => `Object{metadata: Object.metadata{labels: ${text}}}`;
const appended = (letter: string): string =>
  `Object{data: {"order": object.?data.order.orValue("") + "${letter}"}}`;

const known = (policies: readonly PolicyText[], more: object = {}) => ({
  memory: { namespaces, ...mutatingPolicyObjects(policies), ...more },
});

const mutated = (
  policies: readonly PolicyText[],
  object: object = {},
  change: Partial<AdmissionRequest> = {},
) => admit(mutatingPolicies, known(policies), object, { resource: configMaps, ...change });

const dataOf = async (policies: readonly PolicyText[], object: object = {}): Promise<unknown> =>
  (await mutated(policies, object)).object['data'];

/** What is refused, whole. */
async function refused(
  policies: readonly PolicyText[],
  object: JsonObject = {},
  change: Partial<AdmissionRequest> = {},
): Promise<StatusError> {
  const chain = admissionChain([mutatingPolicies(partsOf(known(policies)))]);
  const before = cloneJson(object);
  try {
    await chain.mutate(asked({ resource: configMaps, ...change }).request, object, signal);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    expect(object).toEqual(before);
    return error;
  }
  throw new Error('it was admitted');
}

describe('m.sequence: mutations of a policy, in the order of its list', () => {
  test('each works on the result of the one before, and oldObject stays', async () => {
    const old = { data: { order: 'old' } } as ApiObject;
    const last = 'Object{data: {"seen": oldObject.data.order + object.data.order}}';
    const { object } = await mutated(
      [{ name: 'p', mutations: [appended('a'), `[${patch('add', '/data/x', '"1"')}]`, last] }],
      {},
      { operation: 'UPDATE', old },
    );
    expect(object['data']).toEqual({ order: 'a', x: '1', seen: 'olda' });
  });

  test('w.defaults-after: with the defaults of what the one before has made', async () => {
    const pods = resourceOf('pods');
    const add = 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "b"}]}}';
    const policy = '"policy": string(object.spec.containers[1].imagePullPolicy)';
    const { object } = await mutated(
      [{ name: 'p', mutations: [add, labelled(`{${policy}}`)] }],
      { spec: { containers: [{ name: 'a' }] } },
      { resource: pods },
    );
    expect(object.metadata).toEqual({ labels: { policy: 'IfNotPresent' } });
  });
});

const patch = (op: string, path: string, value: string): string =>
  `JSONPatch{op: "${op}", path: "${path}", value: ${value}}`;

test('u.map-order: by the names of policies, then of bindings', async () => {
  const policies: readonly PolicyText[] = [
    { name: 'a', mutations: [appended('a')], bindings: [{}, {}] },
    { name: 'b', mutations: [appended('b')] },
    { name: 'c', mutations: [appended('c')] },
  ];
  expect(await dataOf(policies)).toEqual({ order: 'aabc' });
});

test('v.active: without a binding it does nothing', async () => {
  expect(await dataOf([{ name: 'a', mutations: [appended('a')], bindings: [] }])).toBeUndefined();
});

describe('m.errors: an error drops what its policy did with that binding and parameter', () => {
  const failing: PolicyText = { name: 'b', mutations: [appended('b'), 'Object{datax: "1"}'] };
  const around: readonly PolicyText[] = [
    { name: 'a', mutations: [appended('a')] },
    { ...failing, spec: { failurePolicy: 'Ignore' } },
    { name: 'c', mutations: [appended('c')] },
  ];
  test('Ignore: all of it, and the others go on', async () => {
    expect(await dataOf(around)).toEqual({ order: 'ac' });
  });

  test('Fail: the request is refused, and the object is as it was', async () => {
    const { code } = await refused([failing], { data: { order: 'x' } });
    expect(code).toBe(403);
  });

  test('what follows in the list still tells its errors', async () => {
    const missing = 'Object{data: {"x": object.data.none}}';
    const error = await refused([{ name: 'p', mutations: [missing, 'Object{a: 1}'] }]);
    expect(error.details?.causes).toHaveLength(2);
  });
});

describe('m.say: 403 in every case, the first failure is the message, all are causes', () => {
  const text = 'Object{data: {"x": object.data.none}}';
  const said = `expression '${text}' resulted in error: no such key: data`;
  test('Invalid: of an expression', async () => {
    const policies: readonly PolicyText[] = [
      { name: 'a', mutations: [text] },
      { name: 'b', mutations: [text] },
    ];
    const error = await refused(policies, { metadata: { generateName: 'g-' } }, { name: '' });
    const line = (name: string): string =>
      `policy '${name}' with binding '${name}' denied request: ${said}`;
    expect(error).toMatchObject({ code: 403, reason: 'Invalid', message: line('a') });
    expect(error.details).toEqual({
      name: 'g-',
      kind: 'configmaps',
      causes: [{ message: line('a') }, { message: line('b') }],
    });
  });

  test('Invalid: of a match condition, and of what does not compile any more', async () => {
    const matchConditions = [{ name: 'c', expression: 'object.data.none == ""' }];
    const spec = { matchConditions };
    const condition = await refused([{ name: 'a', mutations: [text], spec }]);
    expect(condition).toMatchObject({ code: 403, reason: 'Invalid' });
    expect(condition.message).toMatch(/^policy 'a' with binding 'a' denied request: expression/);
    const compiled = await refused([{ name: 'a', mutations: ['Object.spec{}'] }]);
    expect(compiled.message).toBe(
      "policy 'a' with binding 'a' denied request: " +
        'must evaluate to Object but got Object.spec',
    );
  });

  test('Forbidden: of what is configured', async () => {
    const paramKind = { apiVersion: 'none/v1', kind: 'Param' };
    const error = await refused([{ name: 'a', mutations: [text], spec: { paramKind } }]);
    expect(error).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'policy "a" denied request: failed to configure policy: ' +
        "failed to find resource referenced by paramKind: 'none/v1, Kind=Param'",
    });
  });

  test('Ignore: neither is told', async () => {
    const paramKind = { apiVersion: 'none/v1', kind: 'Param' };
    const spec = { failurePolicy: 'Ignore' };
    const policies: readonly PolicyText[] = [
      { name: 'a', mutations: [text], spec },
      { name: 'b', mutations: [text], spec: { ...spec, paramKind } },
    ];
    expect(await mutated(policies)).toMatchObject({ refused: undefined, isChanged: false });
  });
});

describe('p.MutatingAdmissionPolicy, m.operations: what is written and connected to', () => {
  test.each(['CREATE', 'UPDATE'] as const)('a %s is changed', async (operation) => {
    const policies = [{ name: 'p', mutations: [labelled('{"a": "b"}')] }];
    const { object } = await mutated(policies, {}, { operation, old: {} });
    expect(object.metadata?.labels).toEqual({ a: 'b' });
  });

  test('a DELETE has no mutation', () => {
    expect(mutatingPolicies(partsOf(known([])))).not.toHaveProperty('beforeDelete');
  });

  test('the options of a connection are its object', async () => {
    const resource = resourceOf('pods');
    const kind = { group: '', version: 'v1', kind: 'PodExecOptions' };
    const type = scheme.type('core/v1.PodExecOptions');
    const form = { ...resource, kind, type };
    const { object } = await mutated(
      [{ name: 'p', mutations: ['[JSONPatch{op: "replace", path: "/stdin", value: false}]'] }],
      { kind: 'PodExecOptions', apiVersion: 'v1', stdin: true, command: ['x'] },
      { resource, kind, form, operation: 'CONNECT', subresource: 'exec' },
    );
    expect(object).not.toHaveProperty('stdin', true);
  });
});

test('m.no-schema: the type of what is written is that of the request, always known', async () => {
  const { refused: text, object } = await mutated([
    { name: 'p', mutations: [labelled('{"a": "b"}')] },
  ]);
  expect([text, object.metadata]).toEqual([undefined, { labels: { a: 'b' } }]);
});

test('variables, the namespace and the authorizer are there, once for each mutation', async () => {
  const spec = { variables: [{ name: 'v', expression: 'object.?data.order.orValue("none")' }] };
  const allowed = 'string(authorizer.group("").resource("pods").check("get").allowed())';
  const team = 'namespaceObject.metadata.labels.team';
  const policies: readonly PolicyText[] = [
    {
      name: 'p',
      spec,
      mutations: [
        'Object{data: {"order": variables.v}}',
        'Object{data: {"order": variables.v + variables.v}}',
        `Object{data: {"team": ${team}, "allowed": ${allowed}}}`,
      ],
    },
  ];
  let asks = 0;
  const allows = (): boolean => (asks += 1) > 0;
  const { object } = await admit(
    mutatingPolicies,
    { ...known(policies), allows },
    {},
    {
      resource: configMaps,
    },
  );
  expect(object['data']).toEqual({ order: 'nonenone', team: 'blue', allowed: 'true' });
  expect(asks).toBe(1);
});

test('w.versions: each sees the object in the version that it matched', async () => {
  const resource = scheme.resource({
    group: 'autoscaling',
    version: 'v2',
    resource: 'horizontalpodautoscalers',
  });
  if (resource === undefined) throw new Error('no autoscalers');
  const rule = (version: string): JsonObject => ({
    operations: ['*'],
    apiGroups: ['autoscaling'],
    apiVersions: [version],
    resources: ['horizontalpodautoscalers'],
  });
  const matching = (version: string): JsonObject => ({
    matchConstraints: { matchPolicy: 'Equivalent', resourceRules: [rule(version)] },
  });
  const first = 'Object{spec: Object.spec{targetCPUUtilizationPercentage: 70}}';
  const second = labelled(
    '{"is": string(object.spec.metrics[0].resource.target.averageUtilization)}',
  );
  const parts = partsOf(
    known([
      { name: 'a', mutations: [first], spec: matching('v1') },
      { name: 'b', mutations: [second], spec: matching('v2') },
    ]),
  );
  const served = { ...parts.served, equivalentsOf: () => scheme.servedAs(resource) };
  const object = {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
  } as unknown as ApiObject;
  const chain = admissionChain([mutatingPolicies({ ...parts, served })]);
  expect(await chain.mutate(asked({ resource }).request, object, signal)).toBe('byConfigured');
  expect(object).toMatchObject({
    apiVersion: 'autoscaling/v2',
    metadata: { labels: { is: '70' } },
    spec: { metrics: [{ resource: { target: { averageUtilization: 70 } } }] },
  });
});

describe('w.reinvoked-policies: what a second pass repeats', () => {
  const ifNeeded: JsonObject = { reinvocationPolicy: 'IfNeeded' };
  /** Another plugin, which works after the policies. */
  const late = (mutate: (object: ApiObject, pass: number) => boolean): AdmissionPlugin => ({
    name: 'Late',
    isConfigured: true,
    sideEffects: false,
    handles: () => true,
    mutate: (_request, object, _signal, { index }) => mutate(object, index),
  });
  const ordered = async (
    policies: readonly PolicyText[],
    ...after: readonly AdmissionPlugin[]
  ): Promise<unknown> => {
    const chain = admissionChain([mutatingPolicies(partsOf(known(policies))), ...after]);
    const object: ApiObject = {};
    await chain.mutate(asked({ resource: configMaps }).request, object, signal);
    return (object['data'] as JsonObject)['order'];
  };
  const a: PolicyText = { name: 'a', mutations: [appended('a')], spec: ifNeeded };
  const b: PolicyText = { name: 'b', mutations: [appended('b')] };
  const idle: PolicyText = { name: 'i', mutations: ['Object{}'], spec: ifNeeded };
  const append = (letter: string) =>
    late((object, pass) => {
      if (pass === 1) return false;
      const data = (object['data'] ?? {}) as JsonObject;
      object['data'] = { ...data, order: ((data['order'] as string | undefined) ?? '') + letter };
      return true;
    });

  test.each<[string, readonly PolicyText[], readonly AdmissionPlugin[], string]>([
    ['one with IfNeeded, once any mutation was applied', [a, b], [], 'aba'],
    ['also after its own change', [a], [], 'aa'],
    ['not one with Never', [b], [append('x')], 'bx'],
    ['where another plugin changed the object after it', [idle, b], [append('x')], 'bx'],
  ])('%s', async (_claim, policies, after, wanted) => {
    expect(await ordered(policies, ...after)).toBe(wanted);
  });

  test('what only another plugin changed is seen by those with IfNeeded', async () => {
    const seeing: PolicyText = {
      name: 's',
      mutations: ['Object{data: has(object.data) ? {"order": object.data.order + "s"} : {}}'],
      spec: ifNeeded,
    };
    expect(await ordered([seeing], append('x'))).toBe('xs');
  });

  test('match conditions are asked again', async () => {
    const matchConditions = [{ name: 'c', expression: '!has(object.data)' }];
    const once: PolicyText = { ...a, spec: { ...ifNeeded, matchConditions } };
    expect(await ordered([once, b])).toBe('ab');
  });

  test('one that the first pass did not run does not run in the second', async () => {
    const matchConditions = [{ name: 'c', expression: 'has(object.data)' }];
    const waiting: PolicyText = { ...a, spec: { ...ifNeeded, matchConditions } };
    expect(await ordered([waiting, b])).toBe('b');
  });
});

test('a.excluded-reviews, a.excluded-configuration: not seen, but for files', async () => {
  const policies: readonly PolicyText[] = [{ name: 'p', mutations: [labelled('{"a": "b"}')] }];
  const reviews = resourceOf('tokenreviews', 'authentication.{v}');
  const plugin = mutatingPolicies(partsOf(known(policies)));
  expect(plugin.handles(asked({ resource: reviews }).request)).toBe(false);
  const resource = resourceOf('mutatingadmissionpolicies', 'admissionregistration.{v}');
  const change = { resource, namespace: '' };
  expect(await mutated(policies, {}, change)).toMatchObject({ isChanged: false });
  const files = { manifests: mutatingPolicyObjects(policies) };
  expect(await admit(mutatingPolicies, files, {}, change)).toMatchObject({ isChanged: true });
});

test('s.effect: files come first, and need nothing of the API', async () => {
  const manifests = mutatingPolicyObjects([{ name: 'z', mutations: [appended('file')] }]);
  const own = known([{ name: 'a', mutations: [appended('-api')] }]);
  const { object } = await admit(
    mutatingPolicies,
    { ...own, manifests },
    {},
    {
      resource: configMaps,
    },
  );
  expect(object['data']).toEqual({ order: 'file-api' });
});

test('x.policy: each mutation is counted by what came of it', async () => {
  const metrics = testMetrics();
  const ones = `[${'1,'.repeat(400)}]`;
  const all = `${ones}.all(a, ${ones}.all(b, ${ones}.all(c, a == c)))`;
  const dear = `Object{data: {"x": string(${all})}}`;
  const spec = { failurePolicy: 'Ignore' };
  const policies: readonly PolicyText[] = [
    { name: 'fine', mutations: [appended('a'), appended('b')] },
    { name: 'wrong', mutations: ['Object{a: 1}'], spec },
    { name: 'text', mutations: ['Object.spec{}'], spec },
    { name: 'dear', mutations: [dear], spec },
  ];
  const parts = { ...partsOf(known(policies)), metrics };
  const chain = admissionChain([mutatingPolicies(parts)]);
  await chain.mutate(asked({ resource: configMaps }).request, {}, signal);
  const { body } = await metrics.text();
  const name = 'apiserver_mutating_admission_policy_check_total';
  const counted = [...body.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\d+)$`, 'gm'))];
  expect(counted.map(([, labels, count]) => `${String(labels)} ${String(count)}`)).toEqual([
    'error_type="no_error",policy="fine",policy_binding="fine" 2',
    'error_type="invalid_error",policy="wrong",policy_binding="wrong" 1',
    'error_type="compile_error",policy="text",policy_binding="text" 1',
    'error_type="invalid_error",policy="dear",policy_binding="dear" 1',
  ]);
  expect(body).toMatch(/^apiserver_mutating_admission_policy_check_duration_seconds_count\{/m);
});
