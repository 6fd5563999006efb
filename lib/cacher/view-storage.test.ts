import { afterAll, beforeAll } from '@jest/globals';
import { EtcdStorage } from '../storage-etcd/etcd-storage.ts';
import { describeStorage } from '../storage-etcd/storage.suite.ts';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import { ViewStorage } from './testing/view-storage.ts';

let cluster: EtcdCluster;
let below: EtcdStorage;
let storage: ViewStorage;
let compacted = 0;

beforeAll(async () => {
  // The suite writes transactions larger than etcd takes by default.
  cluster = await EtcdCluster.start({ flags: ['--max-request-bytes=10000000'] });
  below = new EtcdStorage(cluster.connection);
  storage = new ViewStorage(below, () => compacted);
  await storage.cache.start(AbortSignal.timeout(60_000));
});

afterAll(async () => {
  await storage.cache.stop();
  below.close();
  await cluster.stop();
});

describeStorage('storage seen through the cacher', () => ({
  storage,
  compact: async (revision) => {
    await cluster.compact(revision);
    compacted = revision;
    // The cache looks at what is compacted once a tick.
    await new Promise((resolve) => setTimeout(resolve, 50));
  },
}));
