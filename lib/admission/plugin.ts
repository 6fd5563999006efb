// The admission contract: code between authorization and the stored object, asked about every
// write. A plugin refuses by throwing a StatusError; it reads the cluster through ResourceView
// only.
import type { ResourceInfo } from '../api/type-info.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { User } from '../base/user.ts';
import type { ApiObject } from '../codec/codec.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  /** The version that the request names; objects are in the storage version. */
  readonly resource: ResourceInfo;
  /** '' for the main resource. */
  readonly subresource: string;
  /** '' for cluster-scoped resources. */
  readonly namespace: string;
  /** '' for CREATE before a name is generated. */
  readonly name: string;
  readonly user: User;
  readonly dryRun: boolean;
  /** Tells who writes, in a Warning header: each text once, however often a write is tried. */
  warn(text: string): void;
  /** For the audit event: `key` is qualified by a domain; a later value replaces an earlier one. */
  annotate(key: string, value: string): void;
  /** What is stored; undefined for CREATE, and for DELETE of an object that cannot be read. */
  readonly old: Readonly<ApiObject> | undefined;
}

export interface AdmissionPlugin {
  readonly name: string;
  /** Changes something outside the request: a dry run that reaches it fails. */
  readonly sideEffects: boolean;
  handles(request: AdmissionRequest): boolean;
  /**
   * CREATE and UPDATE: may change `object`, which is in the storage version. A create is asked
   * once, before its name is generated; an update again after each lost race. What it makes of
   * uid, times and status does not last, and the whole is read through the schema again.
   * @returns whether it changed anything
   */
  mutate?(request: AdmissionRequest, object: ApiObject, signal: AbortSignal): MaybePromise<boolean>;
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
