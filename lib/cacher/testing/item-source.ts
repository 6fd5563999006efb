// What items of the widgets of cache-fixture.ts are made with, and a cache of them, without a
// replica's cache around them.
import { namingProfile } from '../../api/vendor.ts';
import { createStoredMedia } from '../../codec/stored-media.ts';
import { EventLog } from '../event-log.ts';
import type { ItemSource } from '../item.ts';
import { MemoryBudget } from '../memory-budget.ts';
import { ResourceCache } from '../resource-cache.ts';
import { SharedValues } from '../shared-values.ts';
import { createTranscoder } from '../transcoder.ts';
import { widgets } from './cache-fixture.ts';

/** An empty cache of widgets at `revision`, with the log that it is part of. */
export function resourceCacheAt(
  revision: number,
  source: ItemSource = itemSource(),
): { readonly cache: ResourceCache; readonly log: EventLog } {
  const log = new EventLog(source.budget, 1_000);
  source.budget.attach(log);
  const cache = new ResourceCache({
    source,
    log,
    indexedFields: [],
    historyCountMin: 0,
    onCorrupted: () => undefined,
  });
  log.reset(revision, 0);
  cache.begin(revision);
  return { cache, log };
}

export function itemSource(): ItemSource {
  const transcoder = createTranscoder({
    media: createStoredMedia('json', namingProfile('svc')),
    typeOf: (_of, resource) => resource.type,
    complete: (object) => object,
  });
  return {
    resource: widgets,
    keyPrefix: '/registry/widgets/',
    transcoder,
    budget: new MemoryBudget(Infinity, () => undefined),
    freezeObjects: false,
    schema: transcoder.schemaOf(widgets),
    keepsStored: false,
    shared: new SharedValues(),
  };
}
