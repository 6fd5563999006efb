// An etcd that is restored from a backup while the fixture of a test uses it, and what such tests
// ask of a view.
import type { Revision } from '../../storage-etcd/storage.ts';
import { EtcdCluster } from '../../storage-etcd/testing/etcd-process.ts';
import type { Item, ListResult, ReadAt, ResourceView } from '../resource-view.ts';
import { CacheFixture } from './cache-fixture.ts';

export const latest: ReadAt = { mode: 'latest' };

export class RestorableStore {
  readonly cluster: EtcdCluster;
  readonly fixture: CacheFixture;
  #backup = '';

  private constructor(cluster: EtcdCluster) {
    this.cluster = cluster;
    this.fixture = new CacheFixture(cluster);
  }

  static async start(): Promise<RestorableStore> {
    return new RestorableStore(await EtcdCluster.start());
  }

  async save(): Promise<void> {
    this.#backup = await this.cluster.saveSnapshot('backup.db');
  }

  /** Restores what was saved. The fixture sees it once `instead` has written to it. */
  async restore(instead: (other: CacheFixture) => Promise<unknown>): Promise<void> {
    await this.cluster.restoreSnapshot(this.#backup, async (endpoint) => {
      const { prefix } = this.fixture;
      const other = new CacheFixture({ connection: { endpoints: [endpoint] } }, prefix);
      await instead(other);
      await other.close();
    });
  }

  async close(): Promise<void> {
    await this.fixture.close();
    await this.cluster.stop();
  }
}

/** Writes elsewhere until the store has this revision. */
export async function growTo(fixture: CacheFixture, revision: Revision): Promise<void> {
  while ((await fixture.putElsewhere()) < revision);
}

export function listAt(view: ResourceView, at: ReadAt, limitCount = 0): Promise<ListResult> {
  return view.list({}, at, { limitCount }, AbortSignal.timeout(30_000));
}

/** `spec.size` of a widget. */
export const sizeOf = (item: Item | undefined): unknown =>
  (item?.object() as { spec?: { size?: number } } | undefined)?.spec?.size;
