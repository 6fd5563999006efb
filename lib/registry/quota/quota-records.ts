// Quotas as they lie in etcd: where, how they are read past the memory, and what is put in place of
// one that is charged.
import type { ResourceInfo } from '../../api/type-info.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { encodeStored } from '../../codec/stored-form.ts';
import type { EncodedStored } from '../../codec/stored-form.ts';
import type { StoredMedia } from '../../codec/stored-media.ts';
import type { Keyspace } from '../../storage-etcd/keys.ts';
import { pagesOf } from '../../storage-etcd/range.ts';
import type { Revision, Storage } from '../../storage-etcd/storage.ts';

export interface QuotaRecordsOptions {
  /** In its storage version. */
  readonly resource: ResourceInfo;
  readonly view: ResourceView;
  readonly keyspace: Keyspace;
  readonly media: Pick<StoredMedia, 'write'>;
}

/** A quota as it is going to be stored. */
export interface ChargedQuota {
  readonly key: string;
  readonly value: Uint8Array;
  readonly encoded: EncodedStored;
}

export class QuotaRecords {
  readonly view: ResourceView;
  readonly #options: QuotaRecordsOptions;

  constructor(options: QuotaRecordsOptions) {
    this.view = options.view;
    this.#options = options;
  }

  key(namespace: string, name: string): string {
    const { keyspace, resource } = this.#options;
    return keyspace.key(resource.storagePrefix, namespace, name);
  }

  /** All of a namespace, at one revision. */
  async read(
    storage: Storage,
    namespace: string,
    signal: AbortSignal,
  ): Promise<{ readonly items: readonly Item[]; readonly revision: Revision }> {
    const items: Item[] = [];
    let revision = 0;
    const { keyspace, resource } = this.#options;
    const prefix = keyspace.namespacePrefix(resource.storagePrefix, namespace);
    for await (const page of pagesOf(storage, { prefix }, signal)) {
      revision = page.revision;
      items.push(...page.items.map((item) => this.view.itemOf(item)));
    }
    return { items, revision };
  }

  written(namespace: string, name: string, quota: ApiObject): ChargedQuota {
    const { resource, media } = this.#options;
    const encoded = encodeStored(quota, resource);
    const value = media.write(quota, resource, encoded.value);
    return { key: this.key(namespace, name), value, encoded };
  }

  isKey(key: string): boolean {
    const { keyspace, resource } = this.#options;
    return key.startsWith(keyspace.resourcePrefix(resource.storagePrefix));
  }
}
