// What a resource may add to the generic verbs: a plain object literal, every member optional.
// An absent member means the behaviour that the resource's record (ResourceInfo) describes.
import type { JsonObject } from '../api/type-info.ts';
import type { FieldError, StatusError } from '../base/status.ts';
import type { User } from '../base/user.ts';
import type { WebhookTrail } from '../base/webhook-trail.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { ApiObject } from '../codec/codec.ts';

/**
 * Who writes, and how. Made by the caller of a verb; `warnings` collects texts for Warning headers.
 */
export interface WriteContext {
  readonly user: User;
  /** `All`: run every stage but the final store step (specification 1, Dry run). */
  readonly dryRun: boolean;
  readonly fieldManager: string;
  /** Members of the request's options as they were stated; undefined: none of them was. */
  readonly statedOptions?: JsonObject | undefined;
  /** '' for the main resource, else `status`, `scale`, … */
  readonly subresource: string;
  readonly warnings: string[];
  /** What its audit event is to say, by key; undefined: there is none. */
  readonly annotations?: Map<string, string> | undefined;
  /** undefined: it has no deadline, and nobody asks how long it waited. */
  readonly webhookTrail?: WebhookTrail | undefined;
  readonly nowMs: number;
  /** The `apiVersion` that the request names; objects are in the storage version. */
  readonly apiVersion: string;
  /** What else the user may do; undefined: everything. */
  readonly permissions?: Permissions | undefined;
}

/** What is absent is as the request has it. */
export interface Permission {
  readonly verb: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Of who sent a request. */
export interface Permissions {
  /** Of the request itself. */
  readonly verb: string;
  /** Why the user may not; undefined: the permission is there. */
  refusalOf(permission: Permission): Promise<string | undefined>;
}

/** Whether a feature gate is on. */
export type GateCheck = (gate: string) => boolean;

export interface DeletionPlan {
  /** 0: remove at once (unless finalizers hold it). Of any size: the caller bounds it. */
  readonly graceSeconds: number;
}

/** Where counting differs: 1 at first, one more when anything but metadata and status changes. */
export interface GenerationRule {
  /** Members of metadata that count, too. */
  readonly metadata?: readonly string[];
  /** Fields of switched-off features count before they are dropped. */
  readonly countsDropped?: boolean;
  /** A status without a subresource of its own is written like all else, and counts. */
  readonly countsPlainStatus?: boolean;
  /** `create`: 1 for good; `update`: nothing before the first change. */
  readonly only?: 'create' | 'update';
}

export interface ResourceStrategy {
  /** Changes `object` before validation; `old` is undefined on create. */
  prepare?(
    object: ApiObject,
    old: Readonly<ApiObject> | undefined,
    context: WriteContext,
    isOn: GateCheck,
  ): void;
  /** Rules that ask others: the authorizer, the store for another object. They come first. */
  authorize?(
    object: Readonly<ApiObject>,
    old: Readonly<ApiObject> | undefined,
    context: WriteContext,
    of: { readonly isOn: GateCheck; readonly signal: AbortSignal },
  ): MaybePromise<readonly FieldError[]>;
  /** What the rules look at instead of the object, where that is not all of it. */
  asValidated?(object: Readonly<ApiObject>): Readonly<ApiObject>;
  /** `declared`: what the rules beside the fields have found; some of it may be taken back. */
  validate?(
    object: Readonly<ApiObject>,
    old: Readonly<ApiObject> | undefined,
    context: WriteContext,
    isOn: GateCheck,
    declared: FieldError[],
  ): readonly FieldError[];
  /**
   * Further rules, which may take several turns; some of what was found before may be taken back.
   * What the writer of a valid object is told goes to the warnings of `context`.
   */
  validateInTurns?(
    object: Readonly<ApiObject>,
    old: Readonly<ApiObject> | undefined,
    context: WriteContext,
    isOn: GateCheck,
    found: FieldError[],
  ): MaybePromise<readonly FieldError[]>;
  /** `validate` has all rules: those in options of fields only describe. */
  readonly rulesByHand?: boolean;
  /** Handwritten forms of rules that are options of fields (gate DeclarativeValidation). */
  validateMigrated?(
    object: Readonly<ApiObject>,
    old: Readonly<ApiObject> | undefined,
    context: WriteContext,
    isOn: GateCheck,
  ): readonly FieldError[];
  /** What the writer of a valid object is told. */
  warnings?(
    object: Readonly<ApiObject>,
    old: Readonly<ApiObject> | undefined,
    context: WriteContext,
  ): readonly string[];
  /** Graceful deletion; absent: removed at once. `requestedSeconds` from the delete options. */
  deletion?(object: Readonly<ApiObject>, requestedSeconds: number | undefined): DeletionPlan;
  /** Lifetime of the stored object in seconds (events); absent: forever. */
  ttlSeconds?(object: Readonly<ApiObject>): number | undefined;
  /** Whether more than `metadata.finalizers` keeps an object whose deletion has begun. */
  isHeld?(object: Readonly<ApiObject>): boolean;
  /** Marks an object whose deletion begins, in place of a grace period and a new generation. */
  beginDeletion?(object: ApiObject): void;
  /** Put on where deletion begins, in place of what the policy of the DELETE asks for. */
  readonly deletionFinalizer?: string;
  /** Why nobody may make an object of this name; absent: they may. */
  whyNoNew?(name: string): StatusError;
  /** Why nobody may delete the object of this name; undefined: they may. */
  whyKept?(name: string): string | undefined;
  /** DELETE answers the object even when it is gone at once. */
  readonly answersDeletedObject?: boolean;
  /**
   * What a DELETE without a policy does to dependents; absent: the garbage collector deletes them.
   * `none`: there are none, and no policy leaves a finalizer.
   */
  readonly dependents?: 'orphaned' | 'none';
  /** Said to who deletes without a policy. */
  readonly defaultPolicyWarning?: string;
  /** Writes that take finalizers which are neither standard nor qualified by a domain. */
  readonly takesUnqualifiedFinalizers?: 'always' | 'onUpdate' | 'inCoreGroup';
  /** What is wrong is refused in an update, too, where nothing was changed. */
  readonly validatesUnchanged?: boolean;
  readonly generation?: GenerationRule;
  /** Names an object that came with neither a name nor a prefix of one. */
  defaultName?(): string;
  /**
   * By subresource: what its writes leave as it is, where that is not what an apply through it may
   * not own.
   */
  readonly keptBySubresource?: Readonly<Record<string, readonly string[]>>;
  /** By subresource: the only fields that its writes change, whatever an apply may own. */
  readonly writtenBySubresource?: Readonly<Record<string, readonly string[]>>;
  /** Create takes the client's `status`, although the kind has a status subresource. */
  readonly keepsStatusOnCreate?: boolean;
}
