// What items of the widgets of cache-fixture.ts are made with, without a cache around them.
import { namingProfile } from '../../api/vendor.ts';
import { createStoredMedia } from '../../codec/stored-media.ts';
import type { ItemSource } from '../item.ts';
import { MemoryBudget } from '../memory-budget.ts';
import { SharedValues } from '../shared-values.ts';
import { createTranscoder } from '../transcoder.ts';
import { widgets } from './cache-fixture.ts';

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
