// The stores of one definition: those of its served versions, over one place in the cache and in
// etcd. What they write states in its own transaction that the definition is still the same.
import { isDeepStrictEqual } from 'node:util';
import type { TypeInfo } from '../api/type-info.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import type { Cache } from '../cacher/cache.ts';
import type { ResourceView } from '../cacher/resource-view.ts';
import { versionsTranscoder } from '../cacher/transcoder.ts';
import type { Transcoder } from '../cacher/transcoder.ts';
import type { ClientParts } from '../client/open-target.ts';
import type { StoredMedia } from '../codec/stored-media.ts';
import type { ResourceStrategy } from '../kinds/strategy.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Companions } from '../registry/companions.ts';
import { StoreReplaced } from '../registry/store-replaced.ts';
import type { SharedDeps } from '../registry/built-in-stores.ts';
import type { Converter } from '../registry/conversion.ts';
import { storeOf } from '../registry/store-of.ts';
import type { StoreDeps } from '../registry/store-of.ts';
import { schemaObjectRules } from '../registry/schema-object-rules.ts';
import type { SchemaRulesObserver } from '../registry/schema-object-rules.ts';
import type { ObjectRules, ValidationOptions } from '../registry/validation.ts';
import { fencedStorage } from '../storage-etcd/fenced-storage.ts';
import type { Term } from '../storage-etcd/fenced-storage.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import type { ConversionMetrics } from './conversion/conversion-metrics.ts';
import { ConversionWebhook } from './conversion/conversion-webhook.ts';
import type { ConversionWebhookConfig } from './conversion/conversion-webhook.ts';
import { converterOf } from './conversion/converter.ts';
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
  /** What converts its objects; undefined: nothing needs to be asked. */
  readonly webhook:
    | { readonly client: ConversionWebhook; readonly config: ConversionWebhookConfig | undefined }
    | undefined;
  /** How what is stored is read, by what decides it. */
  readonly reading: { readonly key: string; readonly transcoder: Transcoder };
  /** Others take their place: no watch begins on them any more. */
  retire(): void;
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
  /** For calls of conversion webhooks. */
  readonly calls: ClientParts;
  readonly conversionMetrics: ConversionMetrics;
  readonly rulesObserver?: SchemaRulesObserver;
  readonly validation: ValidationOptions;
  /** What is written beside objects of a custom resource; absent: nothing. */
  readonly companionsOf?: (stored: ResourceInfo) => Companions | undefined;
  /** Of definitions. */
  readonly view: ResourceView;
  /** The key of a definition. */
  readonly definitionKey: (name: string) => string;
  /** Resolves once the map of resources shows what is stored. */
  readonly proven: (signal: AbortSignal) => Promise<void>;
}

export const definitionStores =
  (options: DefinitionStoresOptions): MakeStores =>
  (definition, { schemaOf, at, former }) => {
    const { deps, cache, objectMeta, definitionKey, proven } = options;
    const { naming } = deps;
    const records = definition.isServed
      ? recordsOf(definition, { naming, objectMeta, schemaOf })
      : undefined;
    if (records === undefined) {
      former?.end();
      return undefined;
    }
    const { stored } = records;
    const versions = [...records.versions.values()];
    const webhook = webhookOf(definition, former, options);
    const converter = converterOf({
      ...{ name: definition.name, versions, generation: definition.shape, webhook },
      metrics: options.conversionMetrics,
    });
    const reading = readingOf({ versions, stored, converter }, former, options);
    const cached = {
      resource: stored,
      // What only a call converts stays in its version.
      versions: webhook === undefined ? [] : versions.filter((version) => version !== stored),
      indexedFields: stored.fieldSelectors.filter((path) => !path.startsWith('metadata.')),
      transcoder: reading.transcoder,
      isRemovable: true,
    };
    former?.retire();
    const view = former === undefined ? cache.add(cached) : cache.replace(cached);
    const key = definitionKey(definition.name);
    const life = lifeOf(definition, at, options);
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
      typeOf: typesOf(definition, records, deps),
      storage: fencedStorage(deps.storage, guard),
      ...{ view, life, strategy },
      companions: options.companionsOf?.(stored),
      converter,
    };
    const rulesOf = rulesBy(strategy, options);
    const make = (served: ResourceInfo): ResourceStore =>
      storeOf({ served, stored, isMixed: definition.isMixed }, { ...own, rules: rulesOf(served) });
    const served = records.served.map(make);
    return {
      served,
      stored: served.find(({ resource }) => resource === stored) ?? make(stored),
      resource: stored,
      reading,
      retire: () => void (life.isOver = true),
      renew(next) {
        life.at = next;
        Object.assign(guard, guardOf(key, next));
      },
      webhook: webhook && { client: webhook, config: definition.webhook },
      end() {
        life.isOver = true;
        webhook?.close();
        cache.remove(stored);
      },
    };
  };

/** Memory may have the definition no more while whoever follows definitions is still to be told. */
function lifeOf({ name }: Definition, at: ReadAt, { view, proven }: DefinitionStoresOptions) {
  return {
    isOver: false,
    at,
    requireThere() {
      const { epoch, shownRevision } = view;
      if (epoch === undefined) return;
      // What a proof has found may be newer than memory.
      const isAhead = epoch.history === this.at.history && shownRevision < this.at.revision;
      if (isAhead || view.peek({ namespace: '', name }) !== undefined) return;
      throw new StoreReplaced(name, proven);
    },
  };
}

/** All versions of the kind itself are known, served or not. */
const typesOf =
  ({ group, names }: Definition, { versions }: Records, deps: SharedDeps): StoreDeps['typeOf'] =>
  (kind) =>
    kind.group === group && kind.kind === names.kind
      ? versions.get(kind.version)?.type
      : deps.typeOf(kind);

const rulesBy = (
  strategy: ResourceStrategy,
  { deps: { naming }, validation, rulesObserver: observer }: DefinitionStoresOptions,
): ((served: ResourceInfo) => ObjectRules) => {
  const options = { naming, ...validation, observer };
  return (served) => whenNeeded(() => schemaObjectRules(served, strategy, options));
};

/** The former one as long as it is configured alike: it knows how its service does. */
function webhookOf(
  { webhook: config }: Definition,
  former: DefinitionStores | undefined,
  { calls, deps: { naming } }: DefinitionStoresOptions,
): ConversionWebhook | undefined {
  const known = former?.webhook;
  if (config !== undefined && isDeepStrictEqual(known?.config, config)) return known?.client;
  known?.client.close();
  const reviewGroup = naming.resolve('apiextensions.{v}');
  return config && new ConversionWebhook(config, { ...calls, reviewGroup });
}

/** The former one where it reads alike: nothing in memory is read again. */
function readingOf(
  of: {
    readonly versions: readonly ResourceInfo[];
    readonly stored: ResourceInfo;
    readonly converter: Converter;
  },
  former: DefinitionStores | undefined,
  { media, deps: { defaults } }: DefinitionStoresOptions,
): DefinitionStores['reading'] {
  const { versions, stored, converter } = of;
  const convert = 'convert' in converter ? converter.convert : undefined;
  const fingerprints = versions.map(({ fingerprint }) => fingerprint);
  const key = JSON.stringify([stored.version, convert === undefined, fingerprints]);
  if (former?.reading.key === key) return former.reading;
  return { key, transcoder: versionsTranscoder(versions, { media, defaults, convert }) };
}

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
