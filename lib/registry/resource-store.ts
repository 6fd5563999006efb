// One served resource in one version: its record, its view and storage, and the verbs over them.
// Verbs answer in the version of `resource`; stored objects have the version of `storedAs`. No HTTP
// here.
import type { WaitEnd } from '../base/abort.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Item, ResourceView } from '../cacher/resource-view.ts';
import { tokenSubresource } from './accounts/token.ts';
import { connectionSubresource } from './connections/connection.ts';
import type { Conversion } from './conversion.ts';
import { createObject } from './create.ts';
import { deleteCollection } from './delete-collection.ts';
import { deleteObject } from './delete.ts';
import { metadataRules } from './parts-in-place.ts';
import { patchObject } from './patch.ts';
import { bindingSubresource } from './pods/binding.ts';
import { evictionSubresource } from './pods/eviction.ts';
import { getObject, listObjects, watchObjects } from './read.ts';
import type {
  CreateRequest,
  DeleteAnswer,
  DeleteCollectionRequest,
  DeleteRequest,
  GetRequest,
  ListAnswer,
  ListRequest,
  PatchRequest,
  UpdateRequest,
  WatchAnswer,
  WriteAnswer,
} from './requests.ts';
import type { Storage } from '../storage-etcd/storage.ts';
import { scaleSubresource } from './scale.ts';
import type { StoreParts } from './store-parts.ts';
import type { Subresource, VerbTarget } from './verb-target.ts';
import { updateObject } from './update.ts';

export interface ResourceStore extends VerbTarget {
  /**
   * What is served below its objects, by name: requests for any other are 404, documents name no
   * other.
   */
  readonly subresources: ReadonlyMap<string, Subresource>;
  /** In the storage version, without conversion: for policy code and controllers. */
  readonly view: ResourceView;
  /** The same resource in its storage version, whether that is served or not. */
  readonly stored: ResourceStore;
  /** Others may take its place, or nothing: its reads, too, may reject with StoreReplaced. */
  readonly isReplaceable?: boolean;
  /** DELETE answers with the object as it was, not with a Status. */
  readonly answersDeletedObject?: boolean;

  get(request: GetRequest): Promise<Item>;
  /** @throws StatusError 400, 410, 422, 504 as the specification's list table says. */
  list(request: ListRequest): Promise<ListAnswer>;
  watch(request: ListRequest): Promise<WatchAnswer>;
  create(request: CreateRequest): Promise<WriteAnswer>;
  update(request: UpdateRequest): Promise<WriteAnswer>;
  patch(request: PatchRequest): Promise<WriteAnswer>;
  delete(request: DeleteRequest): Promise<DeleteAnswer>;
  /** The objects as they were deleted, as one list. */
  deleteCollection(request: DeleteCollectionRequest): Promise<ListAnswer>;
  /** The same over what `wrap` makes of its storage: for writers with a condition of their own. */
  over(wrap: (storage: Storage) => Storage): ResourceStore;
}

/** What answers with objects. */
type Verbs = Pick<
  ResourceStore,
  'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deleteCollection'
>;

export function createResourceStore(parts: StoreParts): ResourceStore {
  const { resource } = parts;
  const stored = storedVerbs(parts);
  const { conversion } = parts;
  const verbs = conversion === undefined ? stored : servedVerbs(stored, conversion);
  const { get, update, patch } = verbs;
  const { patches } = resource;
  const object = { resource, input: resource, patches, get, update, patch };
  const { storedAs } = parts;
  // Rules that judge the version of requests know nothing of another one.
  const isOwnVersion = parts.writing === undefined || resource === storedAs;
  let inStorage: ResourceStore | undefined;
  const store: ResourceStore = {
    resource,
    input: resource,
    patches,
    subresources: subresourcesOf(parts, object),
    view: parts.view,
    get stored() {
      if (conversion === undefined) return store;
      return (inStorage ??= createResourceStore({
        ...parts,
        resource: storedAs,
        conversion: undefined,
        writing: undefined,
        ...(isOwnVersion ? {} : { rules: metadataRules }),
      }));
    },
    isReplaceable: parts.life !== undefined,
    answersDeletedObject: parts.strategy.answersDeletedObject === true,
    ...verbs,
    over: (wrap) => createResourceStore({ ...parts, storage: wrap(parts.storage) }),
  };
  return store;
}

/** They answer in the storage version. */
const storedVerbs = (parts: StoreParts): Verbs => ({
  get: (request) => getObject(parts, request),
  list: (request) => listObjects(parts, request),
  watch: (request) => watchObjects(parts, request),
  create: (request) => createObject(parts, request),
  update: (request) => updateObject(parts, request),
  patch: (request) => patchObject(parts, request),
  delete: (request) => deleteObject(parts, request),
  deleteCollection: (request) => deleteCollection(parts, request),
});

/** The same with every answer in the version of the request: here and nowhere else. */
function servedVerbs(stored: Verbs, conversion: Conversion): Verbs {
  const one = <T extends { readonly item: Item }>(answer: T, end: WaitEnd): MaybePromise<T> =>
    whenThere(conversion.item(answer.item, end), (item) => ({ ...answer, item }));
  const all = (answer: ListAnswer, end: WaitEnd): MaybePromise<ListAnswer> =>
    whenThere(conversion.items(answer.items, end), (items) => ({ ...answer, items }));
  return {
    get: async (request) => conversion.item(await stored.get(request), request.signal),
    list: async (request) => all(await stored.list(request), request.signal),
    async watch(request) {
      const answer = await stored.watch(request);
      return { ...answer, cursor: conversion.cursor(answer.cursor) };
    },
    create: async (request) => one(await stored.create(request), request.signal),
    update: async (request) => one(await stored.update(request), request.signal),
    patch: async (request) => one(await stored.patch(request), request.signal),
    async delete(request) {
      const answer = await stored.delete(request);
      return answer.kind === 'object' ? one(answer, request.signal) : answer;
    },
    async deleteCollection(request) {
      return all(await stored.deleteCollection(request), request.signal);
    },
  };
}

/** By the kind of their bodies. */
const actions: ReadonlyMap<string, typeof bindingSubresource> = new Map([
  ['Binding', bindingSubresource],
  ['Eviction', evictionSubresource],
  ['TokenRequest', tokenSubresource],
]);

/**
 * Most subresources show the object itself, with other write rules (`status`, `finalize`,
 * `approval`, …): the verbs of the object tell them by their path. Those of another kind need a
 * record of their own, and those whose writes have no rules are not served.
 */
function subresourcesOf(parts: StoreParts, object: VerbTarget): ReadonlyMap<string, Subresource> {
  const served = new Map<string, Subresource>();
  const { kind: own, resetBySubresource, subresources, writableBySubresource } = parts.resource;
  const rules = { ...resetBySubresource, ...writableBySubresource };
  for (const info of subresources) {
    const { name, kind } = info;
    const isView = kind.kind === own.kind && kind.group === own.group;
    const hasRules = name === 'status' || Object.hasOwn(rules, name);
    if (isView && hasRules) served.set(name, { info, ...object });
    const scale = name === 'scale' ? scaleSubresource(parts, info) : undefined;
    if (scale !== undefined) served.set(name, scale);
    const action = actions.get(kind.kind)?.(parts, info);
    if (action !== undefined) served.set(name, action);
    const connection = connectionSubresource(parts, info);
    if (connection !== undefined) served.set(name, connection);
  }
  return served;
}
