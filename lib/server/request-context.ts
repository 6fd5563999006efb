// What a request knows about itself on its way through the filters: a typed record, no bag of
// strings.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Waiter } from '../base/abort.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { User } from '../base/user.ts';
import type { ProxyHandler } from '../registry/proxy-entry.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { RequestLabels } from '../telemetry/request-metrics.ts';

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
  /** Segments after the subresource (proxy paths). */
  readonly rest: readonly string[];
  /** The path leads through a namespace to a resource: `/namespaces/NAMESPACE/RESOURCE`. */
  readonly isInNamespace: boolean;
  /** The path addresses one item (it has a segment after the resource, possibly empty). */
  readonly isItem: boolean;
  /** `/watch/` prefix paths of old clients. */
  readonly isWatchPath: boolean;
}

/** As a Waiter it ends at the deadline of the request, when the client leaves, or as drain ends. */
export interface RequestContext extends Waiter {
  readonly info: RequestInfo;
  /**
   * What serves the resource that the path names, found once: the map of resources may be another
   * one a moment later. undefined: nothing does, or the path names none.
   */
  readonly store: ResourceStore | undefined;
  /** What the request is handed on to in place of a store, found with it. */
  readonly proxy: ProxyHandler | undefined;
  readonly receivedAtMs: number;
  readonly auditId: string;
  user: User | undefined;
  /** Texts for Warning headers (code 299), in order, each once. */
  readonly warnings: string[];
  /** Annotations for the request's audit event, made with the first one. */
  auditAnnotations: Map<string, string> | undefined;
  /** For metrics; what is not served has no names in them. */
  readonly labels: RequestLabels;
  /** Bytes of the body that were answered so far. */
  responseBytes: number;
  /** A watch: its deadline ends the stream instead of failing the request. */
  isStreaming: boolean;
  /** On the monotonic clock. */
  deadlineMs: number;
  /** Fires the signal with `reason`; later calls change nothing. */
  end(reason: Error): void;
}

export type HttpRequest = (IncomingMessage | Http2ServerRequest) & { context: RequestContext };
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** Runs everything that follows a filter; called once at most. Its failure is the filter's own. */
export type Next = () => MaybePromise<void>;

/**
 * A filter answers, throws a StatusError, or gives what `next` gives. It wraps what follows: what
 * it does before and after `next`, or in its own `catch`. What answers at once makes no promise.
 * The first line of its file says what it may answer.
 */
export type Filter = (
  request: HttpRequest,
  response: HttpResponse,
  next: Next,
) => MaybePromise<void>;
