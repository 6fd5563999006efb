// The same by @grpc/grpc-js: a channel with its own life of connections.
import type * as GrpcJs from '@grpc/grpc-js';
import type { Client, ClientDuplexStream, Metadata, ServiceError } from '@grpc/grpc-js';
import { createRequire } from 'node:module';
import { grpcStatus } from '../grpc-status.ts';
import { limits } from '../../base/limits.ts';
import { EtcdError } from '../etcd-error.ts';
import type { Method } from '../rpc.ts';
import type { CallTerms, Channel, ChannelOptions } from './channel.ts';
import type { MessageStream, StreamListener } from './channel.ts';

const require = createRequire(import.meta.url);

/** Loaded by the first channel: who calls etcd by another transport does without its memory. */
const library = (): typeof GrpcJs => require('@grpc/grpc-js') as typeof GrpcJs;

function metadataOf(headers: Readonly<Record<string, string>> = {}): Metadata {
  const metadata = new (library().Metadata)();
  metadata.set('hasleader', 'true'); // See `Endpoint`.
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

const channelOptions = {
  'grpc.keepalive_timeout_ms': limits.etcdKeepAliveTimeoutMs,
  'grpc.initial_reconnect_backoff_ms': limits.etcdReconnectFirstMs,
  'grpc.max_reconnect_backoff_ms': limits.etcdRetryLongestMs,
  'grpc.max_receive_message_length': limits.etcdAnswerBytesMax,
  'grpc.max_send_message_length': -1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_channelz': 0,
  // One window for all streams of the connection; the default of 64 KiB stalls long pages.
  'grpc-node.flow_control_window': 16 * 1024 * 1024,
};

export class GrpcJsChannel implements Channel {
  readonly #states = library().connectivityState;
  readonly #client: Client;
  readonly #onLost: () => void;
  #isClosed = false;

  constructor({ target, secrets, keepaliveMs, onLost }: ChannelOptions) {
    const { Client: GrpcClient, credentials } = library();
    const channelCredentials =
      secrets === undefined
        ? credentials.createInsecure()
        : credentials.createSsl(secrets.ca, secrets.key, secrets.cert);
    this.#onLost = onLost;
    this.#client = new GrpcClient(target, channelCredentials, {
      // etcd refuses pings that come more often than every 5 s.
      'grpc.keepalive_time_ms': keepaliveMs,
      ...channelOptions,
    });
    this.#followState(this.#states.IDLE);
  }

  get isReady(): boolean {
    return this.#client.getChannel().getConnectivityState(false) === this.#states.READY;
  }

  async connect(deadlineMs: number): Promise<boolean> {
    const channel = this.#client.getChannel();
    for (;;) {
      const state = channel.getConnectivityState(true);
      if (state === this.#states.READY) return true;
      if (state === this.#states.TRANSIENT_FAILURE) return false;
      if (state === this.#states.SHUTDOWN || this.#isClosed) return false;
      const isTimeout = await new Promise<boolean>((resolve) => {
        channel.watchConnectivityState(state, deadlineMs, (error) => {
          resolve(error !== undefined);
        });
      });
      if (isTimeout) return false;
    }
  }

  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    { deadlineMs, signal, headers }: CallTerms,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const call = withoutStack(() =>
        this.#client.makeUnaryRequest(
          method.path,
          method.encode,
          method.decode,
          request,
          metadataOf(headers),
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

  open<Request, Response>(
    method: Method<Request, Response>,
    listener: StreamListener<Response>,
  ): MessageStream<Request> {
    const { path, encode, decode } = method;
    const call = this.#client.makeBidiStreamRequest(path, encode, decode, metadataOf(), {});
    return new GrpcJsStream(call, listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#client.close();
  }

  #followState(previous: GrpcJs.connectivityState): void {
    this.#client.getChannel().watchConnectivityState(previous, Infinity, () => {
      if (this.#isClosed) return;
      const state = this.#client.getChannel().getConnectivityState(false);
      this.#followState(state);
      const { READY } = this.#states;
      if (previous === READY && state !== READY) this.#onLost();
    });
  }
}

class GrpcJsStream<Request, Response> implements MessageStream<Request> {
  readonly #call: ClientDuplexStream<Request, Response>;
  #hasEnded = false;

  constructor(call: ClientDuplexStream<Request, Response>, listener: StreamListener<Response>) {
    this.#call = call;
    call.on('data', (response: Response) => {
      if (!this.#hasEnded) listener.message(response);
    });
    const end = (error: EtcdError | undefined): void => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      listener.ended(error);
    };
    call.on('error', (error: ServiceError) => {
      end(toEtcdError(error));
    });
    call.on('end', () => {
      end(undefined);
    });
  }

  get isPaused(): boolean {
    return this.#call.isPaused();
  }

  send(request: Request): void {
    this.#call.write(request);
  }

  pause(): void {
    this.#call.pause();
  }

  resume(): void {
    this.#call.resume();
  }

  cancel(): void {
    this.#hasEnded = true;
    this.#call.cancel();
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

function toEtcdError(error: ServiceError | null): EtcdError {
  if (error === null) return new EtcdError(grpcStatus.INTERNAL, 'an answer without a message');
  return new EtcdError(error.code, error.details, { cause: error });
}
