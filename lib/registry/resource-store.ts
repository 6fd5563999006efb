// One served resource in one version: its record, its view and storage, and the verbs over them.
// Verbs answer in the version of `resource`; stored objects have the version of `storedAs`. No HTTP
// here.
import type { ResourceInfo, SubresourceInfo } from '../api/type-info.ts';
import type { Item, ResourceView } from '../cacher/resource-view.ts';
import { createObject } from './create.ts';
import { deleteCollection } from './delete-collection.ts';
import { deleteObject } from './delete.ts';
import { patchObject } from './patch.ts';
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
import { servedSubresources } from './store-parts.ts';
import type { StoreParts } from './store-parts.ts';
import { updateObject } from './update.ts';

export interface ResourceStore {
  readonly resource: ResourceInfo;
  /** What is served below its objects: requests for any other are 404, documents name no other. */
  readonly subresources: readonly SubresourceInfo[];
  /** In the storage version, without conversion: for policy code and controllers. */
  readonly view: ResourceView;
  /** DELETE answers with the object as it was, not with a Status. */
  readonly answersDeletedObject?: boolean;

  /** @throws StatusError 404, 400/504 by the resourceVersion asked for. */
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
}

export function createResourceStore(parts: StoreParts): ResourceStore {
  return {
    resource: parts.resource,
    subresources: servedSubresources(parts.resource),
    view: parts.view,
    answersDeletedObject: parts.strategy.answersDeletedObject === true,
    get: (request) => getObject(parts, request),
    list: (request) => listObjects(parts, request),
    watch: (request) => watchObjects(parts, request),
    create: (request) => createObject(parts, request),
    update: (request) => updateObject(parts, request),
    patch: (request) => patchObject(parts, request),
    delete: (request) => deleteObject(parts, request),
    deleteCollection: (request) => deleteCollection(parts, request),
  };
}
