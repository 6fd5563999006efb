// gRPC over HTTP/2: one connection to one member at a time, and when there is one. What goes on
// within it is the session's.
import { connect as connectTcp, isIP } from 'node:net';
import type { TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { limits } from '../../base/limits.ts';
import type { Method } from '../rpc.ts';
import type { CallTerms, Channel, ChannelOptions } from './channel.ts';
import type { MessageStream, StreamListener } from './channel.ts';
import { Http2MessageStream, UnaryCall } from './http2-call.ts';
import type { CallPlace } from './http2-call.ts';
import { Http2Session, notBegun } from './http2-session.ts';
import type { SessionOptions } from './http2-session.ts';
import { RequestHeads } from './request-heads.ts';

const { etcdKeepAliveTimeoutMs, etcdReconnectFirstMs, etcdRetryLongestMs, etcdDialTimeoutMs } =
  limits;

/** What is read from a socket at once. */
const readBytes = 64 * 1024;

type Read = Parameters<SessionOptions['openSocket']>[0];

export interface Http2ChannelOptions extends ChannelOptions {
  /** Of each connection; streams have the odd numbers up to 2^31 - 1. */
  readonly firstStreamId?: number;
}

/**
 * - `idle`: nobody has asked for a connection.
 * - `opening`: the first try, which is waited for.
 * - `failing`: the last try failed; others follow by themselves, which are not waited for.
 */
type State = 'idle' | 'opening' | 'ready' | 'failing' | 'closed';

export class Http2Channel implements Channel {
  readonly #options: Http2ChannelOptions;
  readonly #context: SecureContext | undefined;
  #state: State = 'idle';
  readonly #heads: RequestHeads;
  /** The one that takes calls. */
  #session: Http2Session | undefined;
  /** With those that only end what they have. */
  readonly #sessions = new Set<Http2Session>();
  #waiting = new Set<() => void>();
  #retry: NodeJS.Timeout | undefined;
  #retryMs: number = etcdReconnectFirstMs;

  /** @throws Error for a certificate and a key that are no pair. */
  constructor(options: Http2ChannelOptions) {
    const { secrets, target } = options;
    this.#options = options;
    this.#heads = new RequestHeads({ isSecure: secrets !== undefined, authority: target });
    this.#context =
      secrets &&
      createSecureContext({
        ca: secrets.ca ?? undefined,
        cert: secrets.cert ?? undefined,
        key: secrets.key ?? undefined,
      });
  }

  get isReady(): boolean {
    return this.#state === 'ready';
  }

  async connect(deadlineMs: number): Promise<boolean> {
    if (this.#state === 'idle') this.#open('opening');
    if (this.#state === 'opening') await this.#changed(deadlineMs);
    return this.#state === 'ready';
  }

  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    terms: CallTerms,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      new UnaryCall(this.#place(), method, request, terms, resolve, reject);
    });
  }

  open<Request, Response>(
    method: Method<Request, Response>,
    listener: StreamListener<Response>,
  ): MessageStream<Request> {
    return new Http2MessageStream(this.#place(), method, listener);
  }

  close(): void {
    this.#become('closed');
    clearTimeout(this.#retry);
    for (const session of this.#sessions) session.destroy(undefined);
  }

  /** @throws EtcdError: there is no connection. */
  #place(): CallPlace {
    const session = this.#session;
    if (this.#state !== 'ready' || session === undefined) throw notBegun(undefined);
    return { session, heads: this.#heads };
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
    const { target, firstStreamId } = this.#options;
    let isReady = false;
    let stopAsking: (() => void) | undefined;
    const session = new Http2Session({
      ...openerOf(target, this.#context),
      firstStreamId,
      // A member that is paused takes connections and says nothing.
      onReady: () => {
        clearTimeout(giveUp);
        isReady = true;
        stopAsking = this.#keepAlive(session);
        this.#retryMs = etcdReconnectFirstMs;
        this.#become('ready');
      },
      onRetired: () => {
        this.#lost(session, isReady);
      },
      onClosed: () => {
        clearTimeout(giveUp);
        stopAsking?.();
        this.#sessions.delete(session);
      },
    });
    this.#session = session;
    this.#sessions.add(session);
    const giveUp = setTimeout(() => {
      session.destroy(new Error('the member does not answer'));
    }, etcdDialTimeoutMs);
  }

  #lost(session: Http2Session, wasReady: boolean): void {
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
  #keepAlive(session: Http2Session): () => void {
    let timeout: NodeJS.Timeout | undefined;
    const ask = setInterval(() => {
      if (timeout !== undefined || session.streamCount === 0) return;
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

type Opener = Pick<SessionOptions, 'openSocket' | 'connectEvent'>;

/** Reads into one buffer, again and again. */
function openerOf(target: string, secureContext: SecureContext | undefined): Opener {
  const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(target) ?? [];
  const to = (read: Read): TcpNetConnectOpts => ({
    host,
    port: Number(port),
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafeSlow(readBytes),
      callback: (count, bytes) => {
        read(bytes as Buffer, count);
        return true;
      },
    },
  });
  if (secureContext === undefined) {
    return { openSocket: (read) => connectTcp(to(read)), connectEvent: 'connect' };
  }
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const tls = { ...servername, secureContext, ALPNProtocols: ['h2'] };
  return {
    openSocket: (read) => connectTls({ ...to(read), ...tls }),
    connectEvent: 'secureConnect',
  };
}
