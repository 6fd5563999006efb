// What the HTTP layer reports of requests; implemented over prom-client in metrics.ts.

/**
 * Labels of one request. Unknown verbs and resources are folded by the caller, so the label sets
 * stay bounded.
 */
export interface RequestLabels {
  /**
   * GET, LIST, WATCH, POST, PUT, PATCH, APPLY, DELETE, DELETECOLLECTION, CONNECT, or the HTTP
   * method of a path.
   */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: 'resource' | 'namespace' | 'cluster' | '';
  /** `All` or ''. */
  readonly dryRun: string;
}

export type InflightKind = 'mutating' | 'readOnly' | 'longRunning';

export interface RequestOutcome {
  /** 0: the client left before an answer. */
  readonly code: number;
  readonly seconds: number;
  /** Of these, spent on admission webhooks. */
  readonly webhookSeconds?: number;
  /** Of the body, as far as it was read. */
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** Shared by all watches with the same labels. */
export interface WatchEventCount {
  /** Events that were written together, and the bytes of all of them. */
  add(eventCount: number, bytes: number): void;
}

export interface RequestMetrics {
  started(kind: InflightKind, labels: RequestLabels): void;
  finished(kind: InflightKind, labels: RequestLabels, outcome: RequestOutcome): void;
  /** Where one watch counts the events that it writes: to be asked for once. */
  watchEvents(labels: RequestLabels): WatchEventCount;
  /** A watch has all of the state that it began with. */
  watchListed(labels: RequestLabels, seconds: number): void;
  /** A request ended by its deadline or by the server before it was answered. */
  aborted(labels: RequestLabels): void;
  tlsHandshakeFailed(): void;
}
