// Webhooks that judge what would be stored: what they are sent, what their answers come to, and
// what is told of it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { metrics } from '../../client/testing/open-calls.ts';
import { naming, resourceOf } from '../testing/asked.ts';
import { partsOf } from '../testing/cluster.ts';
import { allow, deny, Hooks, judging } from './testing/asked-webhooks.ts';
import type { Answering } from './testing/asked-webhooks.ts';
import { validatingWebhooks } from './validating-webhooks.ts';

let hooks: Hooks;
beforeAll(async () => {
  hooks = await Hooks.start();
});
afterAll(() => hooks[Symbol.asyncDispose]());
beforeEach(() => {
  hooks.asked.length = 0;
});

const configMap = { resource: resourceOf('configmaps') };
const map = (labels: object = { own: '1' }): object => ({
  metadata: { name: 'x', namespace: 'a', labels },
});
const names = (): readonly string[] => hooks.asked.map(({ name }) => name).sort();
const judgedBy = async (answering: Answering, change: object = {}, request: object = {}) => {
  const webhook = await hooks.webhook('v.example.com', answering, change);
  return judging({ validating: { c: [webhook] } })(map(), { ...configMap, ...request });
};
const body =
  (value: object): Answering =>
  () => ({ body: JSON.stringify(value) });

describe('h.review-version: the first that is known is sent', () => {
  test.each<[readonly string[], string]>([
    [['v1', 'v1beta1'], 'v1'],
    [['v1beta1', 'v1'], 'v1beta1'],
    [['v9', 'v1beta1'], 'v1beta1'],
  ])('%s', async (admissionReviewVersions, version) => {
    await judgedBy(allow, { admissionReviewVersions });
    const [{ review, head } = { review: {}, head: '' }] = hooks.asked;
    expect(review).toMatchObject({
      kind: 'AdmissionReview',
      apiVersion: naming.resolve(`admission.{v}/${version}`),
    });
    expect(head).toMatch(/^POST /);
    expect(head).toMatch(/content-type: application\/json/i);
  });
  test('one that knows none fails, which may be ignored', async () => {
    const change = { admissionReviewVersions: ['v9'] };
    expect((await judgedBy(allow, change)).refused).toMatchObject({ code: 500 });
    expect((await judgedBy(allow, { ...change, failurePolicy: 'Ignore' })).refused).toBeUndefined();
  });
});

test('p.ValidatingAdmissionWebhook: every operation is judged, nothing is changed', async () => {
  const webhook = await hooks.webhook('v.example.com', deny());
  const judge = judging({ validating: { c: [webhook] } });
  for (const operation of ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const) {
    const { refused } = await judge(map(), { ...configMap, operation, old: map() });
    expect(refused).toMatchObject({ code: 400 });
  }
  const operations = hooks.requestsOf('v.example.com').map((asked) => asked['operation']);
  expect(operations).toEqual(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);
  expect(validatingWebhooks(partsOf({}))).not.toHaveProperty('mutate');
});

test('a.objects, a.options, a.dryRun, a.name: what the review says of the request', async () => {
  const options = { kind: 'DeleteOptions', apiVersion: naming.resolve('meta.{v}/v1') };
  await judgedBy(allow, {}, { operation: 'DELETE', old: map(), options, dryRun: true });
  expect(hooks.requestsOf('v.example.com')).toMatchObject([
    {
      operation: 'DELETE',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'x',
      namespace: 'a',
      userInfo: { username: 'tester' },
      object: null,
      oldObject: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'x' } },
      dryRun: true,
      options,
    },
  ]);
  expect(hooks.requestsOf('v.example.com')[0]).not.toHaveProperty('subResource');
  await judgedBy(allow, {}, { name: '' });
  expect(hooks.requestsOf('v.example.com')[1]).toMatchObject({
    operation: 'CREATE',
    object: { metadata: { labels: { own: '1' } } },
    oldObject: null,
    dryRun: false,
    options: null,
  });
  expect(hooks.requestsOf('v.example.com')[1]).not.toHaveProperty('name');
});

describe('h.uid: an answer repeats the uid, and is a review of its version', () => {
  const review =
    (change: object, response: object = {}): Answering =>
    ({ uid }) => ({
      body: JSON.stringify({
        kind: 'AdmissionReview',
        apiVersion: naming.resolve('admission.{v}/v1'),
        response: { uid, allowed: true, ...response },
        ...change,
      }),
    });
  test.each<[string, Answering, RegExp]>([
    ['another uid', review({}, { uid: 'other' }), /expected response\.uid="[^"]+", got "other"$/],
    ['another kind', review({ kind: 'Other' }), /expected webhook response of .*Kind=Other$/],
    ['another version', review({ apiVersion: 'v9' }), /expected webhook response of .* got v9/],
    ['no response', review({ response: null }), /: webhook response was absent$/],
  ])('%s', async (_what, answering, text) => {
    const { refused } = await judgedBy(answering);
    expect(refused).toMatchObject({ code: 500, reason: 'InternalError' });
    expect(refused?.message).toContain('received invalid webhook response: ');
    expect(refused?.message).toMatch(text);
    expect((await judgedBy(answering, { failurePolicy: 'Ignore' })).refused).toBeUndefined();
    const old = { admissionReviewVersions: ['v1beta1'] };
    const { refused: ofOld } = await judgedBy(answering, old);
    expect(ofOld === undefined).toBe(!text.source.includes('absent'));
  });
  test('each call has its own', async () => {
    await judgedBy(allow);
    await judgedBy(allow);
    const uids = hooks.requestsOf('v.example.com').map(({ uid }) => uid);
    expect(new Set(uids).size).toBe(2);
    expect(uids[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });
  test.each(['patch', 'patchType'])(
    'h.patch: a validating one may not return %s',
    async (member) => {
      const answer = review({}, { [member]: member === 'patch' ? 'W10=' : 'JSONPatch' });
      const { refused } = await judgedBy(answer);
      expect(refused?.message).toContain(`validating webhook may not return response.${member}`);
    },
  );
});

describe('h.say-refused: status, code and details are passed on', () => {
  const denied = 'admission webhook "v.example.com" denied the request';
  test.each<[string, object | undefined, object]>([
    ['nothing', undefined, { code: 400, reason: '', message: `${denied} without explanation` }],
    ['a message', { message: 'm', code: 403 }, { code: 403, message: `${denied}: m` }],
    ['a reason', { reason: 'Conflict' }, { code: 400, message: `${denied}: Conflict` }],
    ['a code below 400', { code: 200, message: 'm' }, { code: 400, message: `${denied}: m` }],
    ['a code of its own', { code: 418 }, { code: 418, message: `${denied} without explanation` }],
    ['no code at all', { code: 99_999 }, { code: 400 }],
    [
      'details',
      {
        code: 422,
        reason: 'Invalid',
        message: 'm',
        details: { name: 'n', causes: [{ field: 'data.x', reason: 'FieldValueInvalid' }] },
      },
      {
        code: 422,
        reason: 'Invalid',
        details: { name: 'n', causes: [{ field: 'data.x', reason: 'FieldValueInvalid' }] },
      },
    ],
    [
      'when to come back',
      { code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 7 } },
      { code: 429, details: { retryAfterSeconds: 7 } },
    ],
  ])('%s', async (_what, status, refused) => {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      expect((await judgedBy(deny(status), { failurePolicy })).refused).toMatchObject(refused);
    }
  });
});

describe('h.say-failed, h.failurePolicy: what cannot be asked refuses, or is passed over', () => {
  test.each<[string, Answering]>([
    ['no JSON', () => ({ body: '<html>' })],
    ['an empty object', body({})],
    ['a wrong type', body({ response: 'yes' })],
    ['deep JSON', () => ({ body: `{"response":${'['.repeat(50_000)}${']'.repeat(50_000)}}` })],
    ['bad base64', body({ response: { allowed: true, patch: '%%' } })],
  ])('an answer that is %s', async (_what, answering) => {
    const { refused } = await judgedBy(answering);
    expect(refused).toMatchObject({ code: 500, reason: 'InternalError' });
    expect(refused?.message).toMatch(
      /^Internal error occurred: failed calling webhook "v\.example\.com": /,
    );
    const ignored = await judgedBy(answering, { failurePolicy: 'Ignore' });
    expect(ignored.refused).toBeUndefined();
    expect([...ignored.annotations]).toEqual([
      [
        naming.resolve('failed-open.validating.webhook.admission.{v}/round_0_index_0'),
        'v.example.com',
      ],
    ]);
  });
  const nobody = { clientConfig: { url: 'https://127.0.0.1:1/x' } };
  test('h.audit-failed-open: nobody who answers', async () => {
    const refused = (await judgedBy(allow, nobody)).refused;
    expect(refused?.message).toMatch(/failed calling webhook .*: failed to call webhook: /);
    const webhook = await hooks.webhook('m', allow, { ...nobody, failurePolicy: 'Ignore' });
    const { annotations } = await judging({ mutating: { c: [webhook] } })(map(), configMap);
    const key = 'failed-open.mutation.webhook.admission.{v}/round_0_index_0';
    expect(annotations.get(naming.resolve(key))).toBe('m');
  });
});

describe('h.dry-run: only who has no side effects then is asked', () => {
  test.each([
    ['None', undefined],
    ['NoneOnDryRun', undefined],
    ['Some', 400],
    ['Unknown', 400],
  ])('%s', async (sideEffects, code) => {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      const change = { sideEffects, failurePolicy };
      const { refused } = await judgedBy(allow, change, { dryRun: true });
      expect(refused?.code).toBe(code);
      expect(names().length > 0).toBe(code === undefined);
    }
    expect((await judgedBy(allow, { sideEffects })).refused).toBeUndefined();
  });
});

describe('h.matchConditions', () => {
  const conditions = (...expressions: readonly string[]): object => ({
    matchConditions: expressions.map((expression, at) => ({ name: `c${String(at)}`, expression })),
  });
  const wrong = 'object.none.such';
  test.each<[string, readonly string[], boolean]>([
    [
      'all true: it is asked',
      ['request.operation == "CREATE"', 'object.metadata.name == "x"'],
      true,
    ],
    ['one false: it is not', ['true', 'false'], false],
    ['one false decides although another fails', [wrong, 'false'], false],
    ['the old object is null', ['oldObject == null'], true],
    ['there is no namespace object', ['namespaceObject == null'], true],
  ])('%s', async (_claim, expressions, isAsked) => {
    const { refused } = await judgedBy(allow, conditions(...expressions));
    expect([refused, names().length > 0]).toEqual([undefined, isAsked]);
  });
  test('one that fails refuses with 403, or passes the webhook over', async () => {
    const { refused } = await judgedBy(allow, conditions(wrong, 'true'));
    expect(refused).toMatchObject({ code: 403, reason: 'Forbidden' });
    const ignoring = { ...conditions(wrong), failurePolicy: 'Ignore' };
    expect((await judgedBy(allow, ignoring)).refused).toBeUndefined();
    expect(names()).toEqual([]);
  });
  test('n.matchConditions: the budget of all is 2,500,000', async () => {
    const check = 'authorizer.group("").resource("pods").check("get").allowed()';
    const dear = conditions(...Array.from({ length: 8 }, () => `${check} || true`));
    const { refused } = await judgedBy(allow, dear);
    expect(refused).toMatchObject({ code: 403 });
    const fits = conditions(...Array.from({ length: 7 }, () => `${check} || true`));
    expect((await judgedBy(allow, fits)).refused).toBeUndefined();
  });
  test('the authorizer is asked once for each question', async () => {
    let count = 0;
    const check = 'authorizer.requestResource.check("get").allowed()';
    const [one, two] = [
      await hooks.webhook('one', allow, conditions(check, `${check} && true`)),
      await hooks.webhook('two', allow, conditions(check)),
    ];
    const allows = (): boolean => {
      count++;
      return true;
    };
    const judge = judging({ allows, validating: { c: [one, two] } });
    expect((await judge(map(), configMap)).refused).toBeUndefined();
    expect([count, names()]).toEqual([1, ['one', 'two']]);
  });
});

test('h.order: all are asked at once; the first refusal in order is answered', async () => {
  const first = await hooks.webhook('first', deny({ message: 'first' }));
  const second = await hooks.webhook('second', deny({ message: 'second' }));
  const other = await hooks.webhook('other');
  const judge = judging({ validating: { a: [other, first], b: [second] } });
  const { refused } = await judge(map(), configMap);
  expect(names()).toEqual(['first', 'other', 'second']);
  expect(refused?.message).toMatch(/: first$/);
});

test('h.warnings, n.warningsPerAnswer: of answers that allow and refuse, 100 of each', async () => {
  const warned =
    (count: number, allowed: boolean): Answering =>
    () => ({
      response: { allowed, warnings: Array.from({ length: count }, (_, at) => `w${String(at)}`) },
    });
  expect((await judgedBy(warned(2, true))).warnings).toEqual(['w0', 'w1']);
  expect((await judgedBy(warned(2, false))).warnings).toEqual(['w0', 'w1']);
  expect((await judgedBy(warned(1_000, true))).warnings).toHaveLength(100);
});

test('h.audit-own: annotations begin with the webhook; the first of a key stays', async () => {
  const annotated =
    (value: string): Answering =>
    () => ({
      response: { allowed: true, auditAnnotations: { key: value, 'not/a key': 'x', '': 'y' } },
    });
  const twin = await hooks.webhook('twin', annotated('a'));
  const judge = judging({ mutating: { c: [twin, twin] } });
  const { annotations } = await judge(map(), configMap);
  const own = [...annotations].filter(([key]) => key.startsWith('twin/'));
  expect(own).toEqual([['twin/key', 'a']]);
});

test('h.match: configurations are not judged by webhooks of the API', async () => {
  const webhook = await hooks.webhook('all', deny());
  const resource = resourceOf('validatingwebhookconfigurations', 'admissionregistration.{v}');
  const judge = judging({ validating: { c: [webhook] }, mutating: { c: [webhook] } });
  expect((await judge(map(), { resource, namespace: '' })).refused).toBeUndefined();
  expect(names()).toEqual([]);
});

describe('x.webhook, x.match, x.labels: what is counted', () => {
  const counted = async (name: string): Promise<string[]> => {
    const { body: text } = await metrics.text();
    return text
      .split('\n')
      .filter((line) => line.includes('name="counted') && line.startsWith(`${name}{`))
      .map((line) => line.slice(name.length).replaceAll('"', ''))
      .sort();
  };
  test('calls by code, refusals by who refused, and what was passed over', async () => {
    const [yes, no, bad, open] = await Promise.all([
      hooks.webhook('counted-yes'),
      hooks.webhook('counted-no', deny({ code: 700 })),
      hooks.webhook('counted-bad', body({})),
      hooks.webhook('counted-open', body({}), { failurePolicy: 'Ignore' }),
    ]);
    const side = await hooks.webhook('counted-side', allow, { sideEffects: 'Some' });
    const judge = judging({ validating: { c: [yes, no, bad, open] } });
    await judge(map(), configMap);
    await judging({ mutating: { c: [side] } })(map(), { ...configMap, dryRun: true });
    const create = 'operation=CREATE';
    expect(await counted('apiserver_admission_webhook_request_total')).toEqual([
      `{code=0,name=counted-side,${create},rejected=true,type=admit} 1`,
      `{code=200,name=counted-yes,${create},rejected=false,type=validating} 1`,
      `{code=503,name=counted-bad,${create},rejected=true,type=validating} 1`,
      `{code=503,name=counted-open,${create},rejected=false,type=validating} 1`,
      `{code=600,name=counted-no,${create},rejected=true,type=validating} 1`,
    ]);
    const rejection = 'apiserver_admission_webhook_rejection_count';
    const by = (type: string, name: string, code: number, phase = 'validating'): string =>
      `{error_type=${type},name=${name},${create},rejection_code=${String(code)},type=${phase}} 1`;
    expect(await counted(rejection)).toEqual([
      by('apiserver_internal_error', 'counted-side', 0, 'admit'),
      by('calling_webhook_error', 'counted-bad', 503),
      by('no_error', 'counted-no', 600),
    ]);
    expect(await counted('apiserver_admission_webhook_fail_open_count')).toEqual([
      '{name=counted-open,type=validating} 1',
    ]);
    const durations = 'apiserver_admission_webhook_admission_duration_seconds_count';
    expect(await counted(durations)).toHaveLength(5);
  });
  test('match conditions: exclusions by phase, times and errors by the type of calls', async () => {
    const conditions = { matchConditions: [{ name: 'c', expression: 'object.none == 1' }] };
    const out = { matchConditions: [{ name: 'c', expression: 'false' }] };
    const [failing, excluded] = [
      await hooks.webhook('counted-failing', allow, conditions),
      await hooks.webhook('counted-excluded', allow, out),
    ];
    await judging({ validating: { c: [excluded, failing] } })(map(), configMap);
    const labels = (name: string, type: string): string =>
      `{kind=webhook,name=${name},operation=CREATE,type=${type}} 1`;
    const prefix = 'apiserver_admission_match_condition';
    expect(await counted(`${prefix}_exclusions_total`)).toEqual([
      labels('counted-excluded', 'validate'),
    ]);
    expect(await counted(`${prefix}_evaluation_errors_total`)).toEqual([
      labels('counted-failing', 'validating'),
    ]);
    expect(await counted(`${prefix}_evaluation_seconds_count`)).toEqual([
      labels('counted-excluded', 'validating'),
      labels('counted-failing', 'validating'),
    ]);
  });
});

test('w.metrics-time: mutating calls add up, of validating ones the longest counts', async () => {
  const webhooks = await Promise.all(['one', 'two'].map((name) => hooks.webhook(name)));
  const webhookTrail = { leftMs: () => 5_000, mutatingMs: 0, validatingMs: 0, details: undefined };
  await judging({ mutating: { c: webhooks } })(map(), { ...configMap, webhookTrail });
  expect(webhookTrail.mutatingMs).toBeGreaterThan(0);
  expect(webhookTrail.validatingMs).toBe(0);
  await judging({ validating: { c: webhooks } })(map(), { ...configMap, webhookTrail });
  expect(webhookTrail.validatingMs).toBeGreaterThan(0);
  expect(hooks.asked[0]?.head).toMatch(/timeout=5s/);
});
