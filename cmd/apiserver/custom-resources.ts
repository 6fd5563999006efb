// Custom resources: the stores of what definitions say, made as they come, change and go.
import { limits } from '../../lib/base/limits.ts';
import { isLongTurn, ownTurn } from '../../lib/base/turn.ts';
import type { ResourceInfo } from '../../lib/api/type-info.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import type { Item } from '../../lib/cacher/resource-view.ts';
import { OwnWrites } from '../../lib/controllers/definitions/own-writes.ts';
import { ConversionMetrics } from '../../lib/crd/conversion/conversion-metrics.ts';
import { definitionStores } from '../../lib/crd/definition-stores.ts';
import { ServedDefinitions } from '../../lib/crd/served-definitions.ts';
import type { SharedDeps } from '../../lib/registry/built-in-stores.ts';
import type { Companions } from '../../lib/registry/companions.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { ValidationOptions } from '../../lib/registry/validation.ts';
import type { Base } from './base.ts';
import { schemaRulesObserver } from './schema-rules-observer.ts';

export interface FollowedDefinitions {
  readonly served: ServedDefinitions;
  /** Resolves when all definitions that there were at the start are served. */
  readonly whole: Promise<void>;
  readonly ownWrites: OwnWrites;
  /** A definition was just stored by this replica. */
  onStored(item: Item): Promise<void>;
}

/** The record of definitions, as they are stored; undefined: they are not served. */
export const definitionsRecord = ({ scheme, naming }: Base): ResourceInfo | undefined =>
  scheme.storedResource(naming.resolve('apiextensions.{v}'), 'customresourcedefinitions');

export function openDefinitions(
  { scheme, media, calls, metrics, clock, logger: log, started }: Base,
  of: {
    readonly definitions: ResourceInfo;
    readonly deps: SharedDeps;
    readonly validation: ValidationOptions;
    readonly cache: Cache;
    readonly resources: ResourceMapHolder;
    readonly companionsOf: (stored: ResourceInfo) => Companions | undefined;
  },
): FollowedDefinitions {
  const { definitions, deps, validation, cache, resources, companionsOf } = of;
  const view = cache.view(definitions);
  const makeStores = definitionStores({
    ...{ deps, cache, media, validation, companionsOf, view },
    objectMeta: scheme.type('meta/v1.ObjectMeta'),
    calls,
    conversionMetrics: new ConversionMetrics(metrics.series),
    rulesObserver: schemaRulesObserver(metrics),
    definitionKey: (name) => deps.keyspace.key(definitions.storagePrefix, '', name),
    proven: (signal) => resources.proven(signal),
  });
  const served = new ServedDefinitions({ scheme, view, resources, makeStores, log });
  const closing = new AbortController();
  const following = served.run(closing.signal);
  started.defer(async () => {
    closing.abort(new Error('the server stops'));
    await following.ended;
  });
  const ownWrites = new OwnWrites(clock);
  const onStored = async (item: Item): Promise<void> => {
    ownWrites.note(item);
    if (isLongTurn(limits.writeTurnMsMax)) await ownTurn();
    served.set(item);
  };
  return { served, whole: following.whole, ownWrites, onStored };
}
