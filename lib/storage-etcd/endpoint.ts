// One etcd member: its channel, whether it is connected, and its version as checked since it
// connected. It makes single calls and reports what failed; connection.ts chooses members and
// repeats calls.
import { readFileSync } from 'node:fs';
import { limits } from '../base/limits.ts';
import { statusMethod, watchMethod } from './rpc.ts';
import type { Method, WatchRequest, WatchResponse } from './rpc.ts';
import type { Channel, MessageStream, StreamListener, TlsSecrets } from './transport/channel.ts';
import { GrpcJsChannel } from './transport/grpc-js-channel.ts';
import { Http2Channel } from './transport/http2-channel.ts';
import { supportsProgressRequests } from './version-gate.ts';

/** Paths of PEM files, as the flags name them. */
export interface EtcdTlsFiles {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

export interface EndpointOptions {
  readonly transport: EtcdTransport;
  readonly keepaliveMs: number;
  /** The connection is lost or given up: later calls go over another one. */
  readonly onLost: () => void;
}

export type EtcdTransport = 'http2' | 'grpc-js';

/** `unchecked`: not asked since it (re)connected. */
export type VersionState = 'unchecked' | 'supported' | 'unsupported';

const { etcdVersionTimeoutMs } = limits;

/**
 * Every call carries the metadata `hasleader`: the member refuses at once, instead of waiting,
 * while it sees no leader. Also on watches.
 */
export class Endpoint {
  readonly url: string;
  readonly #tls: EtcdTlsFiles;
  readonly #options: EndpointOptions;
  #channel: Channel;
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
    this.#channel = this.#newChannel(this.#secrets);
    this.#checkVersion(limits.etcdRetryFirstMs);
  }

  /** As last seen; empty before the first answer. */
  get version(): string {
    return this.#version;
  }

  get versionState(): VersionState {
    return this.#versionState;
  }

  get isConnected(): boolean {
    return this.#channel.isReady;
  }

  /** Resolves false when the member cannot be connected to now, or not before the deadline. */
  connect(deadlineMs: number): Promise<boolean> {
    return this.#channel.connect(deadlineMs);
  }

  /** @throws EtcdError, or `signal.reason` when aborted. The call ends at `deadlineMs` (epoch). */
  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    deadlineMs: number,
    signal: AbortSignal | undefined,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    return this.#channel.call(method, request, { deadlineMs, signal, headers });
  }

  /** @throws EtcdError */
  openWatch(listener: StreamListener<WatchResponse>): MessageStream<WatchRequest> {
    return this.#channel.open(watchMethod, listener);
  }

  /** @throws Error for files that hold no pair. */
  #newChannel(secrets: TlsSecrets | undefined): Channel {
    const { transport, keepaliveMs } = this.#options;
    const options = {
      target: parseEndpoint(this.url).target,
      secrets,
      keepaliveMs,
      onLost: () => {
        if (!this.#closed && this.#channel === channel) this.#lostConnection();
      },
    };
    const channel = transport === 'http2' ? new Http2Channel(options) : new GrpcJsChannel(options);
    return channel;
  }

  /** Certificates are renewed by replacing the files: looked at whenever there is no connection. */
  #reloadSecrets(): void {
    if (this.#secrets === undefined || this.#closed) return;
    const old = this.#channel;
    try {
      const fresh = readSecrets(this.#tls);
      if (isSame(fresh, this.#secrets)) return;
      this.#channel = this.#newChannel(fresh);
      this.#secrets = fresh;
    } catch {
      return; // Half replaced: a file is missing, or no pair. The next look finds them.
    }
    this.#options.onLost();
    old.close();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#recheck);
    this.#channel.close();
  }

  /** The member may be another release by now: its version is read again. */
  #lostConnection(): void {
    this.#options.onLost();
    this.#reloadSecrets();
    if (this.#versionState === 'supported') this.#versionState = 'unchecked';
    this.#checkVersion(limits.etcdRetryFirstMs);
  }

  #checkVersion(delayMs: number): void {
    clearTimeout(this.#recheck);
    this.#recheck = setTimeout(() => {
      this.#askStatus().then(
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

  /** @throws EtcdError */
  async #askStatus(): Promise<{ readonly version: string }> {
    const deadlineMs = Date.now() + etcdVersionTimeoutMs;
    await this.#channel.connect(deadlineMs);
    return this.#channel.call(statusMethod, {}, { deadlineMs });
  }
}

/** `https://` means TLS; `http://` and no scheme mean none, as with kube-apiserver's flag. */
export function parseEndpoint(url: string): { target: string; isSecure: boolean } {
  const match = /^(?:(https?):\/\/)?(\[[0-9a-fA-F:]+\]|[^/:[\]]+)(?::(\d+))?\/?$/.exec(url);
  if (match?.[2] === undefined) throw new Error(`etcd: ${url} is no address of an etcd member`);
  return { target: `${match[2]}:${match[3] ?? '2379'}`, isSecure: match[1] === 'https' };
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
