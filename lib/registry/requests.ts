// What the verbs of a resource take and give: typed records, no query strings and no HTTP, except
// for `connect`. options.ts makes the option records from query parameters and bodies.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { JsonObject, PatchName } from '../api/type-info.ts';
import type { WaitEnd } from '../base/abort.ts';
import type { Item, WatchCursor } from '../cacher/resource-view.ts';
import type { ApiObject, Decoded } from '../codec/codec.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import type { StatusBody } from '../base/status.ts';
import type { User } from '../base/user.ts';
import type { WebhookTrail } from '../base/webhook-trail.ts';
import type { Permissions } from '../kinds/strategy.ts';

/**
 * What every verb needs to know about its request. Texts pushed to `warnings` become Warning
 * headers.
 */
export interface RequestScope {
  readonly user: User;
  readonly warnings: string[];
  /** What its audit event is to say, by key; absent: there is none. */
  readonly annotations?: Map<string, string> | undefined;
  /** Absent: it has no deadline, and nobody asks how long it waited. */
  readonly webhookTrail?: WebhookTrail | undefined;
  readonly signal: AbortSignal;
  /** What else the user may do; absent: everything. */
  readonly permissions?: Permissions;
}

/**
 * Where the object of a request lives. `namespace` is '' for cluster-scoped resources and
 * all-namespaces lists.
 */
export interface ObjectPath {
  readonly namespace: string;
  readonly name: string;
  /** '' for the main resource. */
  readonly subresource: string;
}

/** Query of GET on one object. */
export interface GetOptions {
  readonly resourceVersion: string;
}

/** Query of a list, watch or deletecollection; texts as sent, numbers and booleans parsed. */
export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** undefined: not given, or 0. */
  readonly timeoutSeconds: number | undefined;
  /** 0 or less: no limit. */
  readonly limit: number;
  readonly continueToken: string;
  readonly sendInitialEvents: boolean | undefined;
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Query of create, update and patch. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** Who writes: as the client says, or else as it calls itself. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Only for apply patches. */
  readonly force: boolean | undefined;
  /** What of it the client has stated itself, as it has; absent: nothing. */
  readonly stated?: JsonObject;
}

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

/** DeleteOptions of body and query together. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly propagationPolicy: PropagationPolicy | undefined;
  readonly preconditions: {
    readonly uid: string | undefined;
    readonly resourceVersion: string | undefined;
  };
  /** `ignoreStoreReadErrorWithClusterBreakingPotential`. */
  readonly ignoreReadError: boolean;
  /** Members as the client has stated them, but for `dryRun`; absent: none. */
  readonly stated?: JsonObject;
}

export interface CreateRequest extends RequestScope {
  /** The name is '' unless it is a subresource that is created: then it is the parent's. */
  readonly path: ObjectPath;
  readonly body: Decoded;
  readonly options: WriteOptions;
}

export interface UpdateRequest extends RequestScope {
  readonly path: ObjectPath;
  /** Used up. */
  readonly body: Decoded;
  /** The same once more, where it can be read again for less than a copy of each costs. */
  readonly readAgain?: (() => Decoded) | undefined;
  readonly options: WriteOptions;
  /** Called before a PUT creates an absent object; throws 403 when the user may not. */
  readonly authorizeCreate?: (signal: AbortSignal) => Promise<void>;
}

/** The Content-Type of a PATCH. */
export type PatchKind = PatchName;

export interface PatchRequest extends RequestScope {
  readonly path: ObjectPath;
  readonly kind: PatchKind;
  readonly patch: Uint8Array;
  readonly options: WriteOptions;
  /** Called before an apply creates an absent object; throws 403 when the user may not. */
  readonly authorizeCreate?: (signal: AbortSignal) => Promise<void>;
}

export interface DeleteRequest extends RequestScope {
  readonly path: ObjectPath;
  readonly options: DeleteOptions;
  /** Called for the unsafe delete of an unreadable object; throws 403 when the user may not. */
  readonly authorizeUnsafeDelete?: (signal: AbortSignal) => Promise<void>;
}

export interface DeleteCollectionRequest extends RequestScope {
  readonly namespace: string;
  readonly list: ListOptions;
  readonly options: DeleteOptions;
  /** Called between the listing and the first deletion; what it throws ends the request. */
  readonly confirm?: (signal: AbortSignal) => Promise<void>;
}

export interface GetRequest {
  readonly path: ObjectPath;
  readonly options: GetOptions;
  readonly signal: WaitEnd;
}

export interface ListRequest {
  readonly namespace: string;
  /** Set for watches of one object (`/watch/…/NAME`); '' otherwise. */
  readonly name: string;
  readonly options: ListOptions;
  /** For the server's own lists: as of `Selection`. */
  readonly showsUnreadable?: boolean;
  readonly signal: AbortSignal;
}

/**
 * The written object, ready to send. `item.revision` is 0 when nothing of it is stored (dry-run
 * create).
 */
export interface WriteAnswer {
  readonly item: Item;
  /** True: 201; false: 200. A PUT that made the object says true. */
  readonly created: boolean;
  /** Of `item`, at hand since it was just written. */
  readonly written?: InHand | undefined;
}

/** The object of an item that nobody needs to decode. */
export interface InHand {
  readonly item: Item;
  /** As `EncodedStored` has it. */
  readonly canonical: Readonly<ApiObject>;
}

export type DeleteAnswer =
  /** The object is kept for now (finalizers, grace period), or its kind answers the object. */
  | { readonly kind: 'object'; readonly item: Item; readonly isKept: boolean }
  /** Gone: 200 with a Status of success. */
  | { readonly kind: 'status'; readonly status: StatusBody };

/**
 * One page of a list. Items are in the version of the request; so are `item.object()` and all its
 * bytes.
 */
export interface ListAnswer {
  readonly items: readonly Item[];
  readonly revision: Revision;
  /** '' at the end. */
  readonly continueToken: string;
  /** undefined: left out of the answer. */
  readonly remainingItemCount: number | undefined;
}

/** A started watch. Events carry items in the version of the request. */
export interface WatchAnswer {
  readonly cursor: WatchCursor;
  /** undefined: the server chooses. */
  readonly timeoutSeconds: number | undefined;
  readonly allowBookmarks: boolean;
}

/**
 * A request as it came, admitted by all filters: nothing of its body is read and nothing answered.
 * It has no deadline; its signal fires when the client leaves and when the server drains.
 */
export interface ConnectRequest extends RequestScope {
  readonly path: ObjectPath;
  /** Decoded segments of the path after the subresource. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
  /** Its `headers` are without credentials, its `rawHeaders` are as they were sent. */
  readonly request: SentRequest;
  readonly response: ConnectResponse;
  /**
   * Of a request to change the protocol (HTTP/1.1 alone): its bare socket, and what has been read
   * of it. Whoever answers 101 there sets the status of `response` to it, which ends HTTP on the
   * connection; until then `response` may refuse or answer as ever.
   */
  readonly upgrade: { readonly socket: Duplex; readonly head: Buffer } | undefined;
}

/** What the requests of both versions of HTTP have. */
export interface SentRequest extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
  readonly socket: Pick<Socket, 'remoteAddress' | 'remotePort'>;
}

/** What the responses of both versions of HTTP have. */
export interface ConnectResponse extends Writable {
  statusCode: number;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
}
