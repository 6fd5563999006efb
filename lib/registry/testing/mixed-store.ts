// A kind of three versions whose objects stay in the version that they were stored in, over a real
// etcd: `v1` has spec.color, `v2` spec.paint and `v3` spec.tint for the same thing, and a call that
// waits converts between them. The storage version can be moved.
import { admissionChain } from '../../admission/chain.ts';
import type { AdmissionChain } from '../../admission/chain.ts';
import { loadResourceSchema } from '../../api/load-schema.ts';
import { apiVersionOf } from '../../api/type-info.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import { systemClock } from '../../base/clock.ts';
import { versionsTranscoder } from '../../cacher/transcoder.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { createStoredMedia } from '../../codec/stored-media.ts';
import { widgetResource } from '../../codec/testing/sample-types.ts';
import { createKeyspace } from '../../storage-etcd/keys.ts';
import type { Converter } from '../conversion.ts';
import { createResourceStore } from '../resource-store.ts';
import type { ResourceStore } from '../resource-store.ts';
import { storeParts } from '../store-of.ts';
import { defaultValidation, objectRules } from '../validation.ts';
import { WriteTurns } from '../write-turns.ts';
import type { Replica } from './registry-on-etcd.ts';

export type VersionName = 'v1' | 'v2' | 'v3';

export const colorFields: Readonly<Record<VersionName, string>> = {
  v1: 'color',
  v2: 'paint',
  v3: 'tint',
};
export const groupOf = 'example.com';

/** What a webhook would make of it: the one field moves, and the label `shown-in` changes. */
export function movedColor(object: Readonly<ApiObject>, toApiVersion: string): ApiObject {
  const [from, to] = [object.apiVersion, toApiVersion].map(
    (version) => colorFields[(version ?? '').slice(groupOf.length + 1) as VersionName],
  );
  const spec = { ...(object['spec'] as Record<string, unknown> | undefined) };
  const { [from ?? '']: color, ...rest } = spec;
  const moved = color === undefined ? rest : { ...rest, [to ?? '']: color };
  const version = toApiVersion.slice(groupOf.length + 1);
  const { labels = {}, ...metadata } = object.metadata ?? {};
  const shown = labels['shown-in'] === undefined ? labels : { ...labels, 'shown-in': version };
  return {
    ...object,
    apiVersion: toApiVersion,
    metadata: { ...metadata, ...(Object.keys(labels).length === 0 ? {} : { labels: shown }) },
    spec: moved,
  } as ApiObject;
}

export interface MixedStores {
  readonly store: (version: VersionName) => ResourceStore;
  /** In the storage version, for the server's own parts: nothing is converted. */
  readonly own: ResourceStore;
  readonly records: Readonly<Record<VersionName, ResourceInfo>>;
}

export interface MixedOptions {
  readonly storage: VersionName;
  readonly converter: Converter | ((versions: readonly ResourceInfo[]) => Converter);
  readonly admission?: AdmissionChain;
  /** Versions that the definition has; all where it is not given. */
  readonly versions?: readonly VersionName[];
  readonly resource?: string;
  /** It takes the place of what was served before. */
  readonly isReplacing?: boolean;
}

/** Serves it from now on. */
export function mixedStores(replica: Replica, options: MixedOptions): MixedStores {
  const { naming, scheme, cache, storage } = replica;
  const { versions = ['v1', 'v2', 'v3'], resource: plural = 'walls' } = options;
  const record = (version: VersionName): ResourceInfo => wallRecord(replica, version, plural);
  const records = { v1: record('v1'), v2: record('v2'), v3: record('v3') };
  const known = versions.map((version) => records[version]);
  const stored = records[options.storage];
  const given = options.converter;
  const converter = typeof given === 'function' ? given(known) : given;
  const media = createStoredMedia('json', naming);
  const { defaults } = scheme;
  const convert = 'convert' in converter ? converter.convert : undefined;
  const view = cache[options.isReplacing === true ? 'replace' : 'add']({
    resource: stored,
    versions: convert === undefined ? known.filter((version) => version !== stored) : [],
    isRemovable: true,
    transcoder: versionsTranscoder(known, { media, defaults, convert }),
  });
  const turns = new WriteTurns(systemClock);
  const partsOf = (served: ResourceInfo): ReturnType<typeof storeParts> =>
    storeParts(
      { served, stored, isMixed: true },
      {
        admission: options.admission ?? admissionChain([]),
        storage,
        media,
        turns,
        defaults,
        converter,
        typeOf: (of) =>
          known.find(({ kind }) => apiVersionOf(kind) === apiVersionOf(of))?.type ??
          scheme.kind(of),
        partsOf: () => undefined,
        naming,
        clock: systemClock,
        continueKey: Buffer.from('of a test'),
        canStreamLists: true,
        canDeleteUnreadable: false,
        keyspace: createKeyspace('/registry'),
        strategy: {},
        judgedIn: 'served',
        rules: objectRules(served, {}, defaultValidation),
        view,
      },
    );
  const stores = new Map(
    versions.map((version) => [version, createResourceStore(partsOf(records[version]))]),
  );
  return {
    store(version) {
      const store = stores.get(version);
      if (store === undefined) throw new Error(`${version} is not served`);
      return store;
    },
    own: createResourceStore(partsOf(stored)).stored,
    records,
  };
}

function wallRecord(replica: Replica, version: VersionName, resource: string): ResourceInfo {
  const { naming, scheme } = replica;
  const field = colorFields[version];
  const spec = {
    type: 'object',
    properties: {
      [field]: { type: 'string' },
      size: { type: 'integer', default: 1 },
      parts: {
        type: 'array',
        items: { type: 'object', properties: { name: { type: 'string' }, n: { type: 'integer' } } },
        'x-svc-list-type': 'map',
        'x-svc-list-map-keys': ['name'],
      },
    },
  };
  const status = { type: 'object', properties: { phase: { type: 'string' } } };
  const objectMeta = scheme.type('meta/v1.ObjectMeta');
  const kind = { group: groupOf, version, kind: 'Wall' };
  const id = `${groupOf}/${version}.Wall`;
  return {
    ...widgetResource,
    resource,
    kind,
    version,
    type: loadResourceSchema(
      { type: 'object', properties: { spec, status } },
      { id, objectMeta, profile: naming },
    ),
    storagePrefix: `${groupOf}/${resource}`,
    subresources: [{ name: 'status', kind, verbs: ['get', 'patch', 'update'] }],
    fieldSelectors: ['metadata.name', 'metadata.namespace', `spec.${field}`],
    resetMain: ['status'],
    resetBySubresource: { status: ['spec'] },
    hasGeneration: true,
  };
}
