// The store of one resource in one served version, from what it is made of. Built-in kinds and
// resources that come at run time are made alike.
import { abortable } from '../base/abort.ts';
import { invariant } from '../base/invariant.ts';
import type { Keyspace } from '../storage-etcd/keys.ts';
import { AwaitedConversion } from './awaited-conversion.ts';
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
  const conversion = served === stored ? undefined : conversionOf(versions, converter);
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

const conversionOf = (versions: VersionPair, converter: Converter): Conversion =>
  'convert' in converter
    ? lazyConversion(versions, converter.convert)
    : new AwaitedConversion(versions, converter.convertAll);

const convertOne = (converter: Converter): StoreParts['convert'] =>
  'convert' in converter
    ? converter.convert
    : async (object, toApiVersion, signal) => {
        const call = converter.convertAll([object], toApiVersion);
        const [converted] = await abortable(call, signal);
        invariant(converted !== undefined, 'a conversion answers as many objects as it was given');
        return converted;
      };
