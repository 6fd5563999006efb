// The store of a custom kind over a replica of a suite, in its storage version.
import { admissionChain } from '../../admission/chain.ts';
import type { AdmissionPlugin } from '../../admission/plugin.ts';
import { loadResourceSchema } from '../../api/load-schema.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import { systemClock } from '../../base/clock.ts';
import { createStoredMedia } from '../../codec/stored-media.ts';
import { widgetResource } from '../../codec/testing/sample-types.ts';
import type { Converter } from '../../registry/conversion.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { storeOf } from '../../registry/store-of.ts';
import { keyspace } from '../../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../../registry/testing/registry-on-etcd.ts';
import { defaultValidation, objectRules } from '../../registry/validation.ts';
import { WriteTurns } from '../../registry/write-turns.ts';

export interface CustomKind {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly isClusterScoped?: boolean;
  /** Served beside the storage version, which is `v1`; its conversion is asked of `converter`. */
  readonly otherVersion?: string;
  readonly converter?: Converter;
  readonly plugins?: readonly AdmissionPlugin[];
}

/** Of any object; the last one is the store of the other version. Its `v1` is what is stored. */
export function customStores(replica: Replica, of: CustomKind): readonly ResourceStore[] {
  const { naming, scheme, cache, storage } = replica;
  const { group, plural, plugins = [], otherVersion, isClusterScoped = false } = of;
  const schema = { type: 'object', 'x-svc-preserve-unknown-fields': true };
  const recordOf = (version: string): ResourceInfo => ({
    ...widgetResource,
    group,
    version,
    resource: plural,
    kind: { group, version, kind: of.kind },
    listKind: `${of.kind}List`,
    namespaced: !isClusterScoped,
    type: loadResourceSchema(schema, {
      id: `${group}/${version}.${of.kind}`,
      objectMeta: scheme.type('meta/v1.ObjectMeta'),
      profile: naming,
    }),
    storagePrefix: `${group}/${plural}`,
    fieldSelectors: ['metadata.name', 'metadata.namespace'],
    hasGeneration: true,
  });
  const stored = recordOf('v1');
  const deps = {
    admission: admissionChain(plugins),
    storage,
    media: createStoredMedia('json', naming),
    turns: new WriteTurns(systemClock),
    defaults: scheme.defaults,
    converter: of.converter ?? { convert: (object) => object },
    typeOf: scheme.kind.bind(scheme),
    partsOf: () => undefined,
    naming,
    clock: systemClock,
    continueKey: Buffer.from('of a test'),
    canStreamLists: true,
    canDeleteUnreadable: false,
    keyspace,
    strategy: {},
    rules: objectRules(stored, {}, defaultValidation),
    view: cache.add({ resource: stored, isRemovable: true }),
  };
  const versions = [stored, ...(otherVersion === undefined ? [] : [recordOf(otherVersion)])];
  return versions.map((served) => storeOf({ served, stored }, deps));
}
