// gRPC over HTTP/2 of Node: one session to one member. HTTP/2 itself (frames, header compression,
// flow control) is Node's; what is here is when there is a session.
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { status as grpcStatus } from '@grpc/grpc-js';
import { limits } from '../../base/limits.ts';
import { EtcdError, neverSent } from '../etcd-error.ts';
import type { Method } from '../rpc.ts';
import type { CallTerms, Channel, ChannelOptions } from './channel.ts';
import type { MessageStream, StreamListener } from './channel.ts';
import { callOnce, Http2MessageStream } from './http2-call.ts';

const { etcdKeepAliveTimeoutMs, etcdReconnectFirstMs, etcdRetryLongestMs, etcdDialTimeoutMs } =
  limits;

/** Of a stream, and of all streams of a session: the default of 64 KiB stalls long pages. */
const windowBytes = 16 * 1024 * 1024;
/** Of what Node may hold of one session, in MB: many answers of a page may be on their way. */
const sessionMemoryMb = 1_024;

/**
 * - `idle`: nobody has asked for a connection.
 * - `opening`: the first try, which is waited for.
 * - `failing`: the last try failed; others follow by themselves, which are not waited for.
 */
type State = 'idle' | 'opening' | 'ready' | 'failing' | 'closed';

export class Http2Channel implements Channel {
  readonly #options: ChannelOptions;
  readonly #context: SecureContext | undefined;
  #state: State = 'idle';
  #session: ClientHttp2Session | undefined;
  #waiting = new Set<() => void>();
  #retry: NodeJS.Timeout | undefined;
  #retryMs: number = etcdReconnectFirstMs;
  /** Calls that have not ended. */
  #openCount = 0;

  /** @throws Error for a certificate and a key that are no pair. */
  constructor(options: ChannelOptions) {
    const { secrets } = options;
    this.#options = options;
    this.#context =
      secrets &&
      createSecureContext({
        ca: secrets.ca ?? undefined,
        cert: secrets.cert ?? undefined,
        key: secrets.key ?? undefined,
      });
  }

  async connect(deadlineMs: number): Promise<boolean> {
    if (this.#state === 'idle') this.#open('opening');
    if (this.#state === 'opening') await this.#changed(deadlineMs);
    return this.#state === 'ready';
  }

  async call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    terms: CallTerms,
  ): Promise<Response> {
    const session = this.#readySession();
    this.#openCount++;
    try {
      return await callOnce(session, method, request, terms);
    } finally {
      this.#openCount--;
    }
  }

  open<Request, Response>(
    method: Method<Request, Response>,
    listener: StreamListener<Response>,
  ): MessageStream<Request> {
    const stream = new Http2MessageStream(this.#readySession(), method, listener, () => {
      this.#openCount--;
    });
    this.#openCount++;
    return stream;
  }

  close(): void {
    this.#become('closed');
    clearTimeout(this.#retry);
    this.#session?.destroy();
  }

  #readySession(): ClientHttp2Session {
    if (this.#state === 'ready' && this.#session !== undefined) return this.#session;
    throw new EtcdError(grpcStatus.UNAVAILABLE, neverSent);
  }

  #become(state: State): void {
    this.#state = state;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  /** Resolves with the next change of the state, or at the deadline. */
  #changed(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(deadlineMs - Date.now(), 0));
      this.#waiting.add(wake);
    });
  }

  #open(state: 'opening' | 'failing'): void {
    this.#become(state);
    const session = newSession(this.#options.target, this.#context);
    this.#session = session;
    const giveUp = setTimeout(() => {
      session.destroy();
    }, etcdDialTimeoutMs);
    let isReady = false;
    // A member that is paused takes connections and says nothing.
    session.once('remoteSettings', () => {
      clearTimeout(giveUp);
      if (this.#session !== session || this.#state === 'closed') return;
      isReady = true;
      session.setLocalWindowSize(windowBytes);
      this.#retryMs = etcdReconnectFirstMs;
      this.#become('ready');
    });
    const stopAsking = this.#keepAlive(session);
    // Calls on it fail by themselves, with the reason.
    session.on('error', () => undefined);
    // It takes no new calls; those that it has go on where the member says so.
    session.once('goaway', () => {
      this.#lost(session, isReady);
    });
    session.once('close', () => {
      clearTimeout(giveUp);
      stopAsking();
      this.#lost(session, isReady);
    });
  }

  #lost(session: ClientHttp2Session, wasReady: boolean): void {
    if (this.#session !== session || this.#state === 'closed') return;
    this.#session = undefined;
    if (wasReady) {
      this.#become('idle');
      this.#options.onLost();
      return;
    }
    this.#become('failing');
    this.#retry = setTimeout(() => {
      this.#open('failing');
    }, this.#retryMs);
    this.#retry.unref();
    this.#retryMs = Math.min(this.#retryMs * 2, etcdRetryLongestMs);
  }

  /** etcd refuses pings that come more often than every 5 s, or while no call is open. */
  #keepAlive(session: ClientHttp2Session): () => void {
    let timeout: NodeJS.Timeout | undefined;
    const ask = setInterval(() => {
      if (session.destroyed || timeout !== undefined || this.#openCount === 0) return;
      timeout = setTimeout(() => {
        const why = `no answer to a ping within ${String(etcdKeepAliveTimeoutMs)} ms`;
        session.destroy(new Error(why));
      }, etcdKeepAliveTimeoutMs);
      session.ping(() => {
        clearTimeout(timeout);
        timeout = undefined;
      });
    }, this.#options.keepaliveMs);
    ask.unref();
    return () => {
      clearInterval(ask);
      clearTimeout(timeout);
    };
  }
}

function newSession(target: string, secureContext: SecureContext | undefined): ClientHttp2Session {
  const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(target) ?? [];
  const to = { host, port: Number(port), noDelay: true };
  const openSocket = (): Socket =>
    secureContext === undefined
      ? connectTcp(to)
      : connectTls({
          ...to,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          secureContext,
          ALPNProtocols: ['h2'],
        });
  return connectHttp2(`${secureContext === undefined ? 'http' : 'https'}://${target}`, {
    createConnection: openSocket,
    maxSessionMemory: sessionMemoryMb,
    settings: { enablePush: false, initialWindowSize: windowBytes },
  });
}
