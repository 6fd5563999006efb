// The stores of one definition: those of its served versions, over one place in the cache and in
// etcd. What they write states in its own transaction that the definition is still the same.
import type { TypeInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import { internalError } from '../base/status.ts';
import type { Cache } from '../cacher/cache.ts';
import { createTranscoder } from '../cacher/transcoder.ts';
import type { ApiObject } from '../codec/codec.ts';
import { readObject } from '../codec/normalise.ts';
import type { StoredMedia, StoredTypeMeta } from '../codec/stored-media.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { StoreReplaced } from '../registry/store-replaced.ts';
import type { SharedDeps } from '../registry/built-in-stores.ts';
import { storeOf } from '../registry/store-of.ts';
import type { StoreDeps } from '../registry/store-of.ts';
import { schemaObjectRules } from '../registry/schema-object-rules.ts';
import type { ObjectRules, ValidationOptions } from '../registry/validation.ts';
import { fencedStorage } from '../storage-etcd/fenced-storage.ts';
import type { Term } from '../storage-etcd/fenced-storage.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import type { Definition } from './definition.ts';
import { recordsOf } from './records.ts';
import type { Records } from './records.ts';
import { customStrategy } from './strategy.ts';

/** Where a definition was read: revisions of different histories of the store say nothing. */
export interface ReadAt {
  readonly revision: Revision;
  readonly history: number;
}

export interface DefinitionStores {
  /** One for each served version. */
  readonly served: readonly ResourceStore[];
  /** The storage version, served or not. */
  readonly stored: ResourceStore;
  readonly resource: ResourceInfo;
  /** The definition has another revision, and is the same for all that is served of it. */
  renew(at: ReadAt): void;
  /** It is gone. */
  end(): void;
}

/** undefined: nothing of it is served. */
export type MakeStores = (
  definition: Definition,
  of: {
    readonly schemaOf: (version: string) => JsonObject | undefined;
    readonly at: ReadAt;
    /** What was served before, which ends. */
    readonly former: DefinitionStores | undefined;
  },
) => DefinitionStores | undefined;

export interface DefinitionStoresOptions {
  readonly deps: SharedDeps;
  readonly cache: Cache;
  readonly media: StoredMedia;
  readonly objectMeta: TypeInfo;
  readonly validation: ValidationOptions;
  /** The key of a definition. */
  readonly definitionKey: (name: string) => string;
  /** Resolves once the map of resources shows what is stored. */
  readonly proven: (signal: AbortSignal) => Promise<void>;
}

export const definitionStores =
  (options: DefinitionStoresOptions): MakeStores =>
  (definition, { schemaOf, at, former }) => {
    const { deps, cache, objectMeta, validation, definitionKey, proven } = options;
    const { naming } = deps;
    const records = definition.isServed
      ? recordsOf(definition, { naming, objectMeta, schemaOf })
      : undefined;
    if (records === undefined) {
      former?.end();
      return undefined;
    }
    const { stored } = records;
    const cached = {
      resource: stored,
      indexedFields: stored.fieldSelectors.filter((path) => !path.startsWith('metadata.')),
      transcoder: transcoderOf(records, options),
      isRemovable: true,
    };
    const view = former === undefined ? cache.add(cached) : cache.replace(cached);
    const key = definitionKey(definition.name);
    const guard = {
      ...guardOf(key, at),
      ended: () => {
        throw new StoreReplaced(definition.name, proven);
      },
    };
    const strategy = customStrategy(definition, naming);
    const own: Omit<StoreDeps, 'rules'> = {
      ...deps,
      judgedIn: 'served',
      partsOf: () => undefined,
      storage: fencedStorage(deps.storage, guard),
      view,
      strategy,
      converter: { convert: (object, to) => converted(object, to, records) },
    };
    const rulesOf = (served: ResourceInfo): ObjectRules =>
      whenNeeded(() => schemaObjectRules(served, strategy, { naming, ...validation }));
    const make = (served: ResourceInfo): ResourceStore =>
      storeOf({ served, stored }, { ...own, rules: rulesOf(served) });
    const served = records.served.map(make);
    return {
      served,
      stored: served.find(({ resource }) => resource === stored) ?? make(stored),
      resource: stored,
      renew: (next) => void Object.assign(guard, guardOf(key, next)),
      end: () => cache.remove(stored),
    };
  };

/** The rules of a type, which is made with them. */
function whenNeeded(make: () => ObjectRules): ObjectRules {
  let made: ObjectRules | undefined;
  const rules = (): ObjectRules => (made ??= make());
  return {
    dropDisabled: (...of) => rules().dropDisabled(...of),
    prepare: (...of) => rules().prepare(...of),
    authorize: (...of) => rules().authorize(...of),
    validate: (...of) => rules().validate(...of),
    warn: (...of) => rules().warn(...of),
  };
}

/** Writes hold only while the definition is as it was read. */
const guardOf = (key: string, { revision, history }: ReadAt): Pick<Term, 'fence' | 'history'> => ({
  fence: { key, expected: revision },
  history,
});

/** Only the version changes; what the schema of that does not know is dropped. */
function converted(object: Readonly<ApiObject>, toApiVersion: string, records: Records): ApiObject {
  if (object.apiVersion === toApiVersion) return { ...object };
  const to = recordIn(records, toApiVersion);
  if (to === undefined) throw internalError(`${toApiVersion} is no version of the kind`);
  return readObject({ ...object, apiVersion: toApiVersion }, to.type).object;
}

const recordIn = ({ versions }: Records, apiVersion: string): ResourceInfo | undefined =>
  [...versions.values()].find(({ kind }) => apiVersionOf(kind) === apiVersion);

/** Objects are read by the schema of the version that they were stored in. */
const transcoderOf = (
  records: Records,
  { media, deps: { defaults } }: DefinitionStoresOptions,
): ReturnType<typeof createTranscoder> => {
  const { stored } = records;
  const typeOf = ({ apiVersion }: StoredTypeMeta): TypeInfo =>
    (typeof apiVersion === 'string' ? recordIn(records, apiVersion) : stored)?.type ?? stored.type;
  return createTranscoder({
    media,
    typeOf,
    complete(object) {
      defaults.apply(object, typeOf(object));
      return converted(object, apiVersionOf(stored.kind), records);
    },
  });
};
