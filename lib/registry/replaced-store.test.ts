// Writes and continued lists that begin on one history of the store and end on another: etcd was
// restored from a backup and has come to the same revisions again, with other objects.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../storage-etcd/testing/events.ts';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { configMap, failure, namesOf, VerbDriver } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let configMaps: ResourceStore;

beforeEach(async () => {
  registry = await RegistryOnEtcd.start();
  // A restore takes as long as the machine is busy.
  replica = await registry.replica({ writeTimeoutMs: 120_000 });
  verbs = new VerbDriver(replica);
  configMaps = replica.store('configmaps');
});
afterEach(() => registry.stop());

const create = (name: string, metadata = {}): Promise<unknown> =>
  verbs.create(configMaps, configMap(name, { data: { base: '1' } }, metadata));

interface Replaced {
  /** Merge patches of the object `a`: seen by this replica, and made by another one instead. */
  readonly lost: object;
  readonly instead: object;
  /** While the lost change is the newest. */
  readonly before?: () => Promise<void>;
  /** Once etcd is gone: what is begun here meets the restored one. */
  readonly meanwhile?: () => void;
}

async function replace({ lost, instead, before, meanwhile }: Replaced): Promise<void> {
  const { etcd } = registry;
  const backup = await etcd.saveSnapshot('backup.db');
  const { metadata } = await verbs.patch(configMaps, 'a', lost);
  await verbs.get(configMaps, 'a', metadata.resourceVersion);
  await before?.();
  const { epoch } = replica.storage;
  await etcd.kill(0);
  // A write on the old connection would end with it.
  await eventually(() => {
    expect(replica.storage.epoch).not.toBe(epoch);
  });
  meanwhile?.();
  await etcd.restoreSnapshot(backup, async (endpoint) => {
    const other = await registry.replica({ endpoint });
    const made = await new VerbDriver(other).patch(other.store('configmaps'), 'a', instead);
    expect(made.metadata.resourceVersion).toBe(metadata.resourceVersion);
    await other.stop();
  });
}

const lost = { data: { lost: '1' } };
const instead = { data: { kept: '1' } };

test('a patch changes what is there, not what was', async () => {
  await create('a');
  let patching: Promise<unknown> | undefined;
  const meanwhile = (): void => {
    patching = verbs.patch(configMaps, 'a', { data: { mine: '1' } });
  };
  await replace({ lost, instead, meanwhile });
  const data = { base: '1', kept: '1', mine: '1' };
  expect(await patching).toMatchObject({ data });
  expect(await verbs.get(configMaps, 'a')).toMatchObject({ data });
});

test('a deletion heeds the finalizers that are there', async () => {
  await create('a', { finalizers: ['example.com/hold'] });
  let deleting: Promise<unknown> | undefined;
  const meanwhile = (): void => {
    deleting = verbs.remove(configMaps, 'a');
  };
  await replace({ lost: { metadata: { finalizers: null } }, instead, meanwhile });
  expect(await deleting).toMatchObject({ kind: 'object' });
  const { metadata } = await verbs.get(configMaps, 'a');
  expect(metadata).toHaveProperty('deletionTimestamp');
});

test('a list that began before is 410, with a token for the rest as it is now', async () => {
  for (const name of ['a', 'b', 'c']) await create(name);
  let token = '';
  const before = async (): Promise<void> => {
    token = (await verbs.list(configMaps, 'limit=1')).continueToken;
  };
  await replace({ lost, instead, before });
  await eventually(() => {
    expect(replica.cache.health()).toMatchObject({ state: 'following', loadCount: 2 });
  });
  const error = await failure(verbs.list(configMaps, `continue=${token}`));
  expect(error).toMatchObject({ code: 410, reason: 'Expired' });
  const rest = await verbs.list(configMaps, `continue=${String(error.continueToken)}`);
  expect(namesOf(rest)).toEqual(['b', 'c']);
  // A list that begins now goes on, although its version is one that the old history had.
  const { continueToken } = await verbs.list(configMaps, 'limit=1');
  expect(namesOf(await verbs.list(configMaps, `continue=${continueToken}`))).toEqual(['b', 'c']);
});
