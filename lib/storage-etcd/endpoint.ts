// One etcd member: its channel, whether it is connected, and its version as checked since it
// connected. It makes single calls and reports what failed; connection.ts chooses members and
// repeats calls.
import { limits } from '../base/limits.ts';
import { Client, connectivityState, credentials, Metadata } from '@grpc/grpc-js';
import { status as grpcStatus } from '@grpc/grpc-js';
import type { ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import { readFileSync } from 'node:fs';
import { EtcdError } from './etcd-error.ts';
import { statusMethod, watchMethod } from './rpc.ts';
import type { Method, WatchRequest, WatchResponse } from './rpc.ts';
import { supportsProgressRequests } from './version-gate.ts';

/** Paths of PEM files, as the flags name them. */
export interface EtcdTlsFiles {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

export interface EndpointOptions {
  readonly keepaliveMs: number;
  /** The connection is lost or given up: later calls go over another one. */
  readonly onLost: () => void;
}

export type WatchCall = ClientDuplexStream<WatchRequest, WatchResponse>;
/** `unchecked`: not asked since it (re)connected. */
export type VersionState = 'unchecked' | 'supported' | 'unsupported';

/** Refuse at once, instead of waiting, while the member sees no leader. Also on watches. */
const requireLeader = new Metadata();
requireLeader.set('hasleader', 'true');

const { etcdAnswerBytesMax, etcdVersionTimeoutMs } = limits;

const channelOptions = {
  'grpc.keepalive_timeout_ms': limits.etcdKeepAliveTimeoutMs,
  'grpc.initial_reconnect_backoff_ms': limits.etcdReconnectFirstMs,
  'grpc.max_reconnect_backoff_ms': limits.etcdRetryLongestMs,
  'grpc.max_receive_message_length': etcdAnswerBytesMax,
  'grpc.max_send_message_length': -1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_channelz': 0,
  // One window for all streams of the connection; the default of 64 KiB stalls long pages.
  'grpc-node.flow_control_window': 16 * 1024 * 1024,
};

export class Endpoint {
  readonly url: string;
  readonly #tls: EtcdTlsFiles;
  readonly #options: EndpointOptions;
  #client: Client;
  #secrets: TlsSecrets | undefined;
  #version = '';
  #versionState: VersionState = 'unchecked';
  #recheck: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(url: string, tls: EtcdTlsFiles, options: EndpointOptions) {
    this.url = url;
    this.#tls = tls;
    this.#options = options;
    this.#secrets = parseEndpoint(url).isSecure ? readSecrets(tls) : undefined;
    this.#client = this.#newClient(this.#secrets);
    this.#followState(connectivityState.IDLE);
    this.#checkVersion(limits.etcdRetryFirstMs);
  }

  /** As last seen; empty before the first answer. */
  get version(): string {
    return this.#version;
  }

  get versionState(): VersionState {
    return this.#versionState;
  }

  /** Resolves false when the member cannot be connected to now, or not before the deadline. */
  async connect(deadlineMs: number): Promise<boolean> {
    const channel = this.#client.getChannel();
    for (;;) {
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return true;
      if (state === connectivityState.TRANSIENT_FAILURE) return false;
      if (state === connectivityState.SHUTDOWN || this.#closed) return false;
      const isTimeout = await new Promise<boolean>((resolve) => {
        channel.watchConnectivityState(state, deadlineMs, (error) => {
          resolve(error !== undefined);
        });
      });
      if (isTimeout) return false;
    }
  }

  /** @throws EtcdError, or `signal.reason` when aborted. The call ends at `deadlineMs` (epoch). */
  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const call = withoutStack(() =>
        this.#client.makeUnaryRequest(
          method.path,
          method.encode,
          method.decode,
          request,
          requireLeader,
          { deadline: deadlineMs },
          (error: ServiceError | null, response?: Response) => {
            signal?.removeEventListener('abort', cancel);
            if (error === null && response !== undefined) resolve(response);
            else if (signal?.aborted === true) reject(signal.reason as Error);
            else reject(toEtcdError(error));
          },
        ),
      );
      const cancel = (): void => {
        call.cancel();
      };
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  openWatch(): WatchCall {
    return this.#client.makeBidiStreamRequest(
      watchMethod.path,
      watchMethod.encode,
      watchMethod.decode,
      requireLeader,
      {},
    );
  }

  /** @throws Error for files that hold no pair. */
  #newClient(secrets: TlsSecrets | undefined): Client {
    const channelCredentials =
      secrets === undefined
        ? credentials.createInsecure()
        : credentials.createSsl(secrets.ca, secrets.key, secrets.cert);
    return new Client(parseEndpoint(this.url).target, channelCredentials, {
      // etcd refuses pings that come more often than every 5 s.
      'grpc.keepalive_time_ms': this.#options.keepaliveMs,
      ...channelOptions,
    });
  }

  /** Certificates are renewed by replacing the files: looked at whenever there is no connection. */
  #reloadSecrets(): void {
    if (this.#secrets === undefined || this.#closed) return;
    const old = this.#client;
    try {
      const fresh = readSecrets(this.#tls);
      if (isSame(fresh, this.#secrets)) return;
      this.#client = this.#newClient(fresh);
      this.#secrets = fresh;
    } catch {
      return; // Half replaced: a file is missing, or no pair. The next look finds them.
    }
    this.#followState(connectivityState.IDLE);
    this.#options.onLost();
    old.close();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#recheck);
    this.#client.close();
  }

  /** After a lost connection the member may be another release: its version is read again. */
  #followState(previous: connectivityState): void {
    const client = this.#client;
    client.getChannel().watchConnectivityState(previous, Infinity, () => {
      if (this.#closed || client !== this.#client) return;
      const state = client.getChannel().getConnectivityState(false);
      this.#followState(state);
      if (previous === connectivityState.READY && state !== connectivityState.READY) {
        this.#lostConnection();
      }
    });
  }

  #lostConnection(): void {
    this.#options.onLost();
    this.#reloadSecrets();
    if (this.#versionState === 'supported') this.#versionState = 'unchecked';
    this.#checkVersion(limits.etcdRetryFirstMs);
  }

  #checkVersion(delayMs: number): void {
    clearTimeout(this.#recheck);
    this.#recheck = setTimeout(() => {
      const deadlineMs = Date.now() + etcdVersionTimeoutMs;
      this.call(statusMethod, {}, deadlineMs, undefined).then(
        (status) => {
          this.#version = status.version;
          this.#versionState = supportsProgressRequests(status.version)
            ? 'supported'
            : 'unsupported';
        },
        () => {
          // Not reachable: asked again until it is.
          if (this.#closed) return;
          this.#reloadSecrets();
          this.#checkVersion(Math.min(delayMs * 2, limits.etcdVersionRetryLongestMs));
        },
      );
    }, delayMs);
    this.#recheck.unref();
  }
}

/**
 * The client notes the caller's stack at each call, for an error that it may end with; ours are
 * made again from its code. Noting it was the most expensive single step of a call.
 */
function withoutStack<T>(run: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** `https://` means TLS; `http://` and no scheme mean none, as with kube-apiserver's flag. */
export function parseEndpoint(url: string): { target: string; isSecure: boolean } {
  const match = /^(?:(https?):\/\/)?(\[[0-9a-fA-F:]+\]|[^/:[\]]+)(?::(\d+))?\/?$/.exec(url);
  if (match?.[2] === undefined) throw new Error(`etcd: ${url} is no address of an etcd member`);
  return { target: `${match[2]}:${match[3] ?? '2379'}`, isSecure: match[1] === 'https' };
}

interface TlsSecrets {
  readonly ca: Buffer | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
}

function readSecrets(tls: EtcdTlsFiles): TlsSecrets {
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined)) {
    throw new Error('etcd: a client certificate needs both the certificate and the key file');
  }
  const read = (path: string | undefined): Buffer | null =>
    path === undefined ? null : readFileSync(path);
  return { ca: read(tls.caFile), cert: read(tls.certFile), key: read(tls.keyFile) };
}

function isSame(a: TlsSecrets, b: TlsSecrets): boolean {
  return (['ca', 'cert', 'key'] as const).every((part) => {
    const [left, right] = [a[part], b[part]];
    return left === null || right === null ? left === right : left.equals(right);
  });
}

function toEtcdError(error: ServiceError | null): EtcdError {
  if (error === null) return new EtcdError(grpcStatus.INTERNAL, 'an answer without a message');
  return new EtcdError(error.code, error.details, { cause: error });
}
