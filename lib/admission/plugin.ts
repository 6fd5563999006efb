// The admission contract: code between authorization and the stored object, asked about every
// write. A plugin refuses by throwing a StatusError; it reads the cluster through ResourceView
// only.
import type { GroupVersionKind, JsonObject, ResourceInfo } from '../api/type-info.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { User } from '../base/user.ts';
import type { WebhookTrail } from '../base/webhook-trail.ts';
import type { ApiObject } from '../codec/codec.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  /** The version that the request names. */
  readonly resource: ResourceInfo;
  /** '' for the main resource. */
  readonly subresource: string;
  /**
   * What the request is about, as it names it: the resource's own kind, or that of a subresource
   * that has one (Scale, Binding, Eviction, TokenRequest, options of a connection).
   */
  readonly kind: GroupVersionKind;
  /**
   * The record of the form in which `object` and `old` are: mostly the storage version, of custom
   * resources that of the request, of a subresource with a kind of its own that kind.
   */
  readonly form: ResourceInfo;
  /** '' for cluster-scoped resources. */
  readonly namespace: string;
  /** '' for CREATE before a name is generated. */
  readonly name: string;
  readonly user: User;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions or DeleteOptions as they were stated; undefined for CONNECT. */
  readonly options: JsonObject | undefined;
  /**
   * `object`, which is in `form` and is not changed, in another version of that kind; a promise
   * only where a conversion waits. @throws StatusError of the conversion.
   */
  convert(
    object: Readonly<ApiObject>,
    toApiVersion: string,
    signal: AbortSignal,
  ): MaybePromise<ApiObject>;
  /** Tells who writes, in a Warning header: each text once, however often a write is tried. */
  warn(text: string): void;
  /**
   * For the audit event: `key` is qualified by a domain; a later value replaces an earlier one.
   * `level`: the lowest at which it is told; not given: every level.
   */
  annotate(key: string, value: string, level?: 'Request'): void;
  /** undefined: the request has no deadline, and nobody asks how long it waited. */
  readonly webhookTrail?: WebhookTrail | undefined;
  /**
   * What is stored, in `form`; undefined for CREATE and CONNECT, and for DELETE of an object that
   * cannot be read.
   */
  readonly old: Readonly<ApiObject> | undefined;
}

/** All plugins that mutate, asked once. */
export interface MutatingPass {
  /** 1: because a configured plugin changed the object in pass 0. There is no third. */
  readonly index: 0 | 1;
  /** What a plugin keeps from the first pass for the second, under itself; of one write's try. */
  readonly kept: Map<AdmissionPlugin, unknown>;
}

export interface AdmissionPlugin {
  readonly name: string;
  /**
   * Its rules are objects of the API that anyone with the rights may write. What it changes begins
   * a second pass, and its refusals hold only where memory is proven to have the newest rules.
   */
  readonly isConfigured?: boolean;
  /** Changes something outside the request: a dry run that reaches it fails. */
  readonly sideEffects: boolean;
  handles(request: AdmissionRequest): boolean;
  /**
   * CREATE, UPDATE and CONNECT: may change `object`, which is in `form`. A create is asked before
   * its name is generated, an update again after each lost race, and all once more in a second
   * pass. What it makes of uid, times and status does not last. What a configured one leaves is
   * read through the schema again; the others make what the schema takes, in any order of members.
   * @returns whether it changed anything
   */
  mutate?(
    request: AdmissionRequest,
    object: ApiObject,
    signal: AbortSignal,
    pass: MutatingPass,
  ): MaybePromise<boolean>;
  /** The mutating phase of a DELETE, which has nothing to change. */
  beforeDelete?(request: AdmissionRequest, signal: AbortSignal): MaybePromise<void>;
  /**
   * Every operation, on what would be stored, after its validation; again for each try of a write.
   * `object` is undefined for DELETE.
   */
  validate?(
    request: AdmissionRequest,
    object: Readonly<ApiObject> | undefined,
    signal: AbortSignal,
  ): MaybePromise<void>;
}
