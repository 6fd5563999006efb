// Writes of the server's own parts, each as a user with a name: through the verbs of the stores, so
// that admission, validation and audit hold for them as for everybody. They read through views.
import type { JsonValue } from '../api/type-info.ts';
import { pathNotFound } from '../base/status.ts';
import type { User } from '../base/user.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { fencedStorage } from '../storage-etcd/fenced-storage.ts';
import type { Term } from '../storage-etcd/fenced-storage.ts';
import type {
  DeleteAnswer,
  DeleteCollectionRequest,
  DeleteOptions,
  ListAnswer,
  ListOptions,
  ObjectPath,
  PatchKind,
  RequestScope,
  WriteOptions,
} from './requests.ts';
import type { ResourceStore } from './resource-store.ts';

export interface InternalClient {
  readonly user: User;
  /** `object` is in the version of `store` and used up. @throws StatusError as the verb does. */
  create(
    store: ResourceStore,
    request: { readonly namespace: string; readonly object: ApiObject },
    signal: AbortSignal,
  ): Promise<Item>;
  /** An object that states its resourceVersion is written only over that version: else 409. */
  update(
    store: ResourceStore,
    request: { readonly path: ObjectPath; readonly object: ApiObject },
    signal: AbortSignal,
  ): Promise<Item>;
  /** A uid in the patch is a precondition. Fields that the kind does not know are left alone. */
  patch(
    store: ResourceStore,
    request: {
      readonly path: ObjectPath;
      readonly kind: PatchKind;
      readonly patch: JsonValue;
      /** Default: the user. */
      readonly fieldManager?: string;
      /** Only for apply patches: takes fields from others. */
      readonly force?: boolean;
    },
    signal: AbortSignal,
  ): Promise<Item>;
  delete(
    store: ResourceStore,
    request: { readonly path: ObjectPath; readonly options?: Partial<DeleteOptions> },
    signal: AbortSignal,
  ): Promise<DeleteAnswer>;
  deleteCollection(
    store: ResourceStore,
    request: Pick<DeleteCollectionRequest, 'namespace' | 'confirm'>,
    signal: AbortSignal,
  ): Promise<ListAnswer>;
}

/**
 * `term`: every write holds within it alone, by a condition in its own transaction, and rejects
 * with TermEnded once it is over.
 */
export function internalClient(user: User, term?: Term): InternalClient {
  const fenced = new WeakMap<ResourceStore, ResourceStore>();
  const within = (store: ResourceStore): ResourceStore => {
    if (term === undefined) return store;
    let made = fenced.get(store);
    if (made === undefined) {
      made = store.over((storage) => fencedStorage(storage, term));
      fenced.set(store, made);
    }
    return made;
  };
  const scope = (signal: AbortSignal): RequestScope => ({ user, warnings: [], signal });
  const options: WriteOptions = {
    dryRun: false,
    fieldManager: user.name,
    fieldValidation: 'Strict',
    force: undefined,
  };
  return {
    user,
    async create(store, { namespace, object }, signal) {
      const body = { object, problems: [] };
      const path = { namespace, name: '', subresource: '' };
      return (await within(store).create({ ...scope(signal), path, body, options })).item;
    },
    async update(store, { path, object }, signal) {
      const body = { object, problems: [] };
      const whole = within(store);
      const target = path.subresource === '' ? whole : whole.subresources.get(path.subresource);
      if (target?.update === undefined) throw pathNotFound();
      return (await target.update({ ...scope(signal), path, body, options })).item;
    },
    async patch(store, { path, kind, patch, fieldManager = user.name, force }, signal) {
      const whole = within(store);
      const target = path.subresource === '' ? whole : whole.subresources.get(path.subresource);
      if (target?.patch === undefined) throw pathNotFound();
      const request = { path, kind, patch: Buffer.from(JSON.stringify(patch)) };
      const asIs: WriteOptions = { ...options, fieldValidation: 'Ignore', fieldManager, force };
      return (await target.patch({ ...scope(signal), ...request, options: asIs })).item;
    },
    delete: (store, { path, options: wished }, signal) =>
      within(store).delete({ ...scope(signal), path, options: { ...plainDeletion, ...wished } }),
    deleteCollection: (store, request, signal) =>
      within(store).deleteCollection({
        ...scope(signal),
        ...request,
        list: everything,
        options: plainDeletion,
      }),
  };
}

const plainDeletion: DeleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  orphanDependents: undefined,
  propagationPolicy: undefined,
  preconditions: { uid: undefined, resourceVersion: undefined },
  ignoreReadError: false,
};

const everything: ListOptions = {
  labelSelector: '',
  fieldSelector: '',
  watch: false,
  allowWatchBookmarks: false,
  resourceVersion: '',
  resourceVersionMatch: '',
  timeoutSeconds: undefined,
  limit: 0,
  continueToken: '',
  sendInitialEvents: undefined,
};
