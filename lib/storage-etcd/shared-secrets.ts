// Values that all replicas must agree on (keys, the CA, the naming profile): made once, by
// compare-and-swap. They lie below the etcd prefix but beside the resources: no API path reads
// them, access to etcd does.
import { limits } from '../base/limits.ts';
import { sleep } from '../base/abort.ts';
import { StatusError } from '../base/status.ts';
import type { Keyspace } from './keys.ts';
import type { Storage } from './storage.ts';

const { sharedSecretTriesMax, sharedSecretRetryMs } = limits;

export class SharedSecrets {
  readonly #storage: Storage;
  readonly #keyspace: Keyspace;

  constructor(storage: Storage, keyspace: Keyspace) {
    this.#storage = storage;
    this.#keyspace = keyspace;
  }

  /**
   * The value of the first replica that made one; `make` runs only where there is none, maybe in
   * vain.
   */
  async getOrCreate(
    name: string,
    make: () => Uint8Array | Promise<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const key = this.#keyspace.internalKey(name);
    let made: Uint8Array | undefined;
    for (let count = 1; ; count++) {
      const { item } = await this.#storage.get(key, signal);
      if (item !== undefined) return Uint8Array.from(item.value);
      made ??= await make();
      try {
        const result = await this.#storage.put(key, made, { expected: 0 }, signal);
        if (result.ok) return made;
        if (result.current !== undefined) return Uint8Array.from(result.current.value);
      } catch (error) {
        // The outcome is unknown: the next read shows it. The same value is offered again.
        if (!(error instanceof StatusError) || error.code !== 504 || count === sharedSecretTriesMax)
          throw error;
      }
      await sleep(sharedSecretRetryMs, signal);
    }
  }
}
