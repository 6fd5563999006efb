// A prefix of its own for each test of a store that many tests share.
import type { Revision, Storage, WriteResult } from '../storage.ts';

export interface Place {
  readonly storage: Storage;
  readonly prefix: string;
  /** Ends what is still waiting. */
  readonly ending: AbortController;
  readonly signal: AbortSignal;
  /** Keys are below the prefix. */
  readonly create: (key: string, value: string) => Promise<WriteResult>;
  /** @returns the revision; throws when the key was there */
  readonly created: (key: string, value: string) => Promise<Revision>;
}

let placeCount = 0;

export function newPlace(storage: Storage): Place {
  const prefix = `/registry/suite-${String(process.pid)}-${String(placeCount++)}/`;
  const ending = new AbortController();
  const { signal } = ending;
  const create = (key: string, value: string): Promise<WriteResult> =>
    storage.put(prefix + key, bytes(value), { expected: 0 }, signal);
  const created = async (key: string, value: string): Promise<Revision> =>
    revisionOf(await create(key, value));
  return { storage, prefix, ending, signal, create, created };
}

export const bytes = (text: string): Uint8Array => Buffer.from(text);
export const text = (value: Uint8Array | undefined): string | undefined =>
  value && Buffer.from(value).toString();

export function revisionOf(result: WriteResult): Revision {
  if (!result.ok) throw new Error('the write lost');
  return result.revision;
}
