// Who may ask what of others: reviews of access, nodes and what is related to their pods, and who
// may give rights to others.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestCluster } from '../harness.ts';
import type { Replica, Reply } from '../harness.ts';
import {
  as,
  isAllowed,
  make,
  messageOf,
  questionOf,
  rbacGroup,
  rbacPath,
  reviewsPath,
  roleRef,
  settled,
  subject,
  until,
} from './authorization-world.ts';
import type { Who } from './authorization-world.ts';

let cluster: TestCluster;
let replica: Replica;

const here = `${rbacPath}/namespaces/team`;
const core = '/api/v1/namespaces/team';
const rule = (fields: object): object => ({ verbs: ['get'], apiGroups: [''], ...fields });
const node = (name: string): Who => ({ user: `system:node:${name}`, groups: ['system:nodes'] });

const podOn = (nodeName: string, name: string): object => ({
  metadata: { name },
  spec: {
    ...{ nodeName, automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 },
    containers: [{ name: 'c', image: 'i', envFrom: [{ configMapRef: { name: `map-${name}` } }] }],
    volumes: [
      { name: 's', secret: { secretName: `secret-${name}` } },
      { name: 'c', persistentVolumeClaim: { claimName: `claim-${name}` } },
    ],
  },
});
const claimOf = (name: string): object => ({
  metadata: { name: `claim-${name}` },
  spec: {
    ...{ volumeName: `volume-${name}`, accessModes: ['ReadWriteOnce'], storageClassName: '' },
    resources: { requests: { storage: '1Gi' } },
  },
});
const volumeOf = (name: string): object => ({
  metadata: { name: `volume-${name}` },
  spec: {
    ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: '' },
    ...{ hostPath: { path: '/a' }, claimRef: { namespace: 'team', name: `claim-${name}` } },
  },
});

beforeAll(async () => {
  cluster = await TestCluster.start({
    naming: 'svc',
    serverFlags: ['--enable-admission-plugins=NodeRestriction'],
  });
  replica = cluster.replica(0);
  await make(replica, '/api/v1/namespaces', { metadata: { name: 'team' } });
  const account = { body: { metadata: { name: 'default' } } };
  await replica.request('POST', `${core}/serviceaccounts`, account);
  for (const name of ['n1', 'n2']) {
    await make(replica, '/api/v1/nodes', { metadata: { name } });
    await make(replica, '/api/v1/persistentvolumes', volumeOf(name));
    await make(replica, `${core}/persistentvolumeclaims`, claimOf(name));
    await make(replica, `${core}/pods`, podOn(name, name));
  }
  for (const name of ['core-group', 'two-rules']) {
    const resources = name === 'core-group' ? ['pods'] : ['pods', 'secrets'];
    const rules = [rule({ resources })];
    await make(replica, `${here}/roles`, { metadata: { name }, rules });
  }
  await make(replica, `${here}/rolebindings`, {
    ...{ metadata: { name: 'readers' }, roleRef: roleRef('Role core-group') },
    subjects: [subject('User alice'), subject('ServiceAccount team/robot')],
  });
  await settled(replica);
  await until(() => isAllowed(replica, node('n2'), 'get pods in team named n2'));
});
afterAll(() => cluster.stop());

describe('Access review kinds', () => {
  const post = (kind: string, spec: object, who?: Who): Promise<Reply> =>
    replica.request('POST', `${reviewsPath}/${kind}`, {
      ...{ body: { spec }, headers: who === undefined ? {} : as(who) },
    });
  interface Answered {
    readonly kind: string;
    readonly spec: object;
    readonly status: Readonly<Record<string, unknown>>;
  }

  test.each([
    ['get pods in team', true],
    ['get pods in team named p', true],
    ['list pods in team', false],
    ['get pods.apps in team', false],
  ])('SelfSubjectAccessReview: resourceAttributes %s; status allowed %j', async (text, allowed) => {
    const reply = await post('selfsubjectaccessreviews', questionOf(text), { user: 'alice' });
    const { kind, spec, status } = reply.json<Answered>();
    expect([reply.status, kind, status['allowed'], status['denied'] ?? false]).toEqual([
      201,
      'SelfSubjectAccessReview',
      allowed,
      false,
    ]);
    expect(Object.keys(spec)).toEqual(['resourceAttributes']);
  });

  test.each<[who: Who, allowed: boolean]>([
    [{ user: 'alice' }, true],
    [{ user: 'bob' }, false],
    [{ user: 'bob', groups: ['system:masters'] }, true],
    [{ user: 'system:serviceaccount:team:robot' }, true],
  ])('SubjectAccessReview (any user): %j is %j', async (who, allowed) => {
    expect(await isAllowed(replica, who, 'get pods in team')).toBe(allowed);
  });

  test('SubjectAccessReview is not for everybody', async () => {
    const spec = { user: 'alice', ...questionOf('get pods in team') };
    expect((await post('subjectaccessreviews', spec, { user: 'bob' })).status).toBe(403);
  });

  test.each([
    ['get pods in team', 201, true],
    ['list pods in team', 201, false],
    ['get pods in other', 422, undefined],
  ])('LocalSubjectAccessReview (one namespace): %s is %d', async (text, status, allowed) => {
    const path = `${reviewsPath}/namespaces/team/localsubjectaccessreviews`;
    const body = { spec: { user: 'alice', ...questionOf(text) } };
    const reply = await replica.request('POST', path, { body });
    const answered = reply.json<Partial<Answered>>().status;
    expect([reply.status, answered?.['allowed']]).toEqual([status, allowed]);
  });

  test('SelfSubjectRulesReview (set of actions a user may do in a namespace)', async () => {
    const spec = { namespace: 'team' };
    const reply = await post('selfsubjectrulesreviews', spec, { user: 'alice' });
    const { status } = reply.json<Answered>();
    expect(status['resourceRules']).toContainEqual(rule({ resources: ['pods'] }));
    expect(status['nonResourceRules']).toContainEqual({
      ...{ verbs: ['get'], nonResourceURLs: expect.arrayContaining(['/api', '/openapi/*']) },
    });
    const other = await post('selfsubjectrulesreviews', { namespace: 'x' }, { user: 'alice' });
    expect(other.json<Answered>().status['resourceRules']).not.toContainEqual(
      rule({ resources: ['pods'] }),
    );
  });
});

describe('Access checks: can-i combined with impersonation', () => {
  test.each<[who: Who, allowed: boolean]>([
    [{ user: 'alice' }, true],
    [{ user: 'bob' }, false],
    [{ user: 'system:serviceaccount:team:robot' }, true],
    [{ user: 'system:serviceaccount:other:robot' }, false],
  ])('--as %j: %j', async (who, allowed) => {
    const reply = await replica.request('POST', `${reviewsPath}/selfsubjectaccessreviews`, {
      ...{ headers: as(who), body: { spec: questionOf('get pods in team') } },
    });
    expect(reply.json<{ status: { allowed: boolean } }>().status.allowed).toBe(allowed);
  });
});

describe('Node authorization (mode Node | For kubelet requests)', () => {
  test.each<[row: string, yes: string[], no: string[]]>([
    ['Allowed reads: services', ['get services in team', 'list services', 'watch services'], []],
    ['Allowed reads: endpoints', ['get endpoints in team named e'], ['list endpoints']],
    [
      'Allowed reads: nodes (only its own node object)',
      ['get nodes named n1', 'list nodes named n1'],
      ['get nodes named n2', 'list nodes'],
    ],
    [
      'Allowed reads: pods (only bound pods)',
      ['get pods in team named n1'],
      ['get pods in team named n2', 'list pods'],
    ],
    [
      'Allowed reads: Secrets related to pods bound to the node',
      ['get secrets in team named secret-n1', 'watch secrets in team named secret-n1'],
      ['get secrets in team named secret-n2', 'list secrets in team', 'list secrets'],
    ],
    [
      'Allowed reads: ConfigMaps related to pods bound to the node',
      ['get configmaps in team named map-n1', 'list configmaps in team named map-n1'],
      ['get configmaps in team named map-n2', 'list configmaps in team'],
    ],
    [
      'Allowed reads: PersistentVolumeClaims related to pods bound to the node',
      ['get persistentvolumeclaims in team named claim-n1'],
      ['get persistentvolumeclaims in team named claim-n2', 'list persistentvolumeclaims in team'],
    ],
    [
      'Allowed reads: PersistentVolumes related to pods bound to the node',
      ['get persistentvolumes named volume-n1'],
      ['get persistentvolumes named volume-n2', 'list persistentvolumes'],
    ],
    [
      'Allowed writes: nodes and node status',
      ['create nodes', 'patch nodes named n1', 'update nodes/status named n1'],
      ['delete nodes named n1'],
    ],
    [
      'Allowed writes: pods and pod status',
      ['create pods in team', 'delete pods in team named n1', 'patch pods/status in team named n1'],
      ['update pods in team named n1', 'create pods/exec in team named n1'],
    ],
    [
      'Allowed writes: events',
      ['create events in team', 'patch events.events.svc.io in team'],
      ['delete events in team'],
    ],
    [
      'No other writes',
      [],
      [
        'update secrets in team named secret-n1',
        'create configmaps in team',
        'create deployments.apps',
      ],
    ],
  ])('%s', async (_row, yes, no) => {
    const answers: Record<string, boolean> = {};
    for (const text of [...yes, ...no]) answers[text] = await isAllowed(replica, node('n1'), text);
    const expected = Object.fromEntries([...yes, ...no].map((text) => [text, yes.includes(text)]));
    expect(answers).toEqual(expected);
  });

  test.each<[row: string, who: Who]>([
    ['outside system:nodes', { user: 'system:node:n1', groups: ['others'] }],
    ['without a system:node: username', { user: 'n1', groups: ['system:nodes'] }],
  ])('Requests from kubelets %s are not authorized by this mode', async (_row, who) => {
    for (const text of ['list services', 'create nodes', 'get secrets in team named secret-n1']) {
      expect([text, await isAllowed(replica, who, text)]).toEqual([text, false]);
    }
  });

  const mergePatch = { 'content-type': 'application/merge-patch+json' };
  const patch = (who: Who, path: string, body: object): Promise<Reply> =>
    replica.request('PATCH', path, { headers: { ...as(who), ...mergePatch }, body });
  const ready = { status: { phase: 'Running' } };

  test.each<[what: string, path: string, body: object, status: number]>([
    ['its own node', '/api/v1/nodes/n1/status', ready, 200],
    ['another node', '/api/v1/nodes/n2/status', ready, 403],
    ['a bound pod', `${core}/pods/n1/status`, ready, 200],
    ['a pod of another node', `${core}/pods/n2/status`, ready, 403],
    [
      'owners of its own node (CVE-2025-5187)',
      '/api/v1/nodes/n1',
      {
        metadata: {
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n2', uid: 'u' }],
        },
      },
      403,
    ],
  ])(
    'The NodeRestriction admission plugin limits writes to the own node and bound pods: %s',
    async (_what, path, body, status) => {
      expect((await patch(node('n1'), path, body)).status).toBe(status);
    },
  );

  test('Kubelets without a system:node: username are ignored by the plugin', async () => {
    const rules = [rule({ resources: ['nodes/status'], verbs: ['patch'] })];
    await make(replica, `${rbacPath}/clusterroles`, { metadata: { name: 'kubelet' }, rules });
    await make(replica, `${rbacPath}/clusterrolebindings`, {
      ...{ metadata: { name: 'kubelet' }, roleRef: roleRef('ClusterRole kubelet') },
      subjects: [subject('User kubelet')],
    });
    await settled(replica);
    const who = { user: 'kubelet', groups: ['system:nodes'] };
    expect((await patch(who, '/api/v1/nodes/n2/status', ready)).status).toBe(200);
  });
});

describe('Escalation prevention', () => {
  /** A user who writes roles and bindings in team, and holds what the rules say. */
  const writer = async (user: string, ...rules: object[]): Promise<void> => {
    const write = {
      ...{ apiGroups: [rbacGroup], resources: ['roles', 'rolebindings'] },
      verbs: ['create', 'update', 'patch', 'get'],
    };
    await make(replica, `${here}/roles`, { metadata: { name: user }, rules: [write, ...rules] });
    await make(replica, `${here}/rolebindings`, {
      ...{ metadata: { name: user }, roleRef: roleRef(`Role ${user}`) },
      subjects: [subject(`User ${user}`)],
    });
    await settled(replica);
  };
  const readPods = rule({ resources: ['pods'] });
  const ofRbac = (verb: string, resource: string, ...resourceNames: string[]): object => ({
    ...{ apiGroups: [rbacGroup], resources: [resource], verbs: [verb] },
    ...(resourceNames.length === 0 ? {} : { resourceNames }),
  });
  let count = 0;
  const tries = (user: string, plural: string, body: object): Promise<Reply> =>
    replica.request('POST', `${here}/${plural}`, {
      headers: as({ user }),
      body: { metadata: { name: `made-${String(++count)}` }, ...body },
    });
  const bound = (to: string): object => ({
    ...{ roleRef: roleRef(to), subjects: [subject('User friend')] },
  });

  const bodies: Readonly<Record<string, object>> = {
    'roles of what is held': { rules: [readPods] },
    'roles of more': { rules: [rule({ resources: ['pods', 'secrets'] })] },
    'rolebindings to what is held': bound('Role core-group'),
    'rolebindings to more': bound('Role two-rules'),
    'rolebindings to cluster-admin': bound('ClusterRole cluster-admin'),
  };
  const bindAny = ofRbac('bind', 'roles');
  const bindTwo = ofRbac('bind', 'roles', 'two-rules');
  const bindOther = ofRbac('bind', 'roles', 'x');
  const bindAdmin = ofRbac('bind', 'clusterroles', 'cluster-admin');
  const escalate = ofRbac('escalate', 'roles');
  const [role, binding] = ['creating a role needs', 'creating a binding needs'];
  test.each<[row: string, what: string, status: number, rules: readonly object[]]>([
    [`${role} every permission in it`, 'roles of what is held', 201, [readPods]],
    [`${role} every permission in it`, 'roles of more', 403, [readPods]],
    [`${role} every permission in it`, 'roles of what is held', 403, []],
    [`${role} or the escalate verb on roles`, 'roles of more', 201, [escalate]],
    [`${role} not the bind verb`, 'roles of more', 403, [bindAny]],
    [`${binding} all permissions of the role`, 'rolebindings to what is held', 201, [readPods]],
    [`${binding} all permissions of the role`, 'rolebindings to more', 403, [readPods]],
    [`${binding} or the bind verb on that role`, 'rolebindings to more', 201, [bindTwo]],
    [`${binding} the bind verb on that very role`, 'rolebindings to more', 403, [bindOther]],
    [`${binding} or bind on that ClusterRole`, 'rolebindings to cluster-admin', 201, [bindAdmin]],
    [`${binding} not the escalate verb`, 'rolebindings to more', 403, [escalate]],
  ])('%s: %s is %d', async (_row, what, status, rules) => {
    const user = `writer-${String(++count)}`;
    await writer(user, ...rules);
    const reply = await tries(user, what.split(' ')[0] ?? '', bodies[what] ?? {});
    expect([reply.status, reply.text.includes('not currently held')]).toEqual([
      status,
      status === 403,
    ]);
  });

  test('updating needs every permission in it, too', async () => {
    await writer('updater', readPods);
    const body = { rules: [rule({ resources: ['secrets'] })] };
    const headers = { ...as({ user: 'updater' }), 'content-type': 'application/merge-patch+json' };
    const path = `${here}/roles/core-group`;
    const reply = await replica.request('PATCH', path, { headers, body });
    expect([reply.status, messageOf(reply)]).toEqual([
      403,
      expect.stringContaining('{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'),
    ]);
  });
});
