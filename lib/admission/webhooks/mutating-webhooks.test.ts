// Webhooks that may change what is written: order, patches, versions, and who is asked once more.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ApiObject } from '../../codec/codec.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { naming, resourceOf, scheme } from '../testing/asked.ts';
import { allow, deny, Hooks, judging, labelling, patching } from './testing/asked-webhooks.ts';
import type { Answering } from './testing/asked-webhooks.ts';

let hooks: Hooks;
beforeAll(async () => {
  hooks = await Hooks.start();
});
afterAll(() => hooks[Symbol.asyncDispose]());
beforeEach(() => {
  hooks.asked.length = 0;
});

const configMap = { resource: resourceOf('configmaps') };
const map = (labels: object = { own: '1' }, data: object = {}): object => ({
  metadata: { name: 'x', namespace: 'a', labels },
  data,
});
const labelsOf = (object: Readonly<ApiObject> | null): readonly string[] =>
  Object.keys(object?.metadata?.labels ?? {}).sort();
const names = (): readonly string[] => hooks.asked.map(({ name }) => name);

test('p.MutatingAdmissionWebhook: every operation is asked for, and may be refused', async () => {
  const webhook = await hooks.webhook('m', deny());
  const judge = judging({ mutating: { c: [webhook] } });
  for (const operation of ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const) {
    const { refused } = await judge(map(), { ...configMap, operation, old: map() });
    expect(refused).toMatchObject({ code: 400 });
  }
  const operations = hooks.requestsOf('m').map((asked) => asked['operation']);
  expect(operations).toEqual(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);
});

test('h.order: configurations by name, webhooks in order, on what was left', async () => {
  const [a, b, c] = await Promise.all(
    ['a', 'b', 'c'].map((name) => hooks.webhook(name, labelling(name))),
  );
  const judge = judging({ mutating: { first: [b ?? {}, a ?? {}], second: [c ?? {}] } });
  const { object } = await judge(map(), configMap);
  expect(names()).toEqual(['b', 'a', 'c']);
  expect(labelsOf(hooks.requestsOf('c')[0]?.object ?? null)).toEqual(['a', 'b', 'own']);
  expect(labelsOf(object)).toEqual(['a', 'b', 'c', 'own']);
});

describe('h.patch', () => {
  const patched = async (answering: Answering, change = {}) => {
    const webhook = await hooks.webhook('p', answering, change);
    return judging({ mutating: { m: [webhook] } })(map(), configMap);
  };
  const add = { op: 'add', path: '/data', value: { k: 'v' } };
  const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
  const answer =
    (response: object): Answering =>
    () => ({ response: { allowed: true, ...response } });

  test('a list of operations; an empty one is nothing', async () => {
    expect((await patched(patching(add))).object).toMatchObject({ data: { k: 'v' } });
    const { object, refused } = await patched(patching());
    expect([object['data'], refused]).toEqual([{}, undefined]);
  });
  test('fields that nobody knows are dropped', async () => {
    const { object } = await patched(patching({ op: 'add', path: '/bogus', value: 1 }, add));
    expect(object).toMatchObject({ data: { k: 'v' } });
    expect(object).not.toHaveProperty('bogus');
  });
  test.each<[string, Answering]>([
    ['that does not apply', patching({ op: 'remove', path: '/data/none' })],
    ['whose test fails', patching({ op: 'test', path: '/kind', value: 'Pod' })],
    ['whose result has another type', patching({ ...add, value: { k: 7 } })],
    ['that makes another kind of it', patching({ op: 'replace', path: '/kind', value: 'Secret' })],
    ['below a prototype', patching({ op: 'add', path: '/__proto__/x', value: 1 })],
  ])('one %s is 500 under every policy', async (_what, answering) => {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      const { refused } = await patched(answering, { failurePolicy });
      expect(refused).toMatchObject({ code: 500, reason: 'InternalError' });
    }
  });
  test.each<[string, Answering, string]>([
    [
      'no list',
      answer({ patchType: 'JSONPatch', patch: base64({}) }),
      'received undecodable patch',
    ],
    ['no JSON', answer({ patchType: 'JSONPatch', patch: 'e30w' }), 'received undecodable patch'],
    ['no base64', answer({ patchType: 'JSONPatch', patch: '%' }), 'failed to call webhook: '],
    [
      'another type',
      answer({ patchType: 'MergePatch', patch: base64([add]) }),
      'unsupported patch',
    ],
    ['no type', answer({ patch: base64([add]) }), 'response.patch but not response.patchType'],
    ['no patch', answer({ patchType: 'JSONPatch' }), 'response.patchType but not response.patch'],
  ])('one that has %s fails the call, which may be ignored', async (_what, answering, text) => {
    const { refused } = await patched(answering);
    expect(refused?.code).toBe(500);
    expect(refused?.message).toContain('Internal error occurred: failed calling webhook "p": ');
    expect(refused?.message).toContain(text);
    const ignored = await patched(answering, { failurePolicy: 'Ignore' });
    expect([ignored.refused, ignored.object['data']]).toEqual([undefined, {}]);
  });
  test('of the older review needs no type', async () => {
    const old = { admissionReviewVersions: ['v1beta1'] };
    const { object } = await patched(answer({ patch: base64([add]) }), old);
    expect(object).toMatchObject({ data: { k: 'v' } });
  });
  test('of a DELETE is 500', async () => {
    const webhook = await hooks.webhook('p', patching(add));
    const judge = judging({ mutating: { m: [webhook] } });
    const { refused } = await judge({}, { ...configMap, operation: 'DELETE', old: map() });
    expect(refused).toMatchObject({ code: 500 });
    expect(refused?.message).toMatch(/attempted to modify the object/);
  });
});

test('w.versions, w.defaults-after: one object goes through the versions and back', async () => {
  const rule = (version: string) => ({
    rules: [
      {
        operations: ['*'],
        apiGroups: ['autoscaling'],
        apiVersions: [version],
        resources: ['horizontalpodautoscalers'],
      },
    ],
  });
  const seven = patching({ op: 'replace', path: '/spec/maxReplicas', value: 7 });
  const minimum = patching({ op: 'remove', path: '/spec/minReplicas' });
  const first = await hooks.webhook('first', seven, rule('v1'));
  const second = await hooks.webhook('second', minimum, rule('v2'));
  const third = await hooks.webhook('third', allow, rule('v1'));
  const resource = scheme.resource({
    group: 'autoscaling',
    version: 'v2',
    resource: 'horizontalpodautoscalers',
  });
  if (resource === undefined) throw new Error('not served');
  const judge = judging({ mutating: { m: [first, second, third] } });
  const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
  const { object } = await judge(
    { metadata: { name: 'x' }, spec: { maxReplicas: 2, minReplicas: 2, scaleTargetRef } },
    { resource },
  );
  const seen = hooks.asked.map(({ review }) => review['request'] as { object: ApiObject });
  expect(seen.map((one) => [one.object.apiVersion, one.object['spec']])).toMatchObject([
    ['autoscaling/v1', { maxReplicas: 2 }],
    ['autoscaling/v2', { maxReplicas: 7, minReplicas: 2 }],
    ['autoscaling/v1', { maxReplicas: 7, minReplicas: 1 }],
  ]);
  expect(object).toMatchObject({
    apiVersion: scheme.storageResource(resource).storageVersion,
    spec: { maxReplicas: 7, minReplicas: 1 },
  });
});

describe('w.reinvoked-webhooks', () => {
  const again = { reinvocationPolicy: 'IfNeeded' };
  test('once more: who wants it and was asked before somebody changed the object', async () => {
    const never = await hooks.webhook('never');
    const a = await hooks.webhook('a', allow, again);
    const b = await hooks.webhook('b', (request, review) =>
      labelsOf(request.object).includes('b')
        ? allow(request, review)
        : labelling('b')(request, review),
    );
    const last = await hooks.webhook('last', allow, again);
    await judging({ mutating: { m: [never, a, b, last] } })(map(), configMap);
    expect(names()).toEqual(['never', 'a', 'b', 'last', 'a']);
  });
  test('nobody once more where nothing changed, and never a third time', async () => {
    const a = await hooks.webhook('a', allow, again);
    await judging({ mutating: { m: [a] } })(map(), configMap);
    expect(names()).toEqual(['a']);
    hooks.asked.length = 0;
    let count = 0;
    const counting: Answering = (request, review) =>
      labelling(`n${String(count++)}`)(request, review);
    const [one, two] = [
      await hooks.webhook('one', counting, again),
      await hooks.webhook('two', counting, again),
    ];
    await judging({ mutating: { m: [one, two] } })(map(), configMap);
    expect(names()).toEqual(['one', 'two', 'one', 'two'].slice(0, names().length));
    expect(names().length).toBeLessThanOrEqual(4);
  });
  test('who was not asked at first is not asked in the second pass', async () => {
    const skipped = await hooks.webhook('skipped', allow, {
      ...again,
      objectSelector: { matchLabels: { b: '1' } },
    });
    const b = await hooks.webhook('b', labelling('b'));
    await judging({ mutating: { m: [skipped, b] } })(map(), configMap);
    expect(names()).toEqual(['b']);
  });
  test('all who want it where others than webhooks changed the object in between', async () => {
    let runs = 0;
    const configured: AdmissionPlugin = {
      name: 'Other',
      isConfigured: true,
      sideEffects: false,
      handles: () => true,
      mutate: (_request, object) => {
        object['data'] = { runs: String(++runs) };
        return true;
      },
    };
    const a = await hooks.webhook('a', allow, again);
    const never = await hooks.webhook('never');
    await judging({ mutating: { m: [a, never] }, first: [configured] })(map(), configMap);
    expect(names()).toEqual(['a', 'never', 'a']);
  });
});

test('h.audit-mutation, h.audit-patch: each call, and what it changed', async () => {
  const skipped = await hooks.webhook('skipped', allow, { rules: [] });
  const a = await hooks.webhook('a', labelling('a'));
  const b = await hooks.webhook('b');
  const details = new Map<string, string>();
  const told = new Map<string, string>();
  const judge = judging({ mutating: { c: [skipped, a], d: [b] } });
  await judge(map(), {
    ...configMap,
    annotate: (key, value, level) => (level === 'Request' ? details : told).set(key, value),
  });
  const key = (name: string): string => naming.resolve(`${name}.webhook.admission.{v}/round_0_`);
  expect([...told].map(([name, text]) => [name, JSON.parse(text) as unknown])).toEqual([
    [`${key('mutation')}index_1`, { configuration: 'c', webhook: 'a', mutated: true }],
    [`${key('mutation')}index_2`, { configuration: 'd', webhook: 'b', mutated: false }],
  ]);
  expect([...details].map(([name, text]) => [name, JSON.parse(text) as unknown])).toEqual([
    [
      `${key('patch')}index_1`,
      {
        configuration: 'c',
        webhook: 'a',
        patch: [{ op: 'add', path: '/metadata/labels/a', value: '1' }],
        patchType: 'JSONPatch',
      },
    ],
  ]);
});

test('a refusal of a mutating webhook ends the write, and nobody after it is asked', async () => {
  const no = await hooks.webhook('no', deny({ message: 'because', code: 403 }));
  const after = await hooks.webhook('after');
  const { refused } = await judging({ mutating: { m: [no, after] } })(map(), configMap);
  expect(refused).toMatchObject({
    code: 403,
    message: 'admission webhook "no" denied the request: because',
  });
  expect(names()).toEqual(['no']);
});
