// The kind of mixed-store.ts on a replica of its own: what is called and what a call fails with, a
// storage version that moves, and what lies in etcd.
import type { StatusError } from '../../base/status.ts';
import type { WatchCursor } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { openStored } from '../../codec/stored-form.ts';
import { parseDeleteOptions, parseListOptions } from '../options.ts';
import type { ResourceStore } from '../resource-store.ts';
import { mixedStores, movedColor } from './mixed-store.ts';
import type { MixedStores, VersionName } from './mixed-store.ts';
import { keyspace, RegistryOnEtcd } from './registry-on-etcd.ts';
import type { Replica } from './registry-on-etcd.ts';
import { params, scope, VerbDriver } from './verb-driver.ts';

const { signal } = new AbortController();

export const wall = (name: string, spec: object, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  spec,
});

export class MixedWalls {
  readonly registry: RegistryOnEtcd;
  readonly replica: Replica;
  readonly verbs: VerbDriver;
  /** `count version` of each call. */
  calls: string[] = [];
  /** All objects of these. */
  converted: Readonly<ApiObject>[] = [];
  /** What every call fails with. */
  fault: StatusError | undefined;
  #stores: MixedStores;
  #generation = 0;

  private constructor(registry: RegistryOnEtcd, replica: Replica) {
    this.registry = registry;
    this.replica = replica;
    this.verbs = new VerbDriver(replica);
    this.#stores = this.#serve('v1', undefined);
  }

  static async start(): Promise<MixedWalls> {
    const registry = await RegistryOnEtcd.start();
    return new MixedWalls(registry, await registry.replica());
  }

  store(version: VersionName): ResourceStore {
    return this.#stores.store(version);
  }

  /** In the storage version, for the server's own parts: nothing is converted. */
  get own(): ResourceStore {
    return this.#stores.own;
  }

  /** From now on new bytes are written in this version. */
  storeIn(storage: VersionName, versions?: readonly VersionName[]): void {
    this.#stores = this.#serve(storage, versions, true);
  }

  /** Nothing is stored, v1 is the storage version, and no call is made or fails. */
  async reset(): Promise<void> {
    this.fault = undefined;
    await this.clear(this.own);
    this.storeIn('v1');
    this.calls = [];
    this.converted = [];
  }

  /** `old` is stored in v1, `new` in v2, the storage version. */
  async mix(): Promise<void> {
    await this.verbs.create(this.store('v1'), wall('old', { color: 'red' }));
    this.storeIn('v2');
    await this.verbs.create(this.store('v2'), wall('new', { paint: 'blue' }));
    this.calls = [];
  }

  clear(of: ResourceStore): ReturnType<ResourceStore['deleteCollection']> {
    return of.deleteCollection({
      ...scope(),
      namespace: 'ns',
      list: parseListOptions(params('')),
      options: parseDeleteOptions(params(''), undefined, this.replica.naming),
    });
  }

  async watch(of: ResourceStore, query = ''): Promise<WatchCursor> {
    const { revision } = await this.verbs.list(this.own);
    const options = parseListOptions(params(`resourceVersion=${String(revision)}&${query}`));
    return (await of.watch({ namespace: 'ns', name: '', options, signal })).cursor;
  }

  /** The object as etcd has it. */
  async inEtcd(name: string): Promise<Record<string, unknown>> {
    const key = keyspace.key(this.#stores.records.v1.storagePrefix, 'ns', name);
    const { item } = await this.replica.storage.get(key, signal);
    const opened = openStored(item?.value ?? new Uint8Array());
    return JSON.parse(Buffer.from(opened?.payload ?? '').toString()) as Record<string, unknown>;
  }

  stop(): Promise<void> {
    return this.registry.stop();
  }

  #serve(
    storage: VersionName,
    versions: readonly VersionName[] | undefined,
    isReplacing = false,
  ): MixedStores {
    return mixedStores(this.replica, {
      storage,
      isReplacing,
      ...(versions === undefined ? {} : { versions }),
      converter: {
        generation: String(++this.#generation),
        convertAll: async (objects, toApiVersion) => {
          this.calls.push(`${String(objects.length)} ${toApiVersion}`);
          this.converted.push(...objects);
          await new Promise((resolve) => setImmediate(resolve));
          if (this.fault !== undefined) throw this.fault;
          return objects.map((object) => movedColor(object, toApiVersion));
        },
      },
    });
  }
}
