// Starts of replicas over one etcd: what is stored afterwards, and how often it was written.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '../../base/log.ts';
import { admissionChain } from '../../admission/chain.ts';
import { forbidden } from '../../base/status.ts';
import { RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import type { Replica, ReplicaOptions } from '../../registry/testing/registry-on-etcd.ts';
import { scope, VerbDriver } from '../../registry/testing/verb-driver.ts';
import { bootstrapNamespaces } from '../system-namespaces.ts';
import { defaultObjects, RoleBootstrap } from './bootstrap-roles.ts';

let registry: RegistryOnEtcd;
const group = 'rbac.authorization.svc.io';
const isOn = (): boolean => false;
const kinds = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const replicas = await Promise.all([startReplica(), startReplica(), startReplica()]);
  const first = replicas[0];
  await bootstrapNamespaces(first.store('namespaces'), first.naming, scope().signal);
  await Promise.all(replicas.map((replica) => bootstrap(replica)));
});
afterAll(() => registry.stop());

const startReplica = (options: ReplicaOptions = {}): Promise<Replica> => registry.replica(options);

/** One start. @throws when something is left to do. */
async function bootstrap(replica: Replica): Promise<void> {
  const roles = bootstrapOf(replica);
  expect(roles.failure).toBe('not finished');
  await roles.begin(scope().signal);
  expect(roles.failure).toBeUndefined();
}

const bootstrapOf = ({ stores, naming }: Replica): RoleBootstrap =>
  new RoleBootstrap({
    store: (resource) => stores.find({ group, version: 'v1', resource }),
    isOn,
    naming,
    log: createLogger('error', () => undefined),
  });

async function revisions(replica: Replica): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const kind of kinds) {
    const { view } = replica.store(`${group}/${kind}`);
    const { items } = await view.list({}, { mode: 'latest' }, { limitCount: 0 }, scope().signal);
    for (const { namespace, name, revision } of items) {
      found.set(`${kind} ${namespace}/${name}`, revision);
    }
  }
  return found;
}

test('three that start together make each object once, a later start nothing', async () => {
  const replica = await startReplica();
  const before = await revisions(replica);
  expect(before.size).toBe(defaultObjects(replica.naming, isOn).length);
  expect(new Set(before.values()).size).toBe(before.size);
  await bootstrap(replica);
  expect(await revisions(replica)).toEqual(before);
});

test('three restore together what was changed and deleted', async () => {
  const replica = await startReplica();
  const driver = new VerbDriver(replica);
  const [roles, bindings] = [`${group}/clusterroles`, `${group}/clusterrolebindings`].map((name) =>
    replica.store(name),
  );
  if (roles === undefined || bindings === undefined) throw new Error('they are served');
  const wide = { verbs: ['get'], apiGroups: ['example.com'], resources: ['extras'] };
  await driver.patch(roles, 'system:basic-user', { rules: [wide] });
  await driver.remove(roles, 'system:monitoring');
  await driver.patch(roles, 'view', { aggregationRule: { clusterRoleSelectors: [{}] } });
  const autoupdate = { 'rbac.authorization.svc.io/autoupdate': 'false' };
  await driver.patch(roles, 'system:discovery', {
    metadata: { annotations: autoupdate },
    rules: null,
  });
  const binding = await driver.get(bindings, 'system:monitoring');
  await driver.remove(bindings, 'system:monitoring');
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'view' };
  const { name } = binding.metadata;
  const labels = { mine: 'x' };
  await driver.create(bindings, { ...binding, roleRef, metadata: { name, labels } });
  const others = await Promise.all([startReplica(), startReplica(), startReplica()]);
  await Promise.all(others.map((one) => bootstrap(one)));

  expect((await driver.get(roles, 'system:basic-user'))['rules']).toEqual([
    wide,
    expect.objectContaining({ resources: ['selfsubjectaccessreviews'] }),
    expect.objectContaining({ resources: ['selfsubjectrulesreviews'] }),
    expect.objectContaining({ resources: ['selfsubjectreviews'] }),
  ]);
  expect(await driver.get(roles, 'system:monitoring')).toMatchObject({
    rules: [{ verbs: ['get'] }, { resources: ['nodes/metrics'] }],
  });
  expect(await driver.get(roles, 'view')).toMatchObject({
    aggregationRule: { clusterRoleSelectors: [{}, { matchLabels: {} }] },
  });
  expect((await driver.get(roles, 'system:discovery'))['rules']).toBeNull();
  const restored = await driver.get(bindings, 'system:monitoring');
  expect(restored).toMatchObject({ roleRef: { name: 'system:monitoring' } });
  expect(restored.metadata.uid).not.toBe(binding.metadata.uid);
  expect(restored.metadata['labels']).toEqual({ 'svc.io/bootstrapping': 'rbac-defaults' });
});

test('what cannot be written is tried again until it can, and said until then', async () => {
  const replica = await startReplica();
  const clusterRoles = replica.store(`${group}/clusterroles`);
  await new VerbDriver(replica).remove(clusterRoles, 'system:heapster');
  let isRefusing = true;
  const refusing = await startReplica({
    admission: {
      ...admissionChain([]),
      validate: ({ name, resource }) =>
        isRefusing && name === 'system:heapster'
          ? Promise.reject(forbidden(resource, name, 'not yet'))
          : Promise.resolve(),
    },
  });
  const ending = new AbortController();
  const givenUp = bootstrapOf(refusing);
  const rest = await givenUp.begin(ending.signal);
  ending.abort(new Error('the server stops'));
  await rest.ended;
  expect(givenUp.failure).toMatch(/^ClusterRole system:heapster: .*not yet$/);
  const roles = bootstrapOf(refusing);
  const { ended } = await roles.begin(scope().signal);
  expect(roles.failure).toMatch(/^ClusterRole system:heapster: .*not yet$/);
  isRefusing = false;
  await ended;
  expect(roles.failure).toBeUndefined();
  const key = { namespace: '', name: 'system:heapster' };
  const made = await clusterRoles.view.get(key, { mode: 'latest' }, scope().signal);
  expect(made).toBeDefined();
});
