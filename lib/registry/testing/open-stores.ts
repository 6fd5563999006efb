// Stores of a kind whose versions have types from schemas, over the etcd of a replica: for suites.
// The kind is `Thing` of `example.com`, with the record that its definition would give it.
import { admissionChain } from '../../admission/chain.ts';
import type { AdmissionChain } from '../../admission/chain.ts';
import { finalizerWarnings } from '../../api/finalizer-warnings.ts';
import { loadResourceSchema } from '../../api/load-schema.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import { systemClock } from '../../base/clock.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { canonicalObject } from '../../codec/normalise.ts';
import { createStoredMedia } from '../../codec/stored-media.ts';
import type { StoredMediaName } from '../../codec/stored-media.ts';
import { widgetResource } from '../../codec/testing/sample-types.ts';
import { createKeyspace } from '../../storage-etcd/keys.ts';
import type { ResourceStore } from '../resource-store.ts';
import { storeOf } from '../store-of.ts';
import { defaultValidation, objectRules } from '../validation.ts';
import { WriteTurns } from '../write-turns.ts';
import type { Replica } from './registry-on-etcd.ts';

export interface OpenKind {
  /** OpenAPI v3 schemas by version. */
  readonly schemas: Readonly<Record<string, object>>;
  /** Default: the first of the versions. */
  readonly stored?: string;
  readonly resource?: string;
  /** With `scale`, replicas stand where built-in kinds have them. */
  readonly subresources?: readonly ('status' | 'scale')[];
  readonly admission?: AdmissionChain;
  readonly media?: StoredMediaName;
}

export const thingGroup = 'example.com';

/** Stores by version; memory follows the objects from now on. */
export function openStores(replica: Replica, kind: OpenKind): Map<string, ResourceStore> {
  const { naming, scheme, cache, storage } = replica;
  const versions = Object.keys(kind.schemas);
  const records = new Map(versions.map((version) => [version, recordOf(replica, kind, version)]));
  const stored = records.get(kind.stored ?? versions[0] ?? '');
  if (stored === undefined) throw new Error('a kind has a version');
  const view = cache.add({ resource: stored, isRemovable: true });
  const turns = new WriteTurns(systemClock);
  const convert = (object: Readonly<ApiObject>, apiVersion: string): ApiObject => {
    const to = records.get(apiVersion.slice(thingGroup.length + 1));
    if (to === undefined) throw new Error(`${apiVersion} is no version of the kind`);
    return canonicalObject({ ...object, apiVersion }, to.type);
  };
  const strategy = {
    takesUnqualifiedFinalizers: 'always',
    warnings: (object, old, { subresource }) =>
      subresource === 'status' ? [] : finalizerWarnings(object, old, naming),
  } satisfies Parameters<typeof objectRules>[1];
  const storeIn = (served: ResourceInfo): ResourceStore =>
    storeOf(
      { served, stored },
      {
        judgedIn: 'served',
        admission: kind.admission ?? admissionChain([]),
        storage,
        media: createStoredMedia(kind.media ?? 'json', naming),
        turns,
        defaults: scheme.defaults,
        converter: { convert },
        typeOf: (of) => (of.group === thingGroup ? records.get(of.version)?.type : scheme.kind(of)),
        partsOf: () => undefined,
        naming,
        clock: systemClock,
        continueKey: Buffer.from('of a test'),
        canStreamLists: true,
        canDeleteUnreadable: false,
        keyspace: createKeyspace('/registry'),
        strategy,
        rules: objectRules(served, strategy, defaultValidation),
        view,
      },
    );
  return new Map([...records].map(([version, served]) => [version, storeIn(served)]));
}

function recordOf({ naming, scheme }: Replica, kind: OpenKind, version: string): ResourceInfo {
  const resource = kind.resource ?? 'things';
  const name = { group: thingGroup, version, kind: 'Thing' };
  const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  const verbs = ['get', 'patch', 'update'] as const;
  return {
    ...widgetResource,
    version,
    resource,
    kind: name,
    listKind: 'ThingList',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: (kind.subresources ?? []).map((one) =>
      one === 'status' ? { name: one, kind: name, verbs } : { name: one, kind: scale, verbs },
    ),
    type: loadResourceSchema(kind.schemas[version], {
      id: `${thingGroup}/${version}.Thing`,
      objectMeta: scheme.type('meta/v1.ObjectMeta'),
      profile: naming,
    }),
    storagePrefix: `${thingGroup}/${resource}`,
    storageVersion: `${thingGroup}/${kind.stored ?? version}`,
    fieldSelectors: ['metadata.name', 'metadata.namespace'],
    nameRule: 'dns1123Subdomain',
    createOnUpdate: false,
    unconditionalUpdate: false,
    hasGeneration: true,
    patches: ['json', 'merge', 'apply'],
    namesItself: true,
    hasLiveSchema: true,
  };
}
