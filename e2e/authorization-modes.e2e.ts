// Modes of --authorization-mode through real servers: what each one says, and who is never asked.
import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestCluster } from './harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'apiserver-modes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const policies = join(folder, 'policies');
writeFileSync(
  policies,
  JSON.stringify({
    apiVersion: 'abac.authorization.kubernetes.io/v1beta1',
    kind: 'Policy',
    spec: { user: 'alice', namespace: 'default', resource: 'configmaps', readonly: true },
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

describe.each<[mode: string, flags: string[], cases: Case[]]>([
  [
    'AlwaysAllow',
    [],
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
    [],
    [
      [
        'GET',
        configMaps,
        'alice',
        { status: 403, text: `${cannot('list', 'alice')}: Everything is forbidden.` },
      ],
      ['GET', '/livez', '', { status: 403, text: 'Everything is forbidden.' }],
      ['GET', configMaps, 'admin', { status: 200 }],
    ],
  ],
  [
    'ABAC,RBAC',
    [`--authorization-policy-file=${policies}`],
    [
      ['GET', configMaps, 'alice', { status: 200 }],
      [
        'DELETE',
        configMaps,
        'alice',
        { status: 403, text: `${cannot('deletecollection', 'alice')}: No policy matched.` },
      ],
      ['GET', configMaps, 'bob', { status: 403, text: `${cannot('list', 'bob')}: No policy` }],
      ['GET', '/livez', '', { status: 200 }],
    ],
  ],
])('--authorization-mode=%s', (mode, flags, cases) => {
  test('decides', async () => {
    const serverFlags = [`--authorization-mode=${mode}`, ...flags];
    const cluster = await TestCluster.start({
      tokens: ['alice-token,alice,alice', 'bob-token,bob,bob'],
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
