// What handlers work on: a resource, or a subresource with its own kinds and verbs.
import type { PatchName, ResourceInfo, SubresourceInfo } from '../api/type-info.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { BodyKind } from './incoming.ts';
import type {
  ConnectRequest,
  CreateRequest,
  GetRequest,
  PatchRequest,
  UpdateRequest,
  WriteAnswer,
} from './requests.ts';

/** What a path serves: a resource, or one of its subresources. A verb that is absent is a 405. */
export interface VerbTarget {
  /** The record that answers are shown by: its kind, its columns. */
  readonly resource: ResourceInfo;
  /** What bodies hold. */
  readonly input: BodyKind;
  /** The patches it takes; absent: every kind of them. */
  readonly patches?: readonly PatchName[] | undefined;
  /** What a create answers with, where that is not `resource`: of those that act, a Status. */
  readonly createAnswer?: ResourceInfo;

  /** @throws StatusError 404, 400/504 by the resourceVersion asked for. */
  readonly get?: (request: GetRequest) => Promise<Item>;
  readonly create?: (request: CreateRequest) => Promise<WriteAnswer>;
  readonly update?: (request: UpdateRequest) => Promise<WriteAnswer>;
  readonly patch?: (request: PatchRequest) => Promise<WriteAnswer>;
}

/** A further segment below an object: with verbs, and perhaps kinds, of its own. */
export interface Subresource extends VerbTarget {
  /** As documents list it: each of its verbs has a function, or all have `connect`. */
  readonly info: SubresourceInfo;
  /**
   * Takes over the requests of all its verbs as they came, for streams in both directions and for
   * answers that another server gives (exec, attach, port-forward, proxy). Settles when nothing is
   * left to do; a failure before the answer began becomes the answer, a later one cuts it.
   */
  readonly connect?: (request: ConnectRequest) => Promise<void>;
  /** What follows it in the path is its own (proxy); else that is a 404. */
  readonly takesPath?: boolean;
}
