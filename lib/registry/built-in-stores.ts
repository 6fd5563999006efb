// One store for every served built-in resource and version: the record, the strategy, the shared
// view and storage.
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionChain } from '../admission/chain.ts';
import type { RulesInForce } from '../admission/in-force.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { Scheme } from '../api/scheme.ts';
import { recordIn } from '../api/json-access.ts';
import { convertObject } from '../api/convert.ts';
import type { ItemKey, ResourceView } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isSegment } from '../storage-etcd/keys.ts';
import type { Keyspace } from '../storage-etcd/keys.ts';
import { settledStorage } from '../storage-etcd/settled-storage.ts';
import type { Reached } from '../storage-etcd/settled-storage.ts';
import type { Storage } from '../storage-etcd/storage.ts';
import { kindStrategies } from '../kinds/built-in-kinds.ts';
import type { KindOptions, LabelsOfNamespace, ParamKinds } from '../kinds/kind.ts';
import type { RulesOfRole } from '../kinds/rbac/held-rules.ts';
import { rulesOf } from '../kinds/rbac/policy-rules.ts';
import type { Companions } from './companions.ts';
import type { ResourceStore } from './resource-store.ts';
import type { StoreParts } from './store-parts.ts';
import { bindingStores } from './pods/bindings.ts';
import { reviewStores } from './reviews/reviews.ts';
import type { ReviewOptions } from './reviews/review.ts';
import { rulesCompanions } from './rules-company.ts';
import { storeOf, storeParts } from './store-of.ts';
import type { StoreDeps } from './store-of.ts';
import { noView } from './virtual-store.ts';
import { defaultValidation, storedRules } from './validation.ts';
import type { ObjectRules, ValidationOptions } from './validation.ts';
import { WriteTurns } from './write-turns.ts';

export interface BuiltInStoreOptions
  extends
    Omit<KindOptions, 'labelsOfNamespace' | 'rulesOfRole' | 'paramKinds'>,
    Pick<StoreParts, 'media' | 'clock' | 'continueKey' | 'tokens'>,
    Pick<StoreParts, 'canStreamLists' | 'canDeleteUnreadable'> {
  readonly scheme: Scheme;
  readonly keyspace: Keyspace;
  readonly storage: Storage;
  /** Who is told of objects of a stored resource, as they are stored; absent: nobody. */
  readonly onStoredOf?: (stored: ResourceInfo) => StoreParts['onStored'];
  /** What is written beside objects of a stored resource; absent: nothing. */
  readonly companionsOf?: (stored: ResourceInfo) => Companions | undefined;
  /** Absent: everything is admitted. */
  readonly admission?: AdmissionChain;
  /** Absent: no rules are objects of the API. */
  readonly rulesInForce?: RulesInForce | undefined;
  /** Gates of validation, and who is told of differences; absent: gates at their defaults. */
  readonly validation?: ValidationOptions;
  /** Who answers reviews; absent: they are not served. */
  readonly reviews?: Omit<ReviewOptions, 'clock'>;
  /** Plural name of what is served as a kind, custom ones too; absent: nothing is. */
  readonly resourceOfKind?: ParamKinds['resourceOf'];
  /** The view of a stored resource. */
  readonly viewOf: (stored: ResourceInfo) => ResourceView;
}

export function builtInStores(options: BuiltInStoreOptions): ResourceStore[] {
  const { scheme } = options;
  const strategyOf = kindStrategies({
    ...options,
    labelsOfNamespace: namespaceLabels(options),
    rulesOfRole: roleRules(options),
    paramKinds: paramKinds(options),
  });
  const rules = new Map<ResourceInfo, ObjectRules>();
  const rulesOf = (stored: ResourceInfo): ObjectRules => {
    let made = rules.get(stored);
    made ??= storedRules(stored, strategyOf(stored), options.validation ?? defaultValidation);
    rules.set(stored, made);
    return made;
  };
  const shared = {
    ...sharedDeps(options),
    converter: {
      convert: (object: Readonly<ApiObject>, toApiVersion: string) =>
        convertObject(object, toApiVersion, scheme),
    },
  };
  // Rules are judged by none, so that they can always be changed.
  const { rulesInForce } = options;
  const ruleGroup = options.naming.resolve('admissionregistration.{v}');
  const settled = settledStorage(options.storage, reachedBy(options));
  const ofRules = {
    storage: settled,
    rulesInForce: undefined,
    companions: rulesInForce && rulesCompanions(rulesInForce.key),
  };
  // Selectors of rules look at the labels of namespaces, expressions at schemas.
  const definitionGroup = options.naming.resolve('apiextensions.{v}');
  const isSeenByRules = ({ group, resource }: ResourceInfo): boolean =>
    group === '' ? resource === 'namespaces' : group === definitionGroup;
  const depsOf = (stored: ResourceInfo, view = options.viewOf(stored)): StoreDeps => ({
    ...shared,
    strategy: strategyOf(stored),
    rules: rulesOf(stored),
    view,
    companions: options.companionsOf?.(stored),
    ...(stored.group === ruleGroup ? ofRules : isSeenByRules(stored) ? { storage: settled } : {}),
    onStored: options.onStoredOf?.(stored),
    partsOf,
  });
  const partsOf: StoreParts['partsOf'] = ({ group, resource }) => {
    const stored = scheme.storedResource(group, resource);
    return stored === undefined
      ? undefined
      : storeParts({ served: stored, stored }, depsOf(stored));
  };
  const stores = scheme.resources
    .filter((resource) => !resource.virtual && resource.storagePrefix !== '')
    .map((served) => {
      const stored = scheme.storageResource(served);
      return storeOf({ served, stored }, depsOf(stored));
    });
  const reviewParts = (review: ResourceInfo): StoreParts =>
    storeParts({ served: review, stored: review }, depsOf(review, noView(review)));
  const reviews =
    options.reviews === undefined
      ? []
      : reviewStores(scheme, reviewParts, { ...options.reviews, clock: options.clock });
  return [...stores, ...bindingStores(scheme, partsOf), ...reviews];
}

/** What the stores of all resources have alike, whatever their kinds come from. */
export type SharedDeps = Omit<
  StoreDeps,
  'strategy' | 'rules' | 'view' | 'onStored' | 'companions' | 'converter' | 'partsOf'
>;

export const sharedDeps = (options: BuiltInStoreOptions): SharedDeps => ({
  admission: options.admission ?? admissionChain([]),
  rulesInForce: options.rulesInForce,
  storage: options.storage,
  media: options.media,
  turns: new WriteTurns(options.clock),
  defaults: options.scheme.defaults,
  typeOf: (kind) => options.scheme.kind(kind),
  naming: options.naming,
  clock: options.clock,
  tokens: options.tokens,
  continueKey: options.continueKey,
  canStreamLists: options.canStreamLists,
  canDeleteUnreadable: options.canDeleteUnreadable,
  keyspace: options.keyspace,
});

/** Memory has a revision when any view of it does. */
function reachedBy({ scheme, viewOf }: BuiltInStoreOptions): Reached {
  const [first] = scheme.storedResources;
  if (first === undefined) return () => Promise.resolve();
  const nothing = { namespace: '', name: 'none' };
  return async (revision, signal) => {
    await viewOf(first).get(nothing, { mode: 'notOlderThan', revision }, signal);
  };
}

/** undefined: namespaces are not served. */
function namespaceLabels(options: BuiltInStoreOptions): LabelsOfNamespace | undefined {
  const read = storeReader(options, '', 'namespaces');
  return (
    read &&
    (async (name, signal) => (await read({ namespace: '', name }, signal))?.metadata?.labels)
  );
}

const roleRules = (options: BuiltInStoreOptions): RulesOfRole => {
  const group = options.naming.resolve('rbac.authorization.{v}');
  const readers = {
    Role: storeReader(options, group, 'roles'),
    ClusterRole: storeReader(options, group, 'clusterroles'),
  };
  return async ({ kind, ...key }, signal) => {
    const role = await readers[kind]?.(key, signal);
    return role && rulesOf(role);
  };
};

const paramKinds = (options: BuiltInStoreOptions): ParamKinds => {
  const group = options.naming.resolve('admissionregistration.{v}');
  return {
    resourceOf: options.resourceOfKind ?? (() => undefined),
    async paramKindOf(policies, name, signal) {
      const policy = await storeReader(options, group, policies)?.({ namespace: '', name }, signal);
      return recordIn(policy, 'spec', 'paramKind');
    },
  };
};

type StoreReader = (key: ItemKey, signal: AbortSignal) => Promise<Readonly<ApiObject> | undefined>;

/**
 * Reads the store itself: memory may not know yet what a client has just written. undefined: the
 * resource is not served.
 */
function storeReader(
  { scheme, keyspace, storage, viewOf }: BuiltInStoreOptions,
  group: string,
  resource: string,
): StoreReader | undefined {
  const record = scheme.storedResource(group, resource);
  if (record === undefined) return undefined;
  const view = viewOf(record);
  return async ({ namespace, name }, signal) => {
    if (!isSegment(name) || (namespace !== '' && !isSegment(namespace))) return undefined;
    const key = keyspace.key(record.storagePrefix, namespace, name);
    const { item } = await storage.get(key, signal);
    const read = item === undefined ? undefined : view.itemOf(item);
    return read?.corrupted === false ? read.object() : undefined;
  };
}
