// Ports on nodes: one key for each that is claimed. What is free is remembered, which is a guess;
// the store is asked before anything is refused.
import type { Keyspace } from '../../storage-etcd/keys.ts';
import { pagesOf } from '../../storage-etcd/range.ts';
import type { Revision, Storage, StoredItem } from '../../storage-etcd/storage.ts';
import { chosenFrom, holds, portBands } from './bands.ts';
import type { Bands, PortRange, Random } from './bands.ts';
import { isSameHolder } from './claims.ts';
import type { Claim, Holder } from './claims.ts';

const storagePrefix = 'ranges/servicenodeports';

export interface PortPoolOptions {
  readonly storage: Storage;
  readonly keyspace: Keyspace;
  readonly range: PortRange;
  readonly random: Random;
}

export class PortPool {
  readonly #options: PortPoolOptions;
  readonly #bands: Bands;
  /** As far as this replica knows, or has chosen itself; undefined: nothing is known yet. */
  #taken: Set<number> | undefined;

  constructor(options: PortPoolOptions) {
    this.#options = options;
    this.#bands = portBands(options.range);
  }

  /** A port that seems free; undefined: none is. `except`: those of the write itself. */
  async choose(
    except: ReadonlySet<number>,
    { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
  ): Promise<number | undefined> {
    let taken = this.#taken ?? (await this.#learn(signal));
    let port = this.#free(taken, except);
    if (port === undefined) {
      taken = await this.#learn(signal);
      port = this.#free(taken, except);
    }
    // Others of this replica choose another one meanwhile.
    if (port !== undefined && !dryRun) taken.add(port);
    return port;
  }

  /** Why a stated port cannot be had; undefined: it can. */
  async refusalOf(
    port: number,
    { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
  ): Promise<string | undefined> {
    const { first, count } = this.#options.range;
    if (!this.isInRange(port)) {
      const range = `${String(first)}-${String(first + count - 1)}`;
      const rule = `The range of valid ports is ${range}`;
      return `provided port is not in the valid range. ${rule}`;
    }
    if (!dryRun && this.#taken?.has(port) !== true) return undefined;
    const { item } = await this.#options.storage.get(this.keyOf(port), signal);
    if (item !== undefined) return 'provided port is already allocated';
    this.#taken?.delete(port);
    return undefined;
  }

  /** `expected`: the version that it replaces; 0: there is none. */
  claim(port: number, holder: Holder, expected: Revision = 0): Claim {
    const key = this.keyOf(port);
    const value = Buffer.from(JSON.stringify({ namespace: holder.namespace, name: holder.name }));
    return {
      condition: { key, expected },
      change: { type: 'put', key, value },
      lost: () => this.#taken?.add(port),
    };
  }

  /** undefined: it is not this holder's. */
  async release(port: number, holder: Holder, signal: AbortSignal): Promise<Claim | undefined> {
    const key = this.keyOf(port);
    const { item } = await this.#options.storage.get(key, signal);
    if (item === undefined || !isSameHolder(holderOf(item), holder)) return undefined;
    this.#taken?.delete(port);
    return {
      condition: { key, expected: item.modRevision },
      change: { type: 'delete', key },
      lost: () => undefined,
    };
  }

  /** As the store has it now. */
  async stored(port: number, signal: AbortSignal): Promise<PortClaim | undefined> {
    const { item } = await this.#options.storage.get(this.keyOf(port), signal);
    return item && { port, holder: holderOf(item), item };
  }

  isInRange(port: number): boolean {
    return holds(this.#bands, BigInt(port));
  }

  get range(): PortRange {
    return this.#options.range;
  }

  keyOf(port: number): string {
    return this.#options.keyspace.key(storagePrefix, '', String(port));
  }

  /** Every claim, as the store has them. */
  async claims(signal: AbortSignal): Promise<readonly PortClaim[]> {
    const { storage, keyspace } = this.#options;
    const prefix = keyspace.resourcePrefix(storagePrefix);
    const claims: PortClaim[] = [];
    for await (const { items } of pagesOf(storage, { prefix }, signal)) {
      for (const item of items) {
        claims.push({
          port: Number(item.key.slice(prefix.length)),
          holder: holderOf(item),
          item,
        });
      }
    }
    return claims;
  }

  async #learn(signal: AbortSignal): Promise<Set<number>> {
    const claims = await this.claims(signal);
    this.#taken = new Set(claims.map(({ port }) => port));
    return this.#taken;
  }

  #free(taken: ReadonlySet<number>, except: ReadonlySet<number>): number | undefined {
    const isTaken = (number: bigint): boolean =>
      taken.has(Number(number)) || except.has(Number(number));
    const found = chosenFrom(this.#bands, isTaken, this.#options.random);
    return found === undefined ? undefined : Number(found);
  }
}

export interface PortClaim {
  readonly port: number;
  /** undefined: the value cannot be read. */
  readonly holder: Holder | undefined;
  readonly item: StoredItem;
}

function holderOf({ value }: StoredItem): Holder | undefined {
  try {
    const { namespace, name } = JSON.parse(Buffer.from(value).toString()) as Partial<Holder>;
    if (typeof namespace === 'string' && typeof name === 'string') return { namespace, name };
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
  }
  return undefined;
}
