// The roles that every cluster has: to whom they are bound, what they are for, how they gather
// rules, and what a start restores.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import { isAllowed, make, rbacGroup, rbacPath, roleRef, subject } from './authorization-world.ts';
import { settled, until } from './authorization-world.ts';
import type { Who } from './authorization-world.ts';

let cluster: TestCluster;
let replica: Replica;

interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
}
interface StoredBinding extends Stored {
  readonly roleRef: { readonly name: string };
  readonly subjects?: readonly { kind: string; name: string; namespace?: string }[];
}
let bindings: readonly StoredBinding[];
let roles: readonly Stored[];

const known: Who = { user: 'somebody', groups: ['system:authenticated'] };
const unknown: Who = { user: 'system:anonymous', groups: ['system:unauthenticated'] };
const mergePatch = { 'content-type': 'application/merge-patch+json' };

/** Roles that a user of the same name has in the namespace team. */
const inTeam = ['cluster-admin', 'admin', 'edit', 'view'];
/** Roles without subjects that a user of the same name has everywhere. */
const everywhere = ['system:node', 'system:auth-delegator', 'system:node-bootstrapper'];

const itemsOf = async <T>(plural: string): Promise<readonly T[]> =>
  (await replica.request('GET', `${rbacPath}/${plural}`)).json<{ items: T[] }>().items;

beforeAll(async () => {
  cluster = await TestCluster.start({ naming: 'svc' });
  replica = cluster.replica(0);
  bindings = await itemsOf('clusterrolebindings');
  roles = await itemsOf('clusterroles');
  await make(replica, '/api/v1/namespaces', { metadata: { name: 'team' } });
  const bind = (at: string, name: string): Promise<void> =>
    make(replica, at, {
      ...{ metadata: { name: `of-${name}` }, roleRef: roleRef(`ClusterRole ${name}`) },
      subjects: [subject(`User ${name}`)],
    });
  for (const name of inTeam) await bind(`${rbacPath}/namespaces/team/rolebindings`, name);
  for (const name of everywhere) await bind(`${rbacPath}/clusterrolebindings`, name);
  await until(() => isAllowed(replica, { user: 'admin' }, 'get pods in team'));
  await settled(replica);
});
afterAll(() => cluster.stop());

async function expectAnswers(who: Who, yes: readonly string[], no: readonly string[]) {
  const all = [...yes, ...no];
  const asked = all.map(async (text) => [text, await isAllowed(replica, who, text)] as const);
  const answers = Object.fromEntries(await Promise.all(asked));
  expect(answers).toEqual(Object.fromEntries(all.map((text) => [text, yes.includes(text)])));
}

describe('Default roles: Bound to', () => {
  test.each<[role: string, subjects: string[]]>([
    ['system:basic-user', ['Group system:authenticated']],
    ['system:discovery', ['Group system:authenticated']],
    ['system:public-info-viewer', ['Group system:authenticated', 'Group system:unauthenticated']],
    ['cluster-admin', ['Group system:masters']],
    ['admin', []],
    ['edit', []],
    ['view', []],
    ['system:svc-scheduler', ['User system:svc-scheduler']],
    ['system:volume-scheduler', ['User system:svc-scheduler']],
    ['system:svc-controller-manager', ['User system:svc-controller-manager']],
    ['system:node', []],
    ['system:node-proxier', ['User system:svc-proxy']],
    ['system:auth-delegator', []],
    ['system:node-bootstrapper', []],
    ['system:monitoring', ['Group system:monitoring']],
  ])('%s: %j', (role, subjects) => {
    expect(roles.map(({ metadata }) => metadata.name)).toContain(role);
    const bound = bindings.filter(({ roleRef: { name } }) => name === role);
    const found = bound.flatMap((binding) => binding.subjects ?? []);
    expect(found.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual(subjects);
  });

  test('system:controller:<name>: service accounts, one role per built-in controller', () => {
    const named = ({ metadata }: Stored): string => metadata.name;
    const isOfController = (name: string): boolean => name.startsWith('system:controller:');
    const controllers = roles.map(named).filter(isOfController);
    expect(controllers.length).toBeGreaterThan(30);
    for (const name of controllers) {
      const bound = bindings.filter((binding) => binding.roleRef.name === name);
      const account = { kind: 'ServiceAccount', namespace: 'svc-system' };
      expect([name, bound.flatMap(({ subjects = [] }) => subjects)]).toEqual([
        name,
        [expect.objectContaining({ ...account, name: name.slice('system:controller:'.length) })],
      ]);
    }
  });

  test('Default roles give no rights to service accounts outside the system namespace', () => {
    const accounts = bindings.flatMap(({ subjects = [] }) =>
      subjects.filter(({ kind }) => kind === 'ServiceAccount'),
    );
    expect(new Set(accounts.map(({ namespace }) => namespace))).toEqual(new Set(['svc-system']));
  });
});

describe('Default roles: Purpose', () => {
  const selfReviews = 'create selfsubjectaccessreviews.authorization.svc.io';
  const endpoints = ['endpoints in team', 'endpointslices.discovery.svc.io in team'];
  const writes = ['create', 'update', 'patch', 'delete', 'deletecollection'];
  const writesTo = (what: readonly string[]): string[] =>
    what.flatMap((of) => writes.map((verb) => `${verb} ${of}`));
  const rbacObjects = ['roles', 'rolebindings'].map((of) => `${of}.${rbacGroup} in team`);

  test.each<[row: string, who: Who, yes: string[], no: string[]]>([
    [
      'system:basic-user: read own basic information',
      known,
      [selfReviews, 'create selfsubjectreviews.authentication.svc.io'],
      ['create subjectaccessreviews.authorization.svc.io', 'get pods in team'],
    ],
    ['system:basic-user: nobody else', unknown, [], [selfReviews]],
    [
      'system:discovery: read API discovery endpoints',
      known,
      ['get /api', 'get /api/v1', 'get /apis', 'get /apis/apps/v1', 'get /openapi/v2'],
      ['get /metrics', 'post /api', 'get /logs'],
    ],
    ['system:discovery: nobody else', unknown, [], ['get /api', 'get /apis', 'get /openapi/v2']],
    [
      'system:public-info-viewer: non-sensitive cluster information',
      unknown,
      ['get /healthz', 'get /livez', 'get /readyz', 'get /version'],
      ['get /metrics', 'get /healthz/etcd', 'post /healthz'],
    ],
    [
      'cluster-admin: everything',
      { user: 'x', groups: ['system:masters'] },
      ['delete nodes', 'anything things.example.com in team', 'delete /any/path'],
      [],
    ],
    [
      'cluster-admin: Namespaced via RoleBinding: everything in that namespace',
      { user: 'cluster-admin' },
      ['anything things.example.com in team', 'update namespaces in team named team'],
      ['get pods in default', 'get nodes', 'get /metrics'],
    ],
    [
      'admin: namespace administrator through RoleBinding',
      { user: 'admin' },
      [...writesTo(['pods in team', 'secrets in team', ...rbacObjects]), 'get secrets in team'],
      ['get pods in default', 'get nodes'],
    ],
    [
      'admin: No quota or namespace writes',
      { user: 'admin' },
      ['get resourcequotas in team', 'get namespaces in team'],
      writesTo(['resourcequotas in team', 'namespaces in team']),
    ],
    [
      'edit: read and write most namespace objects',
      { user: 'edit' },
      writesTo(['pods in team', 'secrets in team', 'deployments.apps in team']),
      ['get nodes', 'get pods in default', ...writesTo(['resourcequotas in team'])],
    ],
    [
      'edit: No roles or bindings',
      { user: 'edit' },
      ['get secrets in team'],
      rbacObjects.flatMap((of) => [`get ${of}`, `create ${of}`, `update ${of}`]),
    ],
    [
      'view: read-only on most objects',
      { user: 'view' },
      ['get', 'list', 'watch'].flatMap((verb) => [
        `${verb} pods in team`,
        `${verb} jobs.batch in team`,
      ]),
      writesTo(['pods in team', 'deployments.apps in team']),
    ],
    [
      'view: No roles, bindings or Secrets',
      { user: 'view' },
      ['get configmaps in team'],
      [...rbacObjects.map((of) => `get ${of}`), 'get secrets in team', 'list secrets in team'],
    ],
    [
      'edit: do not include writes to Endpoints or EndpointSlices',
      { user: 'edit' },
      endpoints.map((of) => `get ${of}`),
      writesTo(endpoints),
    ],
    [
      'admin: do not include writes to Endpoints or EndpointSlices',
      { user: 'admin' },
      endpoints.map((of) => `get ${of}`),
      writesTo(endpoints),
    ],
    [
      'system:svc-scheduler: scheduler needs',
      { user: 'system:svc-scheduler' },
      ['create pods/binding in team', 'list nodes', 'watch pods', 'patch pods/status in team'],
      ['create pods in team', 'get secrets in team', 'delete nodes'],
    ],
    [
      'system:volume-scheduler: scheduler needs',
      { user: 'system:svc-scheduler' },
      ['update persistentvolumes', 'list storageclasses.storage.svc.io'],
      ['delete persistentvolumes'],
    ],
    [
      'system:svc-controller-manager: controller manager needs',
      { user: 'system:svc-controller-manager' },
      ['list secrets', 'create serviceaccounts/token in team', 'watch deployments.apps'],
      ['delete nodes', 'update deployments.apps in team'],
    ],
    [
      'system:node: legacy kubelet role',
      { user: 'system:node' },
      ['get secrets in team', 'update nodes/status', 'list pods', 'create events in team'],
      ['update secrets in team', 'delete deployments.apps in team'],
    ],
    [
      'system:node-proxier: network proxy needs',
      { user: 'system:svc-proxy' },
      ['list services', 'watch endpointslices.discovery.svc.io', 'get nodes'],
      ['update services in team', 'list pods'],
    ],
    [
      'system:auth-delegator: delegated authentication and authorization checks',
      { user: 'system:auth-delegator' },
      [
        'create tokenreviews.authentication.svc.io',
        'create subjectaccessreviews.authorization.svc.io',
      ],
      ['get tokenreviews.authentication.svc.io', 'list pods'],
    ],
    [
      'system:node-bootstrapper: kubelet TLS bootstrap',
      { user: 'system:node-bootstrapper' },
      ['create', 'get', 'list', 'watch'].map(
        (verb) => `${verb} certificatesigningrequests.certificates.svc.io`,
      ),
      ['update certificatesigningrequests.certificates.svc.io', 'get nodes'],
    ],
    [
      'system:monitoring: read health endpoints',
      { user: 'x', groups: ['system:monitoring'] },
      ['/healthz', '/healthz/a', '/livez', '/livez/a', '/readyz', '/readyz/a', '/metrics'].map(
        (path) => `get ${path}`,
      ),
      ['post /metrics', 'get /logs', 'list pods'],
    ],
    [
      'system:controller:<name>: what that controller needs',
      { user: 'system:serviceaccount:svc-system:replicaset-controller' },
      ['create pods in team', 'update replicasets.apps/status in team'],
      ['create deployments.apps in team', 'get secrets in team'],
    ],
    [
      'system:controller:<name>: the same account of another namespace has none',
      { user: 'system:serviceaccount:team:replicaset-controller' },
      [],
      ['create pods in team'],
    ],
  ])('%s', async (_row, who, yes, no) => {
    await expectAnswers(who, yes, no);
  });
});

describe('Aggregated ClusterRoles', () => {
  const aggregating = (label: string): object => ({
    clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }],
  });
  interface Ruled {
    readonly rules: readonly { readonly resources: readonly string[] }[] | null;
  }
  const resourcesOf = async (name: string): Promise<string[]> => {
    const reply = await replica.request('GET', `${rbacPath}/clusterroles/${name}`);
    return (reply.json<Ruled>().rules ?? []).flatMap(({ resources }) => resources);
  };
  const gathered = (name: string, label: string, resource: string): Promise<void> =>
    make(replica, `${rbacPath}/clusterroles`, {
      metadata: { name, labels: { [label]: 'true' } },
      rules: [{ verbs: ['get', 'update'], apiGroups: ['example.com'], resources: [resource] }],
    });

  test('a controller fills rules from ClusterRoles matching the selectors', async () => {
    await make(replica, `${rbacPath}/clusterroles`, {
      ...{ metadata: { name: 'gathers' }, aggregationRule: aggregating('example.com/gather') },
    });
    for (const what of ['apples', 'pears']) await gathered(what, 'example.com/gather', what);
    await until(async () => (await resourcesOf('gathers')).join() === 'apples,pears');
  });

  test('and overwrites manual rules', async () => {
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }];
    const path = `${rbacPath}/clusterroles/gathers`;
    const reply = await replica.request('PATCH', path, { body: { rules }, headers: mergePatch });
    expect(reply.status).toBe(200);
    await until(async () => (await resourcesOf('gathers')).join() === 'apples,pears');
  });

  test.each([
    ['admin', ['admin']],
    ['edit', ['edit', 'admin']],
    ['view', ['view', 'edit', 'admin']],
  ])(
    'user-facing roles aggregate through labels: aggregate-to-%s set to true reaches %j',
    async (label, reached) => {
      const of = `things-${label}`;
      await gathered(of, `${rbacGroup}/aggregate-to-${label}`, of);
      const text = `update ${of}.example.com in team`;
      for (const user of reached) await until(() => isAllowed(replica, { user }, text));
      for (const user of ['admin', 'edit', 'view']) {
        expect([user, await isAllowed(replica, { user }, text)]).toEqual([
          user,
          reached.includes(user),
        ]);
      }
    },
  );

  test('An administrator can add Endpoints back with an aggregated ClusterRole', async () => {
    await make(replica, `${rbacPath}/clusterroles`, {
      metadata: { name: 'endpoints', labels: { [`${rbacGroup}/aggregate-to-edit`]: 'true' } },
      rules: [{ verbs: ['update'], apiGroups: [''], resources: ['endpoints'] }],
    });
    await until(() => isAllowed(replica, { user: 'edit' }, 'update endpoints in team'));
  });
});

describe('Default objects', () => {
  test('carry label svc.io/bootstrapping with value rbac-defaults', () => {
    const defaults = [...roles, ...bindings].filter(({ metadata }) =>
      /^(system:|cluster-admin$|admin$|edit$|view$)/.test(metadata.name),
    );
    expect(defaults.length).toBeGreaterThan(100);
    for (const { metadata } of defaults) {
      expect([metadata.name, metadata.labels['svc.io/bootstrapping']]).toEqual([
        metadata.name,
        'rbac-defaults',
      ]);
      expect(metadata.annotations[`${rbacGroup}/autoupdate`]).toBe('true');
    }
  });

  test('At every start the server adds what is missing, not with autoupdate false', async () => {
    const patch = async (path: string, body: object): Promise<void> => {
      const reply = await replica.request('PATCH', path, { body, headers: mergePatch });
      expect([path, reply.status]).toEqual([path, 200]);
    };
    const off = { metadata: { annotations: { [`${rbacGroup}/autoupdate`]: 'false' } } };
    await patch(`${rbacPath}/clusterroles/system:node-proxier`, { rules: [] });
    await patch(`${rbacPath}/clusterrolebindings/system:monitoring`, { subjects: [] });
    await patch(`${rbacPath}/clusterroles/system:node-bootstrapper`, { ...off, rules: [] });
    await replica.kill();
    await replica.start();
    const monitor = { user: 'x', groups: ['system:monitoring'] };
    await until(() => isAllowed(replica, { user: 'system:svc-proxy' }, 'list services'));
    await until(() => isAllowed(replica, monitor, 'get /metrics'));
    const signing = 'create certificatesigningrequests.certificates.svc.io';
    expect(await isAllowed(replica, { user: 'system:node-bootstrapper' }, signing)).toBe(false);
  });
});
