// Roles and bindings in the spelling of the product: which fields allow what, and what
// cannot be changed. Questions are asked as SubjectAccessReviews.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import {
  as,
  isAllowed,
  make,
  messageOf,
  rbacPath,
  roleRef,
  settled,
  subject,
  until,
} from './authorization-world.ts';
import type { Who } from './authorization-world.ts';

let cluster: TestCluster;
let replica: Replica;

const here = `${rbacPath}/namespaces/team`;
const namespaces = ['team', 'other'];
const rule = (fields: object): object => ({ verbs: ['get'], apiGroups: [''], ...fields });

/** Roles; those with a namespace are made in team. Each is bound to a user of the same name. */
const roles: Readonly<Record<string, { readonly rules: readonly object[] }>> = {
  'core-group': { rules: [rule({ resources: ['pods'] })] },
  'other-group': { rules: [rule({ apiGroups: ['apps'], resources: ['deployments'] })] },
  subresource: { rules: [rule({ resources: ['pods/log'] })] },
  'all-subresources': { rules: [rule({ resources: ['*/scale'] })] },
  named: { rules: [rule({ resources: ['configmaps'], resourceNames: ['one'], verbs: ['*'] })] },
  'named-none': { rules: [rule({ resources: ['configmaps'], resourceNames: [] })] },
  verbs: { rules: [rule({ resources: ['pods'], verbs: ['list', 'watch'] })] },
  'any-resource': { rules: [rule({ resources: ['*'] })] },
  'any-group': { rules: [rule({ apiGroups: ['*'], resources: ['leases'] })] },
  'any-verb': { rules: [rule({ resources: ['pods'], verbs: ['*'] })] },
  'two-rules': { rules: [rule({ resources: ['pods'] }), rule({ resources: ['secrets'] })] },
  'path.segment:name': { rules: [rule({ resources: ['pods'] })] },
};
const paths: Readonly<Record<string, readonly string[]>> = {
  'one-path': ['/metrics'],
  'paths-below': ['/debug/*'],
  'any-path': ['*'],
};

interface Binding {
  readonly at: string;
  readonly to: string;
  readonly subjects: readonly string[];
}
const bindings: Readonly<Record<string, Binding>> = {
  role: { at: here, to: 'Role core-group', subjects: ['User of-role'] },
  clusterrole: { at: here, to: 'ClusterRole wide', subjects: ['User of-cluster-role-here'] },
  everywhere: { at: rbacPath, to: 'ClusterRole wide', subjects: ['User of-cluster-role'] },
  group: { at: here, to: 'Role core-group', subjects: ['Group crew', 'User Case'] },
  account: { at: here, to: 'Role core-group', subjects: ['ServiceAccount other/robot'] },
  accounts: {
    at: here,
    to: 'Role core-group',
    subjects: ['Group system:serviceaccounts:other'],
  },
  strange: { at: here, to: 'Role core-group', subjects: ['User any string: ünïcode @ 1'] },
  twice: { at: here, to: 'Role other-group', subjects: ['User of-role'] },
};

beforeAll(async () => {
  cluster = await TestCluster.start({ naming: 'svc' });
  replica = cluster.replica(0);
  for (const name of namespaces) {
    await make(replica, '/api/v1/namespaces', { metadata: { name } });
  }
  for (const [name, { rules }] of Object.entries(roles)) {
    await make(replica, `${here}/roles`, { metadata: { name }, rules });
    const subjects = [subject(`User ${name}`)];
    const body = { metadata: { name }, roleRef: roleRef(`Role ${name}`), subjects };
    await make(replica, `${here}/rolebindings`, body);
  }
  for (const [name, nonResourceURLs] of Object.entries(paths)) {
    const rules = [{ verbs: ['get'], nonResourceURLs }];
    await make(replica, `${rbacPath}/clusterroles`, { metadata: { name }, rules });
    const subjects = [subject(`User ${name}`)];
    const body = { metadata: { name }, roleRef: roleRef(`ClusterRole ${name}`), subjects };
    await make(replica, `${rbacPath}/clusterrolebindings`, body);
  }
  const wide = { metadata: { name: 'wide' }, rules: [rule({ resources: ['pods', 'nodes'] })] };
  await make(replica, `${rbacPath}/clusterroles`, wide);
  for (const [name, { at, to, subjects }] of Object.entries(bindings)) {
    const plural = at === here ? 'rolebindings' : 'clusterrolebindings';
    await make(replica, `${at}/${plural}`, {
      ...{ metadata: { name: `b-${name}` }, roleRef: roleRef(to), subjects: subjects.map(subject) },
    });
  }
  await settled(replica);
});
afterAll(() => cluster.stop());

const rows = (
  ...table: (readonly [row: string, user: string, yes: string[], no: string[]])[]
): typeof table => table;

async function expectAnswers(who: Who, yes: string[], no: string[]): Promise<void> {
  const answers: Record<string, boolean> = {};
  for (const text of [...yes, ...no]) answers[text] = await isAllowed(replica, who, text);
  const expected = Object.fromEntries([...yes, ...no].map((text) => [text, yes.includes(text)]));
  expect(answers).toEqual(expected);
}

describe('Rule fields', () => {
  test.each(
    rows(
      [
        'apiGroups (empty string means core group)',
        'core-group',
        ['get pods in team'],
        ['get pods.apps in team', 'get pods in other', 'get pods'],
      ],
      [
        'apiGroups: those of the rule',
        'other-group',
        ['get deployments.apps in team named d'],
        ['get deployments in team', 'get deployments.extensions in team'],
      ],
      [
        'resources (subresource written <resource>/<subresource>)',
        'subresource',
        ['get pods/log in team named p'],
        ['get pods in team named p', 'get pods/exec in team named p'],
      ],
      [
        'resources: a subresource of every resource',
        'all-subresources',
        ['get deployments/scale in team', 'get replicasets/scale in team'],
        ['get deployments in team'],
      ],
      [
        'resourceNames',
        'named',
        ['get configmaps in team named one', 'update configmaps in team named one'],
        ['get configmaps in team named two', 'list configmaps in team'],
      ],
      [
        'An empty resourceNames means no restriction',
        'named-none',
        ['get configmaps in team named one', 'get configmaps in team named two'],
        ['get secrets in team named one'],
      ],
      [
        'verbs',
        'verbs',
        ['list pods in team', 'watch pods in team'],
        ['get pods in team', 'create pods in team'],
      ],
      [
        'nonResourceURLs',
        'one-path',
        ['get /metrics'],
        ['get /metrics/x', 'post /metrics', 'get /metric'],
      ],
      [
        'Wildcard * is allowed in resources',
        'any-resource',
        ['get pods in team', 'get secrets in team', 'get pods/log in team'],
        ['list pods in team', 'get deployments.apps in team'],
      ],
      [
        'Wildcard * is allowed in apiGroups',
        'any-group',
        ['get leases in team', 'get leases.coordination.svc.io in team'],
        ['get pods in team'],
      ],
      [
        'Wildcard * is allowed in verbs',
        'any-verb',
        ['get pods in team', 'deletecollection pods in team', 'anything pods in team'],
        ['get secrets in team'],
      ],
      [
        'Wildcard * is allowed as a suffix in nonResourceURLs',
        'paths-below',
        ['get /debug/a', 'get /debug/a/b'],
        ['get /debug', 'get /debugger'],
      ],
      [
        'Wildcard * alone in nonResourceURLs is every path',
        'any-path',
        ['get /debug', 'get /metrics'],
        ['post /metrics', 'get pods in team'],
      ],
      [
        'Permissions only add; no deny rules exist',
        'two-rules',
        ['get pods in team', 'get secrets in team'],
        ['get configmaps in team'],
      ],
    ),
  )('%s', async (_row, user, yes, no) => {
    await expectAnswers({ user }, yes, no);
  });

  test.each([
    ['*s', 'a wildcard is no part of a resource'],
    ['pods*', 'nor its end'],
  ])('resources %j: %s', async (resource) => {
    const name = `odd-${resource.replace('*', 'x')}`;
    await make(replica, `${here}/roles`, {
      ...{ metadata: { name }, rules: [rule({ resources: [resource] })] },
    });
    const body = {
      metadata: { name },
      roleRef: roleRef(`Role ${name}`),
      subjects: [subject(`User ${name}`)],
    };
    await make(replica, `${here}/rolebindings`, body);
    await settled(replica);
    await expectAnswers({ user: name }, [], ['get pods in team']);
  });
});

describe('RBAC objects', () => {
  test.each(
    rows(
      [
        'Role | namespace | rules',
        'of-role',
        ['get pods in team'],
        ['get pods in other', 'get pods', 'get nodes'],
      ],
      [
        'RoleBinding | namespace | subjects, roleRef (kind ClusterRole): inside its own namespace',
        'of-cluster-role-here',
        ['get pods in team'],
        ['get pods in other', 'get pods', 'get nodes'],
      ],
      [
        'ClusterRole, ClusterRoleBinding | cluster: grants cluster-wide',
        'of-cluster-role',
        ['get pods in team', 'get pods in other', 'get pods', 'get nodes'],
        ['list pods'],
      ],
      [
        'Permissions only add: those of several bindings',
        'of-role',
        ['get pods in team', 'get deployments.apps in team'],
        ['get secrets in team'],
      ],
    ),
  )('%s', async (_row, user, yes, no) => {
    await expectAnswers({ user }, yes, no);
  });

  const robot = 'system:serviceaccount:other:robot';
  const ofOther = ['system:serviceaccounts', 'system:serviceaccounts:other'];
  test.each<[row: string, who: Who, allowed: boolean]>([
    ['kind User', { user: 'core-group' }, true],
    ['kind Group', { user: 'x', groups: ['crew'] }, true],
    ['kind Group: who is not in it', { user: 'crew', groups: ['crew2'] }, false],
    ['kind ServiceAccount, namespace', { user: robot }, true],
    ['kind ServiceAccount: another namespace', { user: robot.replace('other', 'team') }, false],
    ['name (case-sensitive)', { user: 'Case' }, true],
    ['name (case-sensitive): another case', { user: 'case' }, false],
    ['Usernames may be any string', { user: 'any string: ünïcode @ 1' }, true],
    [
      'Service account groups begin system:serviceaccounts: (plural)',
      { user: 'system:serviceaccount:other:any', groups: ofOther },
      true,
    ],
    [
      'Service account names begin system:serviceaccount: (singular)',
      { user: 'system:serviceaccounts:other:robot' },
      false,
    ],
  ])('Subject: %s', async (_row, who, allowed) => {
    expect(await isAllowed(replica, who, 'get pods in team')).toBe(allowed);
  });

  test.each([
    ['roles', 'a/b'],
    ['roles', '..'],
    ['rolebindings', 'a%b'],
    ['clusterroles', '.'],
    ['clusterrolebindings', 'a/b'],
  ])('Names must be valid path segment names: %s named %j is 422', async (plural, name) => {
    const at = plural.startsWith('cluster') ? rbacPath : here;
    const body = {
      ...{ metadata: { name }, rules: [] },
      ...(plural.endsWith('bindings') ? { roleRef: roleRef('ClusterRole wide') } : {}),
    };
    const reply = await replica.request('POST', `${at}/${plural}`, { body });
    expect([reply.status, messageOf(reply)]).toEqual([
      422,
      expect.stringContaining('metadata.name: Invalid value'),
    ]);
  });

  test('Names may have what a path segment has: a colon, a dot, upper case', async () => {
    expect(await isAllowed(replica, { user: 'path.segment:name' }, 'get pods in team')).toBe(true);
    await make(replica, `${here}/roles`, { metadata: { name: 'System:A_b' } });
  });
});

describe('roleRef cannot be changed after creation', () => {
  test.each([
    ['rolebindings', here, 'b-role'],
    ['clusterrolebindings', rbacPath, 'b-everywhere'],
  ])('Role binding exists | change roleRef | rejected: %s', async (plural, at, name) => {
    const path = `${at}/${plural}/${name}`;
    const body = { roleRef: { name: 'view', kind: 'ClusterRole' } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const reply = await replica.request('PATCH', path, { body, headers });
    expect([reply.status, messageOf(reply)]).toEqual([
      422,
      expect.stringMatching(/roleRef: Invalid value: .*cannot change roleRef/),
    ]);
    const stored = (await replica.request('GET', path)).json<{ roleRef: object }>();
    const put = { ...stored, roleRef: roleRef('ClusterRole view') };
    expect((await replica.request('PUT', path, { body: put })).status).toBe(422);
  });

  test('the binding must be deleted and re-created', async () => {
    const path = `${here}/rolebindings`;
    expect((await replica.request('DELETE', `${path}/b-twice`)).status).toBe(200);
    await make(replica, path, {
      ...{ metadata: { name: 'b-twice' }, subjects: [subject('User of-role')] },
      roleRef: roleRef('Role verbs'),
    });
    await until(() => isAllowed(replica, { user: 'of-role' }, 'list pods in team'));
    expect(await isAllowed(replica, { user: 'of-role' }, 'get deployments.apps in team')).toBe(
      false,
    );
  });
});

describe('resourceNames', () => {
  test.each(['create', 'deletecollection'])('cannot limit %s', async (verb) => {
    await expectAnswers({ user: 'named' }, [], [`${verb} configmaps in team`]);
  });

  test.each([
    ['', 403],
    ['?fieldSelector=metadata.name%3Done', 200],
    ['?fieldSelector=metadata.name%3Dtwo', 403],
    ['?watch=1&timeoutSeconds=1', 403],
    ['?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Done', 200],
  ])(
    'For list or watch the client must add a field selector on metadata.name: %s is %d',
    async (query, status) => {
      const path = `/api/v1/namespaces/team/configmaps${query}`;
      const reply = await replica.request('GET', path, { headers: as({ user: 'named' }) });
      expect(reply.status).toBe(status);
    },
  );
});
