import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { namingProfile } from '../api/vendor.ts';
import { StatusError } from '../base/status.ts';
import { EtcdStorage } from '../storage-etcd/etcd-storage.ts';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import { parseListOptions } from './options.ts';
import type { ResourceStore } from './resource-store.ts';
import { scope } from './testing/verb-driver.ts';
import { componentStatusStores } from './component-statuses.ts';

let etcd: EtcdCluster;
let storage: EtcdStorage;
let store: ResourceStore;

beforeAll(async () => {
  etcd = await EtcdCluster.start();
  // The second member is not there: nothing listens on the discard port.
  const endpoints = [...etcd.endpoints, 'http://127.0.0.1:9'];
  storage = new EtcdStorage({ ...etcd.connection, endpoints });
  const scheme = builtInScheme({ profile: namingProfile('svc') });
  const [found] = componentStatusStores(scheme, async (signal) => {
    const problems = await storage.connection.probeMembers(signal);
    return problems.map((problem, index) => ({ name: `etcd-${String(index)}`, problem }));
  });
  if (found === undefined) throw new Error('componentstatuses are not served');
  store = found;
});

afterAll(async () => {
  storage.close();
  await etcd.stop();
});

const { signal } = scope();
const list = async (query: string): Promise<string[]> => {
  const options = parseListOptions(new URLSearchParams(query));
  const { items } = await store.list({ namespace: '', name: '', options, signal });
  return items.map((item) => item.name);
};
const path = (name: string): { namespace: string; name: string; subresource: string } => ({
  namespace: '',
  name,
  subresource: '',
});
const get = async (name: string): Promise<unknown> =>
  (await store.get({ path: path(name), options: { resourceVersion: '' }, signal })).object();

describe('componentstatuses', () => {
  test('tell of each member whether it answers', async () => {
    expect(await get('etcd-0')).toMatchObject({
      kind: 'ComponentStatus',
      conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
    });
    expect(await get('etcd-1')).toMatchObject({
      conditions: [{ type: 'Healthy', status: 'False', error: 'no connection' }],
    });
  });

  test.each([
    ['', ['etcd-0', 'etcd-1']],
    ['fieldSelector=metadata.name%3Detcd-1', ['etcd-1']],
    ['fieldSelector=metadata.name!%3Detcd-1', ['etcd-0']],
    ['labelSelector=a%3Db', []],
    ['labelSelector=!a&limit=1', ['etcd-0', 'etcd-1']],
  ])('are listed by selector: %s', async (query, names) => {
    expect(await list(query)).toEqual(names);
  });

  test('have no other names, and no other verbs', async () => {
    await expect(get('scheduler')).rejects.toThrow('componentstatuses "scheduler" not found');
    const options = parseListOptions(new URLSearchParams());
    const watching = store.watch({ namespace: '', name: '', options, signal });
    await expect(watching).rejects.toThrow(StatusError);
  });
});
