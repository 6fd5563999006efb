// A store whose objects are served in another version than the stored one and converted by calls
// that wait: autoscaling/v1 over autoscaling/v2, with a selectable field that only v1 has.
import { admissionChain } from '../../admission/chain.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import { convertObject } from '../../api/convert.ts';
import { systemClock } from '../../base/clock.ts';
import { createStoredMedia } from '../../codec/stored-media.ts';
import { kindStrategies } from '../../kinds/built-in-kinds.ts';
import { createKeyspace } from '../../storage-etcd/keys.ts';
import type { ConvertAll } from '../conversion.ts';
import type { ResourceStore } from '../resource-store.ts';
import { storeOf } from '../store-of.ts';
import { defaultValidation, objectRules } from '../validation.ts';
import { WriteTurns } from '../write-turns.ts';
import type { Replica } from './registry-on-etcd.ts';

export const selectableInV1 = 'spec.targetCPUUtilizationPercentage';

export interface AwaitedStore {
  readonly served: ResourceStore;
  /** The same objects in the storage version. */
  readonly stored: ResourceStore;
  /** How many objects each call was given, and the version that it was asked for. */
  readonly calls: { readonly count: number; readonly version: string }[];
  /** Called by each conversion before it answers. */
  before: () => Promise<void>;
}

export function awaitedStore({ scheme, naming, cache, storage, stores }: Replica): AwaitedStore {
  const name = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };
  const asV1 = scheme.resource({ ...name, version: 'v1' });
  const stored = stores.find({ ...name, version: 'v2' });
  if (asV1 === undefined || stored === undefined) throw new Error('autoscaling is served');
  const storedAs = stored.resource;
  const resource: ResourceInfo = {
    ...asV1,
    fieldSelectors: [...asV1.fieldSelectors, selectableInV1],
  };
  const convertAll: ConvertAll = async (objects, version) => {
    made.calls.push({ count: objects.length, version });
    await made.before();
    return objects.map((object) => convertObject(object, version, scheme));
  };
  const strategy = kindStrategies({ naming, eventTtlSeconds: 1 })(storedAs);
  const served = storeOf(
    { served: resource, stored: storedAs },
    {
      keyspace: createKeyspace('/registry'),
      strategy,
      rules: objectRules(storedAs, strategy, defaultValidation),
      admission: admissionChain([]),
      view: cache.view(storedAs),
      storage,
      media: createStoredMedia('json', naming),
      turns: new WriteTurns(systemClock),
      defaults: scheme.defaults,
      converter: { convertAll },
      typeOf: (kind) => scheme.kind(kind),
      partsOf: () => undefined,
      naming,
      clock: systemClock,
      continueKey: Buffer.from('of a test'),
      canStreamLists: true,
      canDeleteUnreadable: false,
    },
  );
  const made: AwaitedStore = { served, stored, calls: [], before: () => Promise.resolve() };
  return made;
}

/** A body in autoscaling/v1. */
export const scaler = (name: string, percentage?: number): object => ({
  metadata: { name },
  spec: {
    maxReplicas: 3,
    scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
    ...(percentage === undefined ? {} : { targetCPUUtilizationPercentage: percentage }),
  },
});
