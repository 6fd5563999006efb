import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseDeleteOptions, parseListOptions } from './options.ts';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { configMap, fresh, objectOf, params, scope, VerbDriver } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
});

afterAll(async () => {
  await registry.stop();
});

const template = {
  metadata: { labels: { a: 'b' } },
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
};

async function deleted(
  store: ResourceStore,
  name: string,
  query = '',
): Promise<{ finalizers: unknown; warnings: readonly string[] }> {
  const asked = scope();
  const answer = await store.delete({
    ...asked,
    path: { namespace: 'ns', name, subresource: '' },
    options: parseDeleteOptions(params(query), undefined, replica.naming),
  });
  const { metadata } = answer.kind === 'object' ? answer.item.object() : {};
  return { finalizers: metadata?.finalizers ?? 'gone', warnings: asked.warnings };
}

test('pods of a job are orphaned unless a policy says otherwise', async () => {
  const jobs = replica.store('batch/jobs');
  const jobNamed = async (name: string): Promise<string> => {
    await verbs.create(jobs, { metadata: { name }, spec: { template } });
    return name;
  };
  expect(await deleted(jobs, await jobNamed(fresh()))).toEqual({
    finalizers: ['orphan'],
    warnings: [expect.stringMatching(/^child pods are preserved by default/)],
  });
  const chosen = await deleted(jobs, await jobNamed(fresh()), 'propagationPolicy=Background');
  expect(chosen).toEqual({ finalizers: 'gone', warnings: [] });
  const asked = scope();
  await jobs.deleteCollection({
    ...asked,
    namespace: 'nobody',
    list: parseListOptions(params('')),
    options: parseDeleteOptions(params(''), undefined, replica.naming),
  });
  expect(asked.warnings).toHaveLength(1);
});

test('pods of a replication controller are orphaned without a word', async () => {
  const controllers = replica.store('replicationcontrollers');
  const name = fresh();
  const pod = { ...template, spec: { ...template.spec, restartPolicy: 'Always' } };
  await verbs.create(controllers, {
    metadata: { name, finalizers: ['foregroundDeletion'] },
    spec: { selector: { a: 'b' }, template: pod },
  });
  const kept = { finalizers: ['foregroundDeletion'], warnings: [] };
  expect(await deleted(controllers, name)).toEqual(kept);
  const orphaned = { finalizers: ['orphan'], warnings: [] };
  expect(await deleted(controllers, name, 'orphanDependents=true')).toEqual(orphaned);
  expect(await deleted(controllers, name)).toEqual(orphaned);
});

test('an event has no dependents: no policy leaves a finalizer', async () => {
  const events = replica.store('events');
  const name = fresh();
  await verbs.create(events, { metadata: { name }, involvedObject: { namespace: 'ns' } });
  expect((await deleted(events, name, 'propagationPolicy=Orphan')).finalizers).toBe('gone');
});

test('kinds that clients wait for answer the object that is gone', async () => {
  const accounts = replica.store('serviceaccounts');
  const name = fresh();
  const made = await verbs.create(accounts, configMap(name));
  expect(await objectOf(verbs.remove(accounts, name))).toEqual(made);
  const answering = replica.stores.all.filter(({ answersDeletedObject }) => answersDeletedObject);
  const names = new Set(answering.map(({ resource }) => resource.resource));
  expect([...names].sort()).toEqual([
    'csidrivers',
    'csinodes',
    'deviceclasses',
    'persistentvolumeclaims',
    'persistentvolumes',
    'pods',
    'podtemplates',
    'resourceclaims',
    'resourceclaimtemplates',
    'resourcequotas',
    'resourceslices',
    'serviceaccounts',
    'services',
    'storageclasses',
    'volumeattachments',
    'volumeattributesclasses',
  ]);
});

test('the unsafe option says nothing as long as its gate is off', async () => {
  const configMaps = replica.store('configmaps');
  const name = fresh();
  await verbs.create(configMaps, configMap(name));
  const body = { dryRun: ['All'], ignoreStoreReadErrorWithClusterBreakingPotential: true };
  expect((await verbs.remove(configMaps, name, { body })).kind).toBe('status');
});
