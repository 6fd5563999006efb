// The connection to an etcd cluster: stays with one member and goes on to the next when that one
// fails. Reads are repeated on another member until their deadline; a write only when no member
// started it.
import { abortable, sleep } from '../base/abort.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import { Endpoint } from './endpoint.ts';
import type { EtcdTlsFiles, EtcdTransport } from './endpoint.ts';
import { effectOf, EtcdError, unknownOutcome, unreachable } from './etcd-error.ts';
import { wasPerhapsDropped } from './etcd-error.ts';
import { Fence } from './fence.ts';
import { rangeMethod, statusMethod } from './rpc.ts';
import type { Method, ResponseHeader } from './rpc.ts';
import type { Epoch, StorageHealth, StorageMetrics } from './storage.ts';
import type { SpanAttributes, Tracing } from '../telemetry/tracing.ts';

export interface ConnectionOptions {
  /** `https://host:port` or `http://host:port`, one a member. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTlsFiles;
  /** How long one try of a read waits for its answer before another member is asked. */
  readonly readAttemptMs?: number;
  /** How long a read, with all its tries, may take. */
  readonly readTimeoutMs?: number;
  /** How long a write waits: to be sent, and then for its answer. */
  readonly writeTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Pause before a silent connection is probed; a dead one is then noticed 5 s later. */
  readonly keepaliveMs?: number;
  readonly metrics?: StorageMetrics;
  /** Default: `http2`. */
  readonly transport?: EtcdTransport;
  /** undefined: calls are not traced. */
  readonly tracing?: Tracing | undefined;
}

export interface CallOptions {
  /** `read`: may be repeated freely. `write`: must happen at most once. */
  readonly effect: 'read' | 'write';
  /** The answer's revision cannot be below one that was seen before: checked by the fence. */
  readonly isLinearizable: boolean;
  /** The caller repeats a write that was perhaps dropped, in its epoch: the member is not left. */
  readonly isRepeatable?: boolean;
  /** Sent in this epoch only. @throws EpochEnded */
  readonly epoch?: Epoch | undefined;
}

/** Nothing was sent: what the request compares with may be of another history of the store. */
export class EpochEnded extends Error {}

const memberRead = { effect: 'read', isLinearizable: false } as const;

export class EtcdConnection {
  readonly fence = new Fence();
  readonly #endpoints: readonly Endpoint[];
  readonly #metrics: StorageMetrics | undefined;
  readonly #tracing: Tracing | undefined;
  readonly #timeouts: {
    readonly connectMs: number;
    readonly readAttemptMs: number;
    readonly readMs: number;
    readonly writeMs: number;
  };
  #current = 0;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    invariant(options.endpoints.length > 0, 'an etcd cluster has at least one endpoint');
    this.#timeouts = {
      connectMs: options.connectTimeoutMs ?? limits.etcdConnectTimeoutMs,
      readAttemptMs: options.readAttemptMs ?? limits.etcdReadAttemptMs,
      readMs: options.readTimeoutMs ?? limits.etcdReadTimeoutMs,
      writeMs: options.writeTimeoutMs ?? limits.etcdWriteTimeoutMs,
    };
    this.#metrics = options.metrics;
    this.#tracing = options.tracing;
    const keepaliveMs = options.keepaliveMs ?? limits.etcdKeepAliveMs;
    const { transport = 'http2' } = options;
    this.#endpoints = options.endpoints.map((url, index) => {
      const onLost = (): void => {
        this.#lost(index);
      };
      return new Endpoint(url, options.tls ?? {}, { transport, keepaliveMs, onLost });
    });
  }

  get health(): StorageHealth {
    const versions = Object.create(null) as Record<string, string>;
    for (const endpoint of this.#endpoints) {
      if (endpoint.version !== '') versions[endpoint.url] = endpoint.version;
    }
    return {
      canRequestProgress: this.canRequestProgress,
      clusterId: this.fence.clusterId,
      versions,
    };
  }

  /** No member is known to be too old; the one in use was checked since it connected. */
  get canRequestProgress(): boolean {
    return (
      this.#endpoint.versionState === 'supported' &&
      this.#endpoints.every((endpoint) => endpoint.versionState !== 'unsupported')
    );
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get #endpoint(): Endpoint {
    const endpoint = this.#endpoints[this.#current];
    invariant(endpoint !== undefined, 'the current endpoint exists');
    return endpoint;
  }

  /**
   * One unary call. @throws StatusError 503: nothing was done; 504: the outcome of a write is
   * unknown; EtcdError: etcd refused, which the caller interprets; `signal.reason` on abort (a
   * write may be done).
   */
  async call<Request, Response extends { readonly header: ResponseHeader }>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<Response> {
    const startMs = performance.now();
    let isOk = false;
    try {
      const response = await (this.#tracing === undefined
        ? this.#tryMembers(method, request, options, signal)
        : this.#traced(this.#tracing, method, request, options, signal));
      isOk = true;
      return response;
    } finally {
      this.#metrics?.call(method.name, (performance.now() - startMs) / 1_000, isOk);
    }
  }

  #traced<Request, Response extends { readonly header: ResponseHeader }>(
    tracing: Tracing,
    method: Method<Request, Response>,
    ...rest: readonly [Request, CallOptions, AbortSignal]
  ): Promise<Response> {
    return tracing.within(
      `etcdserverpb.${method.name}`,
      () => spanAttributes(method),
      () => this.#tryMembers(method, ...rest),
      true,
    );
  }

  async #tryMembers<Request, Response extends { readonly header: ResponseHeader }>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<Response> {
    const isRead = options.effect === 'read';
    const lastMs = Date.now() + (isRead ? this.#timeouts.readMs : this.#timeouts.writeMs);
    for (let delayMs: number = limits.etcdRetryFirstMs; ; delayMs = laterMs(delayMs)) {
      const current = this.#endpoint;
      const isThere = current.isConnected && !signal.aborted;
      const endpoint = isThere ? current : await this.endpoint(lastMs, signal);
      const nowMs = Date.now();
      const attemptMs = isRead ? this.#timeouts.readAttemptMs : this.#timeouts.writeMs;
      const deadlineMs = isRead ? Math.min(nowMs + attemptMs, lastMs) : nowMs + attemptMs;
      const { epoch, seenRevision } = this.fence;
      if (options.epoch !== undefined && options.epoch !== epoch) throw new EpochEnded();
      try {
        const headers = this.#tracing?.headers();
        const response = await endpoint.call(method, request, deadlineMs, signal, headers);
        const { cluster_id: clusterId, revision } = response.header;
        if (options.isLinearizable) {
          this.fence.observe(clusterId.toString(), revision, { epoch, seenRevision });
        }
        return response;
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        const effect = effectOf(error);
        if (effect === 'final') throw error;
        const isStaying = options.isRepeatable === true && wasPerhapsDropped(error);
        if (!isStaying) this.leave(endpoint);
        if (!isRead && effect === 'unknown') throw unknownOutcome(error);
        if (Date.now() + delayMs >= lastMs) throw unreachable(error);
      }
      await sleep(delayMs, signal);
    }
  }

  /**
   * The member in use, connected; goes through the others when it is not. @throws StatusError 503
   */
  async endpoint(lastMs: number, signal: AbortSignal): Promise<Endpoint> {
    for (let delayMs: number = limits.etcdRetryFirstMs; ; delayMs = laterMs(delayMs)) {
      for (const _ of this.#endpoints) {
        if (signal.aborted) throw signal.reason as Error;
        if (this.#isClosed) throw unreachable('the connection was closed');
        const endpoint = this.#endpoint;
        const deadlineMs = Math.min(Date.now() + this.#timeouts.connectMs, lastMs);
        if (await abortable(endpoint.connect(deadlineMs), signal)) return endpoint;
        this.leave(endpoint);
      }
      if (Date.now() + delayMs >= lastMs) throw unreachable('no member answers');
      await sleep(delayMs, signal);
    }
  }

  /** The version of a member that answers. @throws StatusError 503 */
  async version(signal: AbortSignal): Promise<string> {
    return (await this.call(statusMethod, {}, memberRead, signal)).version;
  }

  /** Size of the database of the member in use. @throws StatusError 503 */
  async databaseBytes(signal: AbortSignal): Promise<number> {
    return (await this.call(statusMethod, {}, memberRead, signal)).db_size;
  }

  /**
   * Asks every member by itself for a linearizable read: undefined for each that answers, else why
   * it does not, in words for clients. In the order of the endpoints; none of this changes which
   * member is in use.
   */
  probeMembers(signal: AbortSignal): Promise<(string | undefined)[]> {
    const request = { key: '\0', count_only: true, limit: 1 };
    const deadlineMs = Date.now() + limits.memberProbeTimeoutMs;
    return Promise.all(
      this.#endpoints.map(async (endpoint) => {
        try {
          if (!(await abortable(endpoint.connect(deadlineMs), signal))) return 'no connection';
          await endpoint.call(rangeMethod, request, deadlineMs, signal);
          return undefined;
        } catch (error) {
          if (error instanceof EtcdError) return error.publicReason;
          throw error;
        }
      }),
    );
  }

  /** Goes on to the next member, unless someone already did. Streams on it end, and follow. */
  leave(endpoint: Endpoint): void {
    if (this.#endpoints.length === 1 || this.#endpoint !== endpoint) return;
    this.#current = (this.#current + 1) % this.#endpoints.length;
    this.fence.disconnected();
  }

  #lost(index: number): void {
    if (index !== this.#current || this.#isClosed) return;
    if (this.#endpoints.length > 1) this.leave(this.#endpoint);
    else this.fence.disconnected();
  }

  close(): void {
    this.#isClosed = true;
    for (const endpoint of this.#endpoints) endpoint.close();
  }
}

/** Whether each method reads or writes. */
export const linearizableRead: CallOptions = { effect: 'read', isLinearizable: true };
export const write: CallOptions = { effect: 'write', isLinearizable: true };
/** Answers of these methods carry the member's own revision, which is not linearizable. */
export const unorderedWrite: CallOptions = { effect: 'write', isLinearizable: false };

/** As gRPC's own instrumentation has them. */
function spanAttributes({ name }: { readonly name: string }): SpanAttributes {
  const [service = '', method = ''] = name.split('/');
  return {
    'rpc.system': 'grpc',
    'rpc.service': `etcdserverpb.${service}`,
    'rpc.method': method,
  };
}

const laterMs = (delayMs: number): number => Math.min(delayMs * 2, limits.etcdRetryLongestMs);
