// Which replicas live, as all of them see it: each keeps a key with a short time to live, so that
// the key of one that was killed goes by itself. The keys lie below the etcd prefix, beside the
// resources; no API path reads them.
import { limits } from '../base/limits.ts';
import type { Keyspace } from './keys.ts';
import type { Revision, Storage, StorageEvent, StoredItem } from './storage.ts';

/** Where clients reach a replica. */
export interface ReplicaAddress {
  readonly ip: string;
  readonly port: number;
}

export interface LivingList {
  /** In the order of their keys. */
  readonly replicas: readonly ReplicaAddress[];
  readonly revision: Revision;
}

/** As in Kubernetes, so that whoever looks into etcd finds it. */
const storagePrefix = 'masterleases';

export class LivingReplicas {
  readonly #storage: Storage;
  readonly #keyspace: Keyspace;
  /** What this replica wrote last. */
  #ownRevision: Revision = 0;

  constructor(storage: Storage, keyspace: Keyspace) {
    this.#storage = storage;
    this.#keyspace = keyspace;
  }

  /**
   * Says that the replica lives: the key stays for `limits.replicaLeaseSeconds` from now, and at
   * most a second longer. @throws StatusError when etcd does not take it.
   */
  async refresh(own: ReplicaAddress, signal: AbortSignal): Promise<void> {
    const value = Buffer.from(JSON.stringify(own));
    const ttlSeconds = limits.replicaLeaseSeconds;
    for (;;) {
      const options = { expected: this.#ownRevision, ttlSeconds };
      const result = await this.#storage.put(this.#keyOf(own), value, options, signal);
      if (result.ok) {
        this.#ownRevision = result.revision;
        return;
      }
      // It ended meanwhile, an answer got lost, or a process before this one had the same address.
      this.#ownRevision = result.current?.modRevision ?? 0;
    }
  }

  /** Takes the key away; a refresh that was cut short and arrives later writes nothing. */
  async remove(own: ReplicaAddress, signal: AbortSignal): Promise<void> {
    const key = this.#keyOf(own);
    let { item: current } = await this.#storage.get(key, signal);
    while (current !== undefined) {
      const expected = current.modRevision;
      const result = await this.#storage.delete(key, { expected }, signal);
      if (result.ok) return;
      current = result.current;
    }
  }

  async list(signal: AbortSignal): Promise<LivingList> {
    const replicas: ReplicaAddress[] = [];
    let afterKey: string | undefined;
    for (;;) {
      const after = afterKey === undefined ? {} : { afterKey };
      const range = { prefix: this.#prefix, limitCount: 0, ...after };
      const page = await this.#storage.list(range, signal);
      for (const item of page.items) {
        const replica = addressIn(item);
        if (replica !== undefined) replicas.push(replica);
      }
      afterKey = page.items.at(-1)?.key;
      if (page.remainingCount === 0) return { replicas, revision: page.revision };
    }
  }

  /** Yields whenever a replica came or went after this revision; refreshed keys are no change. */
  async *changes(after: Revision, signal: AbortSignal): AsyncGenerator<undefined, void, undefined> {
    for await (const { events } of this.#storage.watch(this.#prefix, after, signal)) {
      if (events.some(isChange)) yield undefined;
    }
  }

  get #prefix(): string {
    return this.#keyspace.resourcePrefix(storagePrefix);
  }

  /** Several replicas on one host differ by their ports. */
  #keyOf({ ip, port }: ReplicaAddress): string {
    const host = ip.includes(':') ? `[${ip}]` : ip;
    return this.#keyspace.key(storagePrefix, '', `${host}:${String(port)}`);
  }
}

const isChange = (event: StorageEvent): boolean =>
  event.type === 'delete' || event.item.createRevision === event.item.modRevision;

/** undefined: a key that is not ours. */
function addressIn({ value }: StoredItem): ReplicaAddress | undefined {
  try {
    const { ip, port } = JSON.parse(Buffer.from(value).toString('utf8')) as Partial<ReplicaAddress>;
    return typeof ip === 'string' && typeof port === 'number' ? { ip, port } : undefined;
  } catch {
    return undefined; // not JSON
  }
}
