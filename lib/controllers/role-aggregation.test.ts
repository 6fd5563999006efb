import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { failure, scope, VerbDriver } from '../registry/testing/verb-driver.ts';
import { controllerUser } from './controller-user.ts';
import { RoleAggregationController } from './role-aggregation.ts';
import { during } from './testing/run-controller.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let clusterRoles: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  clusterRoles = replica.store('rbac.authorization.svc.io/clusterroles');
});
afterAll(() => registry.stop());

const aggregating = <T>(work: () => Promise<T>): Promise<T> =>
  during(
    new RoleAggregationController({
      clusterRoles,
      client: internalClient(controllerUser(replica.naming, 'clusterrole-aggregation-controller')),
      clock: systemClock,
      log: createLogger('error'),
    }),
    work,
  );

const rule = (resource: string, ...verbsOf: string[]): object => ({
  verbs: verbsOf.length === 0 ? ['get'] : verbsOf,
  apiGroups: [''],
  resources: [resource],
});
const role = (name: string, labels: object, ...rules: object[]): Promise<unknown> =>
  verbs.create(clusterRoles, { metadata: { name, labels }, rules });
const gathering = (name: string, ...clusterRoleSelectors: object[]): Promise<unknown> =>
  verbs.create(clusterRoles, { metadata: { name }, aggregationRule: { clusterRoleSelectors } });
const rulesOf = async (name: string): Promise<unknown> =>
  (await verbs.get(clusterRoles, name))['rules'] ?? [];

/** Waits for rules, and then for nothing more to be written. */
async function becomes(name: string, rules: unknown): Promise<void> {
  const { signal } = scope();
  while (JSON.stringify(await rulesOf(name)) !== JSON.stringify(rules)) await sleep(10, signal);
}

test('rules come in the order of names, selector by selector, each once', async () => {
  await role('b', { to: 'x' }, rule('pods'), rule('nodes'));
  await role('a', { to: 'x', and: 'y' }, rule('secrets'), rule('pods'));
  await role('c', { and: 'y' }, rule('events', 'list'), rule('secrets'));
  await role('other', {}, rule('jobs'));
  await gathering('all', { matchLabels: { to: 'x' } }, { matchLabels: { and: 'y' } });
  const expected = [rule('secrets'), rule('pods'), rule('nodes'), rule('events', 'list')];
  await aggregating(() => becomes('all', expected));
  const { managedFields } = (await verbs.get(clusterRoles, 'all')).metadata;
  expect(managedFields).toContainEqual(
    expect.objectContaining({
      manager: 'clusterrole-aggregation-controller',
      operation: 'Apply',
      fieldsV1: { 'f:rules': {} },
    }),
  );
});

test('what changes, comes and goes is followed; rules by hand do not stay', async () => {
  await gathering('live', { matchExpressions: [{ key: 'live', operator: 'Exists' }] });
  await aggregating(async () => {
    await role('live-1', { live: '' }, rule('pods'));
    await becomes('live', [rule('pods')]);
    await verbs.patch(clusterRoles, 'live', { rules: [rule('secrets', '*')] });
    await becomes('live', [rule('pods')]);
    await verbs.patch(clusterRoles, 'live-1', { rules: [rule('nodes')] });
    await becomes('live', [rule('nodes')]);
    await verbs.patch(clusterRoles, 'other', { metadata: { labels: { live: 'too' } } });
    await becomes('live', [rule('nodes'), rule('jobs')]);
    await verbs.patch(clusterRoles, 'other', { metadata: { labels: { live: null } } });
    await becomes('live', [rule('nodes')]);
    await verbs.remove(clusterRoles, 'live-1');
    await becomes('live', []);
    await verbs.patch(clusterRoles, 'live', { rules: [rule('secrets', '*')] });
    await becomes('live', []);
  });
});

test('roles that gather are gathered, and nobody gathers from itself', async () => {
  await verbs.create(clusterRoles, {
    metadata: { name: 'inner', labels: { to: 'outer', inner: '' } },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { inner: '' } }] },
  });
  await gathering('outer', { matchLabels: { to: 'outer' } });
  await role('leaf', { inner: '' }, rule('pods'));
  await aggregating(() => becomes('outer', [rule('pods')]));
});

test('where nothing changed nothing is written; a role that is gone stays gone', async () => {
  const before = new Map<string, string>();
  const { items } = await verbs.list(clusterRoles);
  for (const { name, revision } of items) before.set(name, String(revision));
  await aggregating(async () => {
    await role('last', { to: 'outer' }, rule('configmaps'));
    await becomes('outer', [rule('pods'), rule('configmaps')]);
    await verbs.remove(clusterRoles, 'live');
    await role('more', { live: '' }, rule('pods'));
    await verbs.patch(clusterRoles, 'last', { rules: [rule('events')] });
    await becomes('outer', [rule('pods'), rule('events')]);
  });
  expect((await failure(verbs.get(clusterRoles, 'live'))).code).toBe(404);
  for (const name of ['all', 'inner']) {
    expect((await verbs.get(clusterRoles, name)).metadata.resourceVersion).toBe(before.get(name));
  }
});
