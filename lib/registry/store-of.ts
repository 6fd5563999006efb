// The store of one resource in one served version, from what it is made of. Built-in kinds and
// resources that come at run time are made alike.
import type { Keyspace } from '../storage-etcd/keys.ts';
import { AwaitedConversion, convertingOne } from './awaited-conversion.ts';
import { lazyConversion } from './conversion.ts';
import type { Conversion, Converter, VersionPair } from './conversion.ts';
import { createResourceStore } from './resource-store.ts';
import type { ResourceStore } from './resource-store.ts';
import type { StoreParts } from './store-parts.ts';

/** `view` is that of the stored version, `strategy` and `rules` are those of the judged one. */
export interface StoreDeps extends Omit<
  StoreParts,
  'resource' | 'storedAs' | 'conversion' | 'convert' | 'keyOf' | 'writing' | 'storing'
> {
  /**
   * The version in which writes are completed, admitted and validated; absent: the stored one.
   * Kinds whose versions have schemas of their own are judged in the version of the request.
   */
  readonly judgedIn?: 'served' | 'stored';
  readonly keyspace: Keyspace;
  readonly converter: Converter;
}

/** `versions`: one record twice where the served version is the stored one. */
export const storeOf = (versions: VersionPair, deps: StoreDeps): ResourceStore =>
  createResourceStore(storeParts(versions, deps));

/** What the verbs of such a store work with. */
export function storeParts(versions: VersionPair, deps: StoreDeps): StoreParts {
  const { keyspace, converter, judgedIn = 'stored', ...shared } = deps;
  const { served, stored } = versions;
  const conversion = conversionOf(versions, converter);
  const parts: StoreParts = {
    ...shared,
    resource: served,
    storedAs: stored,
    conversion,
    convert: convertOne(converter),
    keyOf: ({ namespace, name }) => keyspace.key(stored.storagePrefix, namespace, name),
  };
  if (conversion === undefined || judgedIn === 'stored') return parts;
  const storing = { resource: stored, conversion };
  return { ...parts, writing: { ...parts, storedAs: served, conversion: undefined, storing } };
}

/** What is converted at once lies in the storage version; what waits may lie in any. */
function conversionOf(versions: VersionPair, converter: Converter): Conversion | undefined {
  if (!('convert' in converter)) return new AwaitedConversion(versions, converter);
  return versions.served === versions.stored ? undefined : lazyConversion(versions, converter);
}

const convertOne = (converter: Converter): StoreParts['convert'] =>
  'convert' in converter ? converter.convert : convertingOne(converter.convertAll);
