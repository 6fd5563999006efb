// The file of --authorization-config, field by field: each webhook is asked about a user of its
// name alone, the last one about everybody. And what a change of the file may bring.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestCluster } from '../harness.ts';
import type { Replica, Reply } from '../harness.ts';
import { as, Hooks, messageOf, until } from './authorization-world.ts';
import type { AskedReview, HookAnswer } from './authorization-world.ts';

let hooks: Hooks;
let cluster: TestCluster;
let replica: Replica;
let file: string;

const allow = (): HookAnswer => ({ allowed: true });
const deny = (): HookAnswer => ({ allowed: false, denied: true, reason: 'the service denies' });
const noOpinion = (): HookAnswer => ({ allowed: false, reason: 'the service abstains' });
const fails = (): HookAnswer => 'no review';
const otherVersion = (): HookAnswer =>
  JSON.stringify({ kind: 'SubjectAccessReview', apiVersion: 'authorization.svc.io/v2' });

interface Hook {
  readonly answer: (review: AskedReview) => HookAnswer;
  readonly fields?: object;
  /** Beside that of the user. */
  readonly conditions?: readonly string[];
}

const failing = "request.extra['none'][0] == 'x'";
const deny403 = { failurePolicy: 'Deny' };
/** By the name of the user that they are about. */
const hooksOf: Readonly<Record<string, Hook>> = {
  kept: { answer: allow },
  'not-kept': { answer: allow, fields: { cacheAuthorizedRequests: false } },
  'kept-shortly': { answer: allow, fields: { authorizedTTL: '100ms' } },
  'no-kept': { answer: noOpinion },
  'no-not-kept': { answer: noOpinion, fields: { cacheUnauthorizedRequests: false } },
  'no-kept-shortly': { answer: noOpinion, fields: { unauthorizedTTL: '100ms' } },
  'slow-open': { answer: () => undefined, fields: { timeout: '200ms' } },
  'slow-closed': { answer: () => undefined, fields: { timeout: '200ms', ...deny403 } },
  v1: { answer: allow },
  v1beta1: { answer: allow, fields: { subjectAccessReviewVersion: 'v1beta1' } },
  'malformed-open': { answer: fails },
  'malformed-closed': { answer: fails, fields: deny403 },
  'version-open': { answer: otherVersion },
  'version-closed': { answer: otherVersion, fields: deny403 },
  'condition-true': { answer: allow, conditions: ['true', 'has(request.resourceAttributes)'] },
  'condition-false': { answer: allow, fields: deny403, conditions: ['true', '1 > 2'] },
  'condition-error-open': { answer: allow, conditions: [failing] },
  'condition-error-closed': { answer: allow, fields: deny403, conditions: [failing] },
  'condition-error-false': { answer: allow, fields: deny403, conditions: [failing, '1 > 2'] },
  denies: { answer: deny },
};

const webhook = (name: string, { fields, conditions = [] }: Hook, about = [name]): object => ({
  ...{ type: 'Webhook', name },
  webhook: {
    timeout: '10s',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: join(hooks.folder, name) },
    matchConditions: [
      ...about.map((user) => ({ expression: `request.user == '${user}'` })),
      ...conditions.map((expression) => ({ expression })),
    ],
    ...fields,
  },
});

const rbac = { type: 'RBAC', name: 'rbac' };
const node = { type: 'Node', name: 'node' };

/** @param first authorizers before those of users */
function configuration(first: readonly object[], last: readonly object[]): string {
  const authorizers = [
    ...first,
    ...Object.entries(hooksOf).map(([name, hook]) => webhook(name, hook)),
    ...last,
  ];
  const apiVersion = 'apiserver.config.svc.io/v1';
  return JSON.stringify({ apiVersion, kind: 'AuthorizationConfiguration', authorizers });
}

const everybody = (): object => webhook('everybody', { answer: noOpinion }, []);

function put(text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

beforeAll(async () => {
  hooks = await Hooks.start();
  file = join(hooks.folder, 'authorization.json');
  for (const [name, { answer }] of Object.entries(hooksOf)) hooks.add(name, answer);
  hooks.add('everybody', ({ spec }) => (spec.user.startsWith('last') ? allow() : noOpinion()));
  hooks.add('early', deny);
  put(configuration([node, rbac], [everybody()]));
  cluster = await TestCluster.start({
    naming: 'svc',
    serverFlags: [`--authorization-config=${file}`],
  });
  replica = cluster.replica(0);
});
afterAll(async () => {
  await cluster.stop();
  hooks.stop();
});

const maps = '/api/v1/namespaces/default/configmaps';
const asked = (user: string, path = maps): Promise<Reply> =>
  replica.request('GET', path, { headers: as({ user }) });
const isIn = async (user: string, path = maps): Promise<boolean> =>
  (await asked(user, path)).status === 200;

describe('Authorization configuration file: Webhook fields', () => {
  test.each([
    ['authorizedTTL | cache time for allowed answers, default 5m0s', 'kept', 200],
    ['cacheAuthorizedRequests | default true', 'kept', 200],
    ['unauthorizedTTL | default 30s', 'no-kept', 403],
    ['cacheUnauthorizedRequests | default true', 'no-kept', 403],
  ])('%s: %s is asked about once', async (row, user, status) => {
    const path = `/apis/apps/v1/namespaces/${row.split(' ')[0] ?? ''}/deployments`.toLowerCase();
    const before = hooks.calls(user).length;
    for (let turn = 0; turn < 3; turn++) expect((await asked(user, path)).status).toBe(status);
    expect(hooks.calls(user).length - before).toBe(1);
  });

  test.each([
    ['cacheAuthorizedRequests | boolean: false', 'not-kept', 200],
    ['cacheUnauthorizedRequests | boolean: false', 'no-not-kept', 403],
  ])('%s: %s is asked about each time', async (_row, user, status) => {
    for (let turn = 1; turn <= 3; turn++) {
      expect((await asked(user)).status).toBe(status);
      expect(hooks.calls(user).length).toBe(turn);
    }
  });

  test.each([
    ['authorizedTTL | cache time for allowed answers', 'kept-shortly'],
    ['unauthorizedTTL | cache time for others', 'no-kept-shortly'],
  ])('%s: %s is asked about again when it is over', async (_row, user) => {
    await until(async () => {
      await asked(user);
      return hooks.calls(user).length > 1;
    });
  });

  test.each([
    ['v1', 'groups'],
    ['v1beta1', 'group'],
  ] as const)(
    'subjectAccessReviewVersion | required, %s: groups are in %s',
    async (user, groups) => {
      expect(await isIn(user)).toBe(true);
      const [call] = hooks.calls(user);
      expect(call?.review.apiVersion).toBe(`authorization.svc.io/${user}`);
      expect(call?.review.spec[groups]).toEqual(['system:authenticated']);
    },
  );

  const policy = 'failurePolicy | required, ';
  const next = 'NoOpinion (try next authorizer)';
  test.each([
    [`timeout | required; ${policy}${next}`, 'slow-open', 'the service abstains'],
    [`timeout | required; ${policy}Deny`, 'slow-closed', ''],
    [`${policy}${next}: malformed responses`, 'malformed-open', 'the service abstains'],
    [`${policy}Deny: malformed responses`, 'malformed-closed', ''],
    [`${policy}${next}: another version in the answer`, 'version-open', 'the service abstains'],
    [`${policy}Deny: another version in the answer`, 'version-closed', ''],
    [`${policy}${next}: condition errors`, 'condition-error-open', 'the service abstains'],
    [`${policy}Deny: condition errors`, 'condition-error-closed', ''],
  ])('%s: %s', async (_row, user, reason) => {
    const reply = await asked(user);
    const end = 'cannot list resource "configmaps" in API group "" in the namespace "default"';
    expect([reply.status, messageOf(reply)]).toEqual([403, expect.stringContaining(end)]);
    if (reason !== '') expect(messageOf(reply)).toContain(reason);
    // Whoever decides finally keeps the next from being asked.
    const last = hooks.calls('everybody').filter(({ review }) => review.spec.user === user);
    expect(last.length).toBe(reason === '' ? 0 : 1);
  });

  test.each([
    ['All true calls it', 'condition-true', true, 1],
    ['Any false skips the webhook', 'condition-false', false, 0],
    ['An error with no false follows failurePolicy', 'condition-error-closed', false, 0],
    ['An error beside a false skips the webhook', 'condition-error-false', false, 0],
  ])('matchConditions[] | %s: %s', async (_row, user, isLet, calls) => {
    expect(await isIn(user)).toBe(isLet);
    expect(hooks.calls(user).length).toBe(calls);
  });

  test('matchConditions[] | Empty list matches all', async () => {
    expect(await isIn('last-of-all')).toBe(true);
    expect((await asked('last-of-others', '/no/resource')).status).toBe(404);
    const users = hooks.calls('everybody').map(({ review }) => review.spec.user);
    expect(users).toEqual(expect.arrayContaining(['last-of-all', 'last-of-others']));
  });

  test('connectionInfo.type | KubeConfigFile (uses kubeConfigFile path)', async () => {
    await asked('kept', '/api/v1/nodes');
    expect(hooks.calls('kept').at(-1)?.caller).toBe('the-apiserver');
  });

  test('name (required label, also used in metrics)', async () => {
    await isIn('v1');
    const { text } = await replica.request('GET', '/metrics');
    expect(text).toMatch(
      /^apiserver_authorization_webhook_evaluations_total\{.*name="v1".*\} [1-9]/m,
    );
    expect(text).toMatch(/^apiserver_authorization_decisions_total\{.*name="kept".*\} [1-9]/m);
  });
});

test('Enable RBAC with the authorizer type RBAC in the file', async () => {
  // A default role lets everybody who is known read this path.
  expect(await isIn('anybody', '/api')).toBe(true);
});

describe('Decision', () => {
  test('Authorization pending | each module in order | allow or deny | decided', async () => {
    expect(await isIn('denies', '/version')).toBe(true);
    expect(hooks.calls('denies')).toEqual([]);
  });

  test('The first deny is final', async () => {
    const reply = await asked('denies');
    expect([reply.status, messageOf(reply)]).toEqual([
      403,
      expect.stringContaining('the service denies'),
    ]);
    const lastAsked = hooks.calls('everybody').map(({ review }) => review.spec.user);
    expect(lastAsked).not.toContain('denies');
  });

  test('Authorization pending | all modules no opinion | Denied | 403', async () => {
    const reply = await asked('nobody');
    expect([reply.status, messageOf(reply)]).toEqual([
      403,
      'configmaps is forbidden: User "nobody" cannot list resource "configmaps" in API group "" ' +
        'in the namespace "default": the service abstains',
    ]);
  });

  test('Admission runs only after an allow', async () => {
    // Admission would say that there is no such namespace.
    const post = (user: string): Promise<Reply> =>
      replica.request('POST', '/api/v1/namespaces/none/configmaps', {
        ...{ headers: as({ user }), body: { metadata: { name: 'a' } } },
      });
    expect([(await post('nobody')).status, (await post('last')).status]).toEqual([403, 404]);
  });
});

describe('Configuration file changed | file change event | Reloaded', () => {
  const reloads = async (status: string): Promise<number> => {
    const { text } = await replica.request('GET', '/metrics');
    const name = 'apiserver_authorization_config_controller_automatic_reloads_total';
    const found = new RegExp(`^${name}\\{.*status="${status}"\\} (\\d+)$`, 'm').exec(text);
    return Number(found?.[1] ?? 0);
  };
  const changed = async (status: string, text: string): Promise<void> => {
    const before = await reloads(status);
    put(text);
    await until(async () => (await reloads(status)) > before);
  };
  const early = (): object => webhook('early', { answer: deny }, ['somebody']);

  test('webhooks come, and Node and RBAC can be reordered', async () => {
    expect(await isIn('somebody', '/version')).toBe(true);
    await changed('success', configuration([early(), rbac, node], [everybody()]));
    expect((await asked('somebody', '/version')).status).toBe(403);
    await changed('success', configuration([node, rbac, early()], [everybody()]));
    expect(await isIn('somebody', '/version')).toBe(true);
  });

  test.each<[what: string, text: () => string]>([
    ['Node and RBAC authorizers cannot be removed: Node', () => configuration([rbac], [])],
    ['Node and RBAC authorizers cannot be removed: RBAC', () => configuration([node], [])],
    [
      'nor what is no configuration brought in',
      () => configuration([node, rbac], [{ type: 'Webhook', name: 'x' }]),
    ],
  ])('%s', async (_what, text) => {
    await changed('failure', text());
    expect(await isIn('somebody', '/version')).toBe(true);
    expect(await isIn('last-again')).toBe(true);
  });
});
