// What a request knows about itself on its way through the filters: a typed record, no bag of
// strings.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestAudit } from '../audit/request-audit.ts';
import type { Waiter } from '../base/abort.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { User } from '../base/user.ts';
import type { WebhookTrail } from '../base/webhook-trail.ts';
import type { ProxyHandler } from '../registry/proxy-entry.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Subresource } from '../registry/verb-target.ts';
import type { RequestLabels } from '../telemetry/request-metrics.ts';
import type { RequestSpan } from '../telemetry/tracing.ts';
import type { Connection } from './connections.ts';
import type { Http2Request } from './http2/request.ts';
import type { Http2Response } from './http2/response.ts';
import type { Expiring } from './open-requests.ts';

export type RequestKind = 'resource' | 'nonResource';

/** The URL and method, understood once; pure result of request-info.ts. */
export interface RequestInfo {
  readonly kind: RequestKind;
  /** Decoded path that both authorization and routing use. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly method: string;
  /**
   * API verb (`list`, `watch`, `deletecollection`, …; '' for methods that have none) or the
   * lower-case method for non-resource paths.
   */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  /**
   * As authorization sees it: also of the path of a namespace itself, whose resource lies in none.
   */
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  /** Segments after the subresource (proxy paths); the last one is '' behind a slash. */
  readonly rest: readonly string[];
  /** The path leads through a namespace to a resource: `/namespaces/NAMESPACE/RESOURCE`. */
  readonly isInNamespace: boolean;
  /** The path addresses one item (it has a segment after the resource). */
  readonly isItem: boolean;
  /** `/watch/` prefix paths of old clients. */
  readonly isWatchPath: boolean;
}

/**
 * One request from its first byte to its last. As a Waiter it ends at its deadline, when the client
 * leaves, or as drain ends.
 */
export interface RequestContext extends Waiter, Expiring {
  readonly info: RequestInfo;
  /**
   * What serves the resource that the path names, as `find` has found it: the map of resources may
   * be another one a moment later. undefined: nothing does, or the path names none.
   */
  readonly store: ResourceStore | undefined;
  /** What the request is handed on to in place of a store, found with it. */
  readonly proxy: ProxyHandler | undefined;
  /** Of that store; undefined: it has none of the name, or the path names none. */
  readonly subresource: Subresource | undefined;
  /** Looks in the map of resources again: at the start it was not proven, or it has changed. */
  find(): void;
  /** What the client sent, once it was read; a request that begins anew has it from here. */
  body: Buffer | undefined;
  /** On the monotonic clock, as all times here. */
  readonly receivedAtMs: number;
  readonly auditId: string;
  /** undefined: it was gone before its request was seen. */
  connection: Connection | undefined;
  /** Whose rights count: who asks, or who they act as. */
  user: User | undefined;
  /** Who asks, where that is not `user`; undefined: nobody is impersonated. */
  impersonator: User | undefined;
  /** The permission that limits what may be done as `user`, for audit; '': nothing does. */
  impersonationConstraint: string;
  /** Texts for Warning headers (code 299), in order, each once. */
  readonly warnings: string[];
  /** What its audit events show; undefined: none are made. */
  audit: RequestAudit | undefined;
  /** Whoever is told that the response is over, for them; undefined: nobody. */
  auditEnd: { closed(): void } | undefined;
  /** When it came to be authenticated, by the clock, for its trace. */
  arrivedAtMs: number | undefined;
  /** Of its trace; undefined: none is recorded. */
  span: RequestSpan | undefined;
  /** Made on first use: most requests meet no webhook. */
  readonly webhookTrail: WebhookTrail;
  /** How long it has waited for webhooks; 0: it met none. */
  readonly webhookMs: number;
  /** Annotations for the request's audit event; those of `audit`, where that is. */
  auditAnnotations: Map<string, string> | undefined;
  /** For metrics; what is not served has no names in them. */
  readonly labels: RequestLabels;
  /** Bytes of the request's body that were read. */
  requestBytes: number;
  /** Bytes of the body that were answered so far. */
  responseBytes: number;
  /** Its deadline and a drain end the stream in peace instead of failing the request. */
  readonly isStreaming: boolean;
  /** The answer has begun and goes on until `untilMs`; called by whoever streams, once. */
  startStreaming(untilMs: number): void;
  /** Calls `listener` once the request streams; never, where the answer is no stream. */
  whenStreaming(listener: () => void): void;
  /** Fires the signal with `reason`; later calls change nothing. */
  end(reason: Error): void;
}

export type HttpRequest = (IncomingMessage | Http2Request) & { context: RequestContext };
export type HttpResponse = ServerResponse | Http2Response;

/** Runs everything that follows a filter; called once at most. Its failure is the filter's own. */
export type Next = () => MaybePromise<void>;

/**
 * A filter answers, throws a StatusError, or gives what `next` gives. It wraps what follows: what
 * it does before and after `next`, or in its own `catch`. What answers at once makes no promise.
 * The first line of its file says what it may answer.
 */
export interface Filter {
  (request: HttpRequest, response: HttpResponse, next: Next): MaybePromise<void>;
  /**
   * Called when the response is over, whole or not, of each request that came to this filter; the
   * innermost filter first. A filter that keeps something for one request listens to the response
   * itself instead: this costs a request nothing.
   */
  readonly closed?: (request: HttpRequest, response: HttpResponse) => void;
}
