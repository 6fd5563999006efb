// Three replicas follow one authorization configuration that is rewritten again and again while
// they answer: two good ones that any mixture of would decide wrongly, and broken ones in between.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestCluster } from './harness.ts';
import type { Replica } from './harness.ts';
import { Hooks } from './specification/authorization-world.ts';

type Verdict = 'allowed' | 'denied' | undefined;

/** What each webhook says of a user, by its name. */
const verdicts: Readonly<Record<string, (user: string) => Verdict>> = {
  'deny-bob': (user) => (user === 'bob' ? 'denied' : undefined),
  'allow-all': () => 'allowed',
  'allow-alice': (user) => (user === 'alice' ? 'allowed' : undefined),
};

let file: string;
let hooks: Hooks;
let cluster: TestCluster;

/** Both allow alice and refuse bob; the beginning of one with the end of the other does not. */
const good = [
  () => [hook('deny-bob'), { type: 'Node', name: 'node' }, rbac, hook('allow-all')],
  () => [hook('allow-alice'), rbac, { type: 'Node', name: 'node' }],
];
/** Change nothing: no list, a mode that goes, a webhook that nobody can open. */
const bad = [
  () => 'authorizers: [',
  () => configuration([rbac, hook('allow-all')]),
  () => configuration([rbac, { type: 'Node', name: 'node' }, hook('missing')]),
];
const rbac = { type: 'RBAC', name: 'rbac' };

const hook = (name: string): object => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '10s',
    authorizedTTL: '50ms',
    unauthorizedTTL: '50ms',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: join(hooks.folder, name) },
    matchConditions: [{ expression: 'has(request.resourceAttributes)' }],
  },
});
const configuration = (authorizers: readonly object[]): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers,
  });

/** As those who manage configuration do it: no reader sees half of it. */
function put(text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

beforeAll(async () => {
  hooks = await Hooks.start();
  file = join(hooks.folder, 'authorization.yaml');
  for (const [name, verdictOf] of Object.entries(verdicts)) {
    hooks.add(name, ({ spec }) => {
      const verdict = verdictOf(spec.user);
      return { allowed: verdict === 'allowed', denied: verdict === 'denied' };
    });
  }
  writeFileSync(join(hooks.folder, 'missing'), '{}');
  put(configuration(good[0]?.() ?? []));
  cluster = await TestCluster.start({
    replicaCount: 3,
    tokens: ['alice-token,alice,alice', 'bob-token,bob,bob'],
    serverFlags: [`--authorization-config=${file}`],
  });
});
afterAll(async () => {
  await cluster.stop();
  hooks.stop();
});

const reloadsOf = async (replica: Replica, status: string): Promise<number> => {
  const { text } = await replica.request('GET', '/metrics');
  const name = 'apiserver_authorization_config_controller_automatic_reloads_total';
  return Number(new RegExp(`^${name}\\{.*status="${status}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
};

test('configurations change under load, and not one decision is wrong', async () => {
  const wrong: string[] = [];
  const counts = new Map<string, number>();
  let isOver = false;
  const expected: Readonly<Record<string, number>> = { alice: 200, bob: 403 };
  const asking = cluster.replicas.flatMap((replica, at) =>
    Object.entries(expected).flatMap(([user, status]) =>
      [0, 1, 2, 3].map(async (worker) => {
        for (let turn = 0; !isOver; turn++) {
          const headers = { authorization: `Bearer ${user}-token` };
          const path = `/api/v1/namespaces/n${String(worker)}-${String(turn % 50)}/configmaps`;
          const reply = await replica.request('GET', path, { headers });
          counts.set(user, (counts.get(user) ?? 0) + 1);
          if (reply.status !== status) wrong.push(`replica ${String(at)}, ${user}: ${reply.text}`);
        }
      }),
    ),
  );
  const after = async (status: string, least: number): Promise<void> => {
    for (const replica of cluster.replicas) {
      while ((await reloadsOf(replica, status)) < least) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  };
  for (let round = 1; round <= 6; round++) {
    put(configuration(good[round % 2]?.() ?? []));
    await after('success', round);
    put(bad[round % 3]?.() ?? '');
    await after('failure', round);
  }
  isOver = true;
  await Promise.all(asking);
  expect(wrong).toEqual([]);
  for (const user of Object.keys(expected)) expect(counts.get(user)).toBeGreaterThan(100);
});
