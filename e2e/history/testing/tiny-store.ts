// The memory behind tiny-server.ts: ConfigMaps of one revision counter, with all of their past.
// Every method is atomic; a failed expectation is a value, not an exception.

import type { Revision } from '../history.ts';

export interface TinyObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly data: Readonly<Record<string, string>>;
}

export interface TinyChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: Revision;
  readonly key: string;
  readonly object: TinyObject;
}

export interface Expected {
  readonly resourceVersion?: string;
  readonly uid?: string;
}

export type TinyResult = TinyObject | 'AlreadyExists' | 'NotFound' | 'Conflict';

type Data = Readonly<Record<string, string>>;

export class TinyStore {
  readonly #changes: TinyChange[] = [];
  readonly #current = new Map<string, TinyObject>();
  #wake = Promise.withResolvers<undefined>();
  #uidCount = 0;

  get revision(): Revision {
    return this.#changes.at(-1)?.revision ?? 1;
  }

  /** Settles with the next change. */
  get changed(): Promise<undefined> {
    return this.#wake.promise;
  }

  get(key: string): TinyObject | undefined {
    return this.#current.get(key);
  }

  changesAfter(revision: Revision): TinyChange[] {
    const index = this.#changes.findIndex((change) => change.revision > revision);
    return index < 0 ? [] : this.#changes.slice(index);
  }

  /** The objects below a prefix as they were at a revision, by key. */
  list(prefix: string, revision: Revision): [string, TinyObject][] {
    const state = new Map<string, TinyObject>();
    for (const change of this.#changes) {
      if (change.revision > revision) break;
      if (!change.key.startsWith(prefix)) continue;
      if (change.type === 'DELETED') state.delete(change.key);
      else state.set(change.key, change.object);
    }
    return [...state].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  create(namespace: string, name: string, data: Data): TinyResult {
    if (this.#current.has(`${namespace}/${name}`)) return 'AlreadyExists';
    this.#uidCount += 1;
    return this.#record('ADDED', { namespace, name, uid: `uid-${this.#uidCount}` }, data);
  }

  change(key: string, expected: Expected, change: (old: Data) => Data): TinyResult {
    const old = this.#matching(key, expected);
    return typeof old === 'string' ? old : this.#record('MODIFIED', old.metadata, change(old.data));
  }

  delete(key: string, expected: Expected): TinyResult {
    const old = this.#matching(key, expected);
    return typeof old === 'string' ? old : this.#record('DELETED', old.metadata, old.data);
  }

  #matching(key: string, { resourceVersion, uid }: Expected): TinyObject | 'NotFound' | 'Conflict' {
    const old = this.#current.get(key);
    if (old === undefined) return 'NotFound';
    if ((resourceVersion ?? old.metadata.resourceVersion) !== old.metadata.resourceVersion) {
      return 'Conflict';
    }
    return (uid ?? old.metadata.uid) === old.metadata.uid ? old : 'Conflict';
  }

  #record(
    type: TinyChange['type'],
    { namespace, name, uid }: Omit<TinyObject['metadata'], 'resourceVersion'>,
    data: Data,
  ): TinyObject {
    const revision = this.revision + 1;
    const key = `${namespace}/${name}`;
    const metadata = { namespace, name, uid, resourceVersion: String(revision) };
    const object = { metadata, data };
    this.#changes.push({ type, revision, key, object });
    if (type === 'DELETED') this.#current.delete(key);
    else this.#current.set(key, object);
    const wake = this.#wake;
    this.#wake = Promise.withResolvers();
    wake.resolve(undefined);
    return object;
  }
}
