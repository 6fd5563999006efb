// Which types the policies of the cluster were last checked against, kept beside the resources in
// etcd: who begins to lead knows by it whether what policies say of themselves still holds. Written
// by the replica that leads alone.
import type { Revision, Storage } from '../storage-etcd/storage.ts';

/** Fingerprints of types, by the name of what is served with them (CheckedKinds). */
export type Types = ReadonlyMap<string, string>;

export interface CheckedTypesOptions {
  readonly storage: Pick<Storage, 'get' | 'put'>;
  readonly key: string;
  /** What else the outcome depends on: the language of expressions. */
  readonly release: string;
}

interface Recorded {
  readonly revision: Revision;
  /** All policies are checked against `types`; else some may be checked against others. */
  readonly isSettled: boolean;
  readonly types: Types;
}

export class CheckedTypes {
  readonly #options: CheckedTypesOptions;
  /** undefined: what is stored is not known for certain. */
  #recorded: Recorded | undefined;
  #before: Pick<Recorded, 'isSettled' | 'types'> | undefined;
  #pending: Promise<unknown> = Promise.resolve();

  constructor(options: CheckedTypesOptions) {
    this.#options = options;
  }

  /**
   * All that policies are checked against, as the leader before has left it; undefined: some may be
   * checked against others.
   */
  async ofBefore(signal: AbortSignal): Promise<Types | undefined> {
    return this.#inOrder(async () => {
      this.#before ??= this.#recorded ??= await this.#read(signal);
      const { isSettled, types } = this.#before;
      return isSettled ? types : undefined;
    });
  }

  /**
   * To be called before a policy says what was found with `types`: from then on the record says
   * nothing unless it has the same. @returns whether it has to be settled anew.
   */
  async expect(types: Types, signal: AbortSignal): Promise<boolean> {
    return this.#inOrder(async () => {
      if (this.#recorded?.isSettled === false) return true;
      if (this.#recorded !== undefined && includesTypes(this.#recorded.types, types)) return false;
      await this.#put(undefined, signal);
      return true;
    });
  }

  /** All policies are checked against these. */
  async settle(types: Types, signal: AbortSignal): Promise<void> {
    await this.#inOrder(async () => {
      const { isSettled = false, types: known } = this.#recorded ?? {};
      const isSame = isSettled && known?.size === types.size && includesTypes(known, types);
      if (!isSame) await this.#put(types, signal);
    });
  }

  /** What is asked together would write one over the other. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#pending.then(work);
    this.#pending = done.catch(() => undefined);
    return done;
  }

  async #read(signal: AbortSignal): Promise<Recorded> {
    const { storage, key, release } = this.#options;
    const { item } = await storage.get(key, signal);
    const stored = item === undefined ? undefined : parse(item.value);
    const isSettled = stored?.release === release;
    const types = new Map(isSettled ? Object.entries(stored.types) : []);
    return { revision: item?.modRevision ?? 0, isSettled, types };
  }

  /** `types` undefined: not settled. A write that failed may arrive until another overtakes it. */
  async #put(types: Types | undefined, signal: AbortSignal): Promise<void> {
    const { storage, key, release } = this.#options;
    const { revision: expected } = this.#recorded ?? (await this.#read(signal));
    this.#recorded = undefined;
    const said = types === undefined ? {} : { release, types: Object.fromEntries(types) };
    const result = await storage.put(key, Buffer.from(JSON.stringify(said)), { expected }, signal);
    if (!result.ok) throw new Error('the record of checked types was written meanwhile');
    const isSettled = types !== undefined;
    this.#recorded = { revision: result.revision, isSettled, types: types ?? new Map() };
  }
}

export const includesTypes = (all: Types, some: Types): boolean =>
  some.entries().every(([name, type]) => all.get(name) === type);

interface Stored {
  readonly release?: string;
  readonly types?: Readonly<Record<string, string>>;
}

/** undefined: it cannot be read, and is as good as none. */
function parse(value: Uint8Array): Required<Stored> | undefined {
  try {
    const { release, types = {} } = JSON.parse(Buffer.from(value).toString('utf8')) as Stored;
    return release === undefined ? undefined : { release, types };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
