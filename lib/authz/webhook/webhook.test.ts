// Authorizers that ask a service over TLS; only their clocks are the test's.
import { afterEach, describe, expect, test } from '@jest/globals';
import { FieldErrors } from '../../api/field-errors.ts';
import { namingProfile } from '../../api/vendor.ts';
import { limits } from '../../base/limits.ts';
import { createLogger } from '../../base/log.ts';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { openHook } from '../../client/testing/open-calls.ts';
import { RawServer, answerText } from '../../client/testing/raw-server.ts';
import type { RawRequest } from '../../client/testing/raw-server.ts';
import type { Attributes, Authorizer, Decision } from '../authorizer.ts';
import { attributesOf } from '../testing/attributes.ts';
import { compileMatchConditions, conditionEnvironment } from './match-conditions.ts';
import { reviewCodec } from './review.ts';
import { webhookAuthorizer } from './webhook.ts';
import type { WebhookOptions } from './webhook.ts';

const naming = namingProfile('svc');
const { signal } = new AbortController();
const told: string[] = [];
const logged: string[] = [];
afterEach(() => {
  told.length = 0;
  logged.length = 0;
});

interface Opened extends AsyncDisposable {
  readonly authorizer: Authorizer;
  readonly server: RawServer;
  readonly clock: ManualClock;
  ask(change?: Partial<Attributes>): Promise<Decision>;
}

const review = (status: object): string =>
  answerText(
    JSON.stringify({
      apiVersion: 'authorization.svc.io/v1',
      kind: 'SubjectAccessReview',
      status,
    }),
  );
const answering =
  (text: string) =>
  ({ socket }: RawRequest): void =>
    void socket.write(text);

async function open(
  answer: string | ((request: RawRequest) => void),
  change: Partial<WebhookOptions> & { readonly expressions?: readonly string[] } = {},
): Promise<Opened> {
  const server = await RawServer.start(typeof answer === 'string' ? answering(answer) : answer);
  const target = await openHook(server.url);
  const clock = new ManualClock();
  const { expressions = [], ...rest } = change;
  const errors = new FieldErrors();
  const environment = conditionEnvironment(naming);
  const authorizer = webhookAuthorizer({
    name: 'hook',
    target,
    codec: reviewCodec('v1', naming),
    conditions: compileMatchConditions(expressions, environment, { errors, path: '' }),
    timeoutMs: 3_000,
    authorizedTtlMs: 5_000,
    unauthorizedTtlMs: 1_000,
    failurePolicy: 'NoOpinion',
    clock,
    logger: createLogger('error', (line) => void logged.push(line)),
    observer: {
      attempted: (result) => void told.push(result),
      failedOpen: (result) => void told.push(`failed open: ${result}`),
      conditionsEvaluated: (outcome) => void told.push(`conditions: ${outcome}`),
    },
    ...rest,
  });
  return {
    authorizer,
    server,
    clock,
    ask: async (asked) => authorizer.authorize(attributesOf(asked), signal),
    async [Symbol.asyncDispose]() {
      target.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('the answer', () => {
  test.each<[status: object, decision: Decision]>([
    [
      { allowed: true, reason: 'r' },
      { effect: 'allow', reason: 'r' },
    ],
    [
      { allowed: false, reason: 'r' },
      { effect: 'noOpinion', reason: 'r' },
    ],
    [
      { allowed: false, denied: true, reason: 'r' },
      { effect: 'deny', reason: 'r' },
    ],
    [
      { allowed: true, denied: true },
      {
        effect: 'deny',
        reason: '',
        error: 'webhook subject access review returned both allow and deny response',
      },
    ],
    [
      { allowed: false, evaluationError: 'broke' },
      { effect: 'noOpinion', reason: '', error: 'broke' },
    ],
  ])('%j decides', async (status, decision) => {
    await using hook = await open(review(status));
    expect(await hook.ask()).toEqual(decision);
    expect(told).toEqual(['success']);
  });
});

describe('what fails', () => {
  const bad = [
    ['a status', answerText('x', { status: '404 Not Found' }), /the answer has status 404/],
    ['no JSON', answerText('x'), /is not what was asked for/],
    [
      'another version',
      answerText('{"apiVersion":"authorization.svc.io/v1beta1","status":{"allowed":true}}'),
      /is not what was asked for/,
    ],
    [
      'a redirect',
      answerText('', { status: '307 Temporary Redirect', headers: ['location: https://a/'] }),
      /is a redirect \(307\), which is never followed/,
    ],
  ] as const;

  test.each(bad)('%s is no opinion by the policy NoOpinion', async (_what, answer, error) => {
    await using hook = await open(answer);
    expect(await hook.ask()).toEqual({
      effect: 'noOpinion',
      reason: '',
      error: expect.stringMatching(error) as unknown as string,
    });
    expect(told).toEqual(['error', 'failed open: error']);
    await hook.ask();
    expect(hook.server.requests).toHaveLength(2); // not kept
  });

  test.each(bad)('%s is denied by the policy Deny', async (_what, answer, error) => {
    await using hook = await open(answer, { failurePolicy: 'Deny' });
    expect(await hook.ask()).toMatchObject({
      effect: 'deny',
      error: expect.stringMatching(error) as unknown as string,
    });
    expect(told).toEqual(['error']);
  });

  test('what it answers is never logged', async () => {
    await using hook = await open(answerText('inner-secret', { status: '404 Not Found' }));
    const { error } = await hook.ask();
    hook.server.answerWith(answering(answerText('inner-secret')));
    await hook.ask();
    expect(logged).toHaveLength(2);
    expect([error, ...logged].join('\n')).not.toContain('inner-secret');
  });

  test('a request whose client has left has no decision', async () => {
    const leaving = new AbortController();
    await using hook = await open(() => leaving.abort(new Error('left')));
    const asked = async () => hook.authorizer.authorize(attributesOf(), leaving.signal);
    await expect(asked()).rejects.toThrow('left');
    expect(told).toEqual(['canceled']);
  });
});

describe('answers are kept', () => {
  test.each([
    ['that allow', { allowed: true }, 5_000],
    ['that do not', { allowed: false }, 1_000],
    ['that deny', { allowed: false, denied: true }, 1_000],
  ])('%s, for their time', async (_which, status, ttlMs) => {
    await using hook = await open(review(status));
    const first = await hook.ask();
    hook.clock.pass(ttlMs - 1);
    expect(await hook.ask()).toBe(first);
    expect(hook.server.requests).toHaveLength(1);
    hook.clock.pass(1);
    await hook.ask();
    expect(hook.server.requests).toHaveLength(2);
  });

  test.each([
    ['allowed', { allowed: true }, { authorizedTtlMs: 0 }],
    ['not allowed', { allowed: false }, { unauthorizedTtlMs: 0 }],
    ['at all', { allowed: true }, { authorizedTtlMs: 0, unauthorizedTtlMs: 0 }],
  ])('not when nothing %s is to be', async (_which, status, change) => {
    await using hook = await open(review(status), change);
    await hook.ask();
    await hook.ask();
    expect(hook.server.requests).toHaveLength(2);
  });

  const user = attributesOf().user;
  const selector = (value: string): Attributes['labelSelector'] => ({
    requirements: [{ key: 'a', operator: 'in', values: [value] }],
  });
  const pods: Partial<Attributes> = { isResourceRequest: true, resource: 'pods', path: '' };
  test.each<[what: string, one: Partial<Attributes>, other: Partial<Attributes>]>([
    ['verb', {}, { verb: 'post' }],
    ['path', {}, { path: '/b' }],
    ['user', {}, { user: { ...user, name: 'v' } }],
    ['uid', {}, { user: { ...user, uid: '2' } }],
    ['groups', {}, { user: { ...user, groups: ['g'] } }],
    ['extra', {}, { user: { ...user, extra: { a: ['b'] } } }],
    ['resource', pods, { ...pods, resource: 'nodes' }],
    ['subresource', pods, { ...pods, subresource: 'log' }],
    ['group', pods, { ...pods, group: 'apps' }],
    ['version', pods, { ...pods, version: 'v1' }],
    ['namespace', pods, { ...pods, namespace: 'n' }],
    ['name', pods, { ...pods, name: 'a' }],
    [
      'label selector',
      { ...pods, labelSelector: selector('x') },
      { ...pods, labelSelector: selector('y') },
    ],
    [
      'field selector',
      { ...pods, labelSelector: selector('x') },
      { ...pods, fieldSelector: selector('x') },
    ],
    ['place of a text', { ...pods, name: 'a' }, { ...pods, namespace: 'a' }],
    ['end of a long name', { ...pods, name: 'a'.repeat(999) }, { ...pods, name: 'a'.repeat(998) }],
  ])('for the same question alone: another %s is another one', async (_what, one, other) => {
    await using hook = await open(review({ allowed: true }));
    await hook.ask(one);
    await hook.ask(other);
    expect(hook.server.requests).toHaveLength(2);
    await hook.ask({ ...one, user: { ...(one.user ?? user) } });
    await hook.ask({ ...other, user: { ...(other.user ?? user) } });
    expect(hook.server.requests).toHaveLength(2);
  });

  test.each([
    ['a path', { path: `/${'x'.repeat(9_996)}` }, { path: `/${'x'.repeat(9_995)}` }],
    [
      'a selector',
      { ...pods, labelSelector: { rawSelector: 'x'.repeat(10_000) } },
      { ...pods, labelSelector: { rawSelector: 'x'.repeat(9_000) } },
    ],
  ])('not of 10,000 bytes of attributes: %s', async (_what, tooLarge, fitting) => {
    await using hook = await open(review({ allowed: true }));
    await hook.ask(tooLarge);
    await hook.ask(tooLarge);
    expect(hook.server.requests).toHaveLength(2);
    await hook.ask(fitting);
    await hook.ask(fitting);
    expect(hook.server.requests).toHaveLength(3);
    expect(limits.webhookDecisionBytesMax).toBe(10_000);
  });
});

describe('match conditions', () => {
  const inNs = 'request.resourceAttributes.namespace == "n"';

  test.each<[expressions: string[], failurePolicy: 'NoOpinion' | 'Deny', outcome: string]>([
    [['request.user == "u"'], 'Deny', 'asked'],
    [['request.user == "v"'], 'Deny', 'skipped'],
    [[inNs, 'request.user == "v"'], 'Deny', 'skipped'],
    [[inNs], 'Deny', 'denied'],
    [[inNs], 'NoOpinion', 'skipped with an error'],
  ])('%j with the policy %s: %s', async (expressions, failurePolicy, outcome) => {
    await using hook = await open(review({ allowed: true }), { expressions, failurePolicy });
    const { effect, error } = await hook.ask();
    const words = { allow: 'asked', deny: 'denied', noOpinion: 'skipped' } as const;
    const isTold = effect === 'noOpinion' && error !== undefined;
    expect(`${words[effect]}${isTold ? ' with an error' : ''}`).toBe(outcome);
    expect(hook.server.requests).toHaveLength(effect === 'allow' ? 1 : 0);
    const evaluated = { asked: 'match', skipped: 'excluded' }[outcome] ?? 'error';
    expect(told[0]).toBe(`conditions: ${evaluated}`);
  });
});

test('its rules cannot be told', async () => {
  await using hook = await open(review({ allowed: true }));
  expect(hook.authorizer.rulesFor?.(attributesOf().user, 'n')).toEqual({
    resourceRules: [],
    nonResourceRules: [],
    incomplete: true,
    evaluationError: 'webhook authorizer does not support user rule resolution',
  });
});
