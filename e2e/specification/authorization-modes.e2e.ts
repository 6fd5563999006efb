// Modes of --authorization-mode through real servers: what each one says, who is never asked, and
// which flags exclude each other.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Replica, TestCluster } from '../harness.ts';
import { Hooks } from './authorization-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'apiserver-modes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const policies = join(folder, 'policies');
writeFileSync(
  policies,
  JSON.stringify({
    apiVersion: 'abac.authorization.svc.io/v1beta1',
    kind: 'Policy',
    spec: { user: 'bob', namespace: 'default', resource: 'configmaps', readonly: true },
  }),
);

const configMaps = '/api/v1/namespaces/default/configmaps';
const cannot = (verb: string, user: string): string =>
  `configmaps is forbidden: User \\"${user}\\" cannot ${verb} resource \\"configmaps\\" in API ` +
  'group \\"\\" in the namespace \\"default\\"';

interface Expected {
  readonly status: number;
  /** Part of the body. */
  readonly text?: string;
}
type Case = readonly [method: string, path: string, user: string, expected: Expected];

let hooks: Hooks;
beforeAll(async () => {
  hooks = await Hooks.start();
  hooks.add('service', ({ spec }) => ({ allowed: spec.user === 'alice' }));
});
afterAll(() => hooks.stop());

describe.each<[mode: string, row: string, flags: () => string[], cases: Case[]]>([
  [
    'RBAC,AlwaysAllow',
    'AlwaysAllow | Allows everything that the others have no opinion on',
    () => [],
    [
      ['GET', configMaps, 'alice', { status: 200 }],
      ['GET', '/metrics', 'alice', { status: 200 }],
      // Nobody without credentials comes in where everything is allowed.
      ['GET', configMaps, '', { status: 401 }],
      ['GET', '/livez', '', { status: 401 }],
    ],
  ],
  [
    'AlwaysDeny',
    'AlwaysDeny | Denies everything',
    () => [],
    [
      [
        'GET',
        configMaps,
        'alice',
        { status: 403, text: `${cannot('list', 'alice')}: Everything is forbidden.` },
      ],
      ['GET', '/livez', '', { status: 403, text: 'Everything is forbidden.' }],
      // The group system:masters has unrestricted access.
      ['GET', configMaps, 'admin', { status: 200 }],
    ],
  ],
  [
    'ABAC,RBAC,Webhook',
    'ABAC | policies from a file; RBAC | Role-based; Webhook | call to an external service',
    () => [
      `--authorization-policy-file=${policies}`,
      `--authorization-webhook-config-file=${join(hooks.folder, 'service')}`,
    ],
    [
      ['GET', configMaps, 'bob', { status: 200 }],
      ['DELETE', configMaps, 'bob', { status: 403, text: cannot('deletecollection', 'bob') }],
      ['GET', configMaps, 'carol', { status: 403, text: cannot('list', 'carol') }],
      ['GET', '/livez', '', { status: 200 }],
      ['GET', '/metrics', 'bob', { status: 403 }],
      ['GET', '/metrics', 'alice', { status: 200 }],
    ],
  ],
])('--authorization-mode=%s', (mode, row, flags, cases) => {
  test(row, async () => {
    const serverFlags = [`--authorization-mode=${mode}`, ...flags()];
    const cluster = await TestCluster.start({
      naming: 'svc',
      tokens: ['alice', 'bob', 'carol'].map((name) => `${name}-token,${name},${name}`),
      serverFlags,
    });
    try {
      const replica = cluster.replica(0);
      for (const [method, path, user, { status, text = '' }] of cases) {
        const token = user === 'admin' ? undefined : `Bearer ${user}-token`;
        const authorization = user === '' ? '' : token;
        const headers = authorization === undefined ? {} : { authorization };
        const reply = await replica.request(method, path, { headers });
        expect(`${method} ${path} ${user}: ${String(reply.status)}`).toBe(
          `${method} ${path} ${user}: ${String(status)}`,
        );
        expect(reply.text).toContain(text);
      }
    } finally {
      await cluster.stop();
    }
  });
});

test('Using both the file and the flags is an error, the server exits at start', async () => {
  const flags = ['--naming=svc', '--authorization-config=/a', '--authorization-mode=Node,RBAC'];
  const replica = new Replica(join(folder, 'refused'), flags);
  await expect(replica.start()).rejects.toThrow(
    /^exit [1-9]\d*:[^]*leave out --authorization-mode\b/,
  );
});

test('Webhook conditions, at most 64: a file with more of them does not start', async () => {
  const path = join(folder, 'authorization.json');
  const matchConditions = Array.from({ length: 65 }, (_, at) => ({
    expression: `request.user != '${String(at)}'`,
  }));
  const webhook = {
    ...{ timeout: '31s', subjectAccessReviewVersion: 'v1', failurePolicy: 'Deny' },
    ...{ matchConditionSubjectAccessReviewVersion: 'v1', matchConditions },
    connectionInfo: { type: 'InClusterConfig' },
  };
  writeFileSync(
    path,
    JSON.stringify({
      apiVersion: 'apiserver.config.svc.io/v1',
      kind: 'AuthorizationConfiguration',
      authorizers: [{ type: 'Webhook', name: 'hook', webhook }],
    }),
  );
  const flags = ['--naming=svc', `--authorization-config=${path}`];
  const start = new Replica(join(folder, 'refused'), flags).start();
  const refused = await start.then(
    () => '',
    (error: unknown) => (error as Error).message,
  );
  expect(refused).toMatch(/^exit [1-9]/);
  expect(refused).toContain('matchConditions: Too many: 65: must have at most 64 items');
  expect(refused).toContain('timeout: Invalid value: "31s": must be > 0s and <= 30s');
  expect(refused).toContain('connectionInfo.type: Invalid value: "InClusterConfig"');
});
