// Writes of the server's own parts, each as a user with a name: through the verbs of the stores, so
// that admission, validation and audit hold for them as for everybody. They read through views.
import type { JsonValue } from '../api/type-info.ts';
import { cloneAlike } from '../api/json-value.ts';
import { BeginAnew } from '../base/begin-anew.ts';
import { pathNotFound } from '../base/status.ts';
import { StoreReplaced } from './store-replaced.ts';
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
import type { VerbTarget } from './verb-target.ts';

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
    create(store, { namespace, object }, signal) {
      const path = { namespace, name: '', subresource: '' };
      return anew(async () => {
        const body = { object: cloneAlike(object), problems: [] };
        return (await within(store).create({ ...scope(signal), path, body, options })).item;
      }, signal);
    },
    update(store, { path, object }, signal) {
      return anew(async () => {
        const target = targetOf(within(store), path);
        if (target?.update === undefined) throw pathNotFound();
        const body = { object: cloneAlike(object), problems: [] };
        return (await target.update({ ...scope(signal), path, body, options })).item;
      }, signal);
    },
    patch(store, { path, kind, patch, fieldManager = user.name, force }, signal) {
      const asIs: WriteOptions = { ...options, fieldValidation: 'Ignore', fieldManager, force };
      return anew(async () => {
        const target = targetOf(within(store), path);
        if (target?.patch === undefined) throw pathNotFound();
        const request = { path, kind, patch: Buffer.from(JSON.stringify(patch)) };
        return (await target.patch({ ...scope(signal), ...request, options: asIs })).item;
      }, signal);
    },
    delete(store, { path, options: wished }, signal) {
      const request = { ...scope(signal), path, options: { ...plainDeletion, ...wished } };
      return anew(() => within(store).delete(request), signal);
    },
    deleteCollection(store, request, signal) {
      const all = { ...scope(signal), ...request, list: everything, options: plainDeletion };
      return anew(() => within(store).deleteCollection(all), signal);
    },
  };
}

const targetOf = (store: ResourceStore, { subresource }: ObjectPath): VerbTarget | undefined =>
  subresource === '' ? store : store.subresources.get(subresource);

/** A store that was replaced cannot be found here: that is its caller's to do. */
async function anew<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof BeginAnew) || error instanceof StoreReplaced) throw error;
      await error.renewed(signal);
    }
  }
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
