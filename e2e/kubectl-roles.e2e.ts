// Stock kubectl makes roles and bindings: an administrator by `auth reconcile`, and somebody who
// may give no more than is held.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasKubectl, KubectlCluster, runKubectl } from './run-kubectl.ts';
import type { KubectlResult } from './run-kubectl.ts';

const group = 'rbac.authorization.k8s.io';
let kubectl: KubectlCluster;

/** As alice, who may write roles and bindings and read config maps. */
const asAlice = (...args: string[]): KubectlResult =>
  runKubectl({ kubeconfig: join(kubectl.folder, 'alice.kubeconfig'), home: kubectl.folder }, args);

beforeAll(async () => {
  if (!hasKubectl) return;
  kubectl = await KubectlCluster.start({ tokens: ['alice-token,alice,2,"team"'] });
  const { url, caFile } = kubectl.cluster.replica(0);
  writeFileSync(
    join(kubectl.folder, 'alice.kubeconfig'),
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': caFile } }],
      users: [{ name: 'alice', user: { token: 'alice-token' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'alice', namespace: 'default' } }],
      'current-context': 'c',
    }),
  );
}, 60_000);
afterAll(() => kubectl?.stop());

const rolesOf = (name: string, verbs: readonly string[]): object => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [
        { apiGroups: [''], resources: ['configmaps'], verbs },
        {
          apiGroups: [group],
          resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
          verbs: ['get', 'create', 'update', 'patch'],
        },
      ],
    },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects: [{ apiGroup: group, kind: 'User', name: 'alice' }],
    },
  ],
});

(hasKubectl ? describe : describe.skip)('kubectl', () => {
  test('auth reconcile makes what is missing and adds to what is there', () => {
    const first = kubectl.file('roles', rolesOf('limited', ['get']));
    const { code, out, err } = kubectl.run('auth', 'reconcile', '-f', first);
    const made = ['clusterrole', 'clusterrolebinding'].map(
      (kind) => `${kind}.${group}/limited reconciled\n`,
    );
    expect([code, out]).toEqual([0, made.join('')]);
    expect(err).toContain('reconciliation required create');
    const second = kubectl.file('more', rolesOf('limited', ['get', 'list']));
    expect(kubectl.run('auth', 'reconcile', '-f', second).code).toBe(0);
    const rules = kubectl.told('get', 'clusterrole', 'limited', '-o', 'jsonpath={.rules[*].verbs}');
    expect(rules).toContain('"get"');
    expect(rules).toContain('"list"');
    const { err: nothing } = kubectl.run('auth', 'reconcile', '-f', second);
    expect(nothing).not.toContain('required');
  });

  test.each([
    ['role', ['create', 'role', 'readers', '--verb=get,list', '--resource=configmaps']],
    ['clusterrole', ['create', 'clusterrole', 'readers', '--verb=get', '--resource=configmaps']],
    ['rolebinding', ['create', 'rolebinding', 'readers', '--role=readers', '--user=bob']],
    ['rolebinding', ['create', 'rolebinding', 'wide', '--clusterrole=readers', '--group=team']],
    [
      'clusterrolebinding',
      ['create', 'clusterrolebinding', 'readers', '--clusterrole=readers', '--serviceaccount=a:b'],
    ],
  ])('a %s of what is held is made: %j', (kind, args) => {
    expect(asAlice(...args)).toEqual({
      code: 0,
      out: `${kind}.${group}/${args[2] ?? ''} created\n`,
      err: '',
    });
  });

  test.each([
    [
      ['create', 'role', 'strong', '--verb=get,list', '--resource=secrets'],
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
    ],
    [
      ['create', 'clusterrole', 'strong', '--verb=delete', '--resource=deployments.apps'],
      '{APIGroups:["apps"], Resources:["deployments"], Verbs:["delete"]}',
    ],
    [
      ['create', 'clusterrole', 'strong', '--verb=get', '--non-resource-url=/metrics'],
      '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
    ],
    [
      ['create', 'rolebinding', 'strong', '--clusterrole=cluster-admin', '--user=alice'],
      '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}',
    ],
    [
      [
        'create',
        'clusterrolebinding',
        'strong',
        '--clusterrole=system:node-problem-detector',
        '--user=alice',
      ],
      '{APIGroups:[""], Resources:["events"], Verbs:["create" "patch" "update"]}\n' +
        '{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}\n' +
        '{APIGroups:[""], Resources:["nodes/status"], Verbs:["patch"]}\n' +
        '{APIGroups:["events.k8s.io"], Resources:["events"], Verbs:["create" "patch" "update"]}',
    ],
  ])('%j is refused with what is not held', (args, rules) => {
    const { code, out, err } = asAlice(...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(
      'user "alice" (groups=["team" "system:authenticated"]) is attempting to grant RBAC ' +
        `permissions not currently held:\n${rules}`,
    );
  });

  test('auth reconcile of more than is held is refused, too', () => {
    const more = kubectl.file('all', rolesOf('limited', ['*']));
    const { code, err } = asAlice('auth', 'reconcile', '-f', more);
    expect(code).toBe(1);
    expect(err).toContain('is attempting to grant RBAC permissions not currently held');
  });

  test('admin, edit and view have what aggregates to them', async () => {
    const rulesOf = (name: string): string =>
      kubectl.told('get', 'clusterrole', name, '-o', 'jsonpath={.rules[*].resources}');
    for (const giveUpAt = performance.now() + 20_000; performance.now() < giveUpAt;) {
      if (rulesOf('admin').includes('rolebindings') && rulesOf('admin').includes('pods/log')) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(rulesOf('admin')).toContain('pods/log');
    expect(rulesOf('edit')).toContain('pods/log');
    expect(rulesOf('edit')).not.toContain('rolebindings');
    expect(rulesOf('view')).not.toContain('secrets');
  });

  test('what everybody may read, and what only those who are known', async () => {
    const replica = kubectl.cluster.replica(0);
    const statusOf = async (path: string, authorization: string): Promise<number> =>
      (await replica.request('GET', path, { headers: { authorization } })).status;
    for (const path of ['/healthz', '/livez', '/readyz', '/version']) {
      expect([path, await statusOf(path, '')]).toEqual([path, 200]);
    }
    for (const path of ['/api', '/apis', '/openapi/v2', '/metrics', '/readyz/etcd']) {
      expect([path, await statusOf(path, '')]).toEqual([path, 403]);
    }
    for (const path of ['/api', '/apis/apps/v1', '/openapi/v3', '/readyz']) {
      expect([path, await statusOf(path, 'Bearer alice-token')]).toEqual([path, 200]);
    }
    expect(await statusOf('/metrics', 'Bearer alice-token')).toBe(403);
    const check = '/readyz/poststarthook/rbac/bootstrap-roles';
    expect((await replica.request('GET', check)).text).toBe('ok');
  });
});
