// What a transport is to the rest of the client: one connection to one member, opened when it is
// asked for, on which gRPC calls run.
import type { EtcdError } from '../etcd-error.ts';
import type { Method } from '../rpc.ts';

export interface TlsSecrets {
  readonly ca: Buffer | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
}

export interface ChannelOptions {
  /** `host:port`; an IPv6 address stands in brackets. */
  readonly target: string;
  /** undefined: without TLS. */
  readonly secrets: TlsSecrets | undefined;
  readonly keepaliveMs: number;
  /** There was a connection, and it takes no more calls. */
  readonly onLost: () => void;
}

export interface Channel {
  /** Calls can be made now. */
  readonly isReady: boolean;
  /**
   * Resolves false when there is no connection now, or not before the deadline (epoch). After a
   * failure it is tried again, at growing intervals, without being asked.
   */
  connect(deadlineMs: number): Promise<boolean>;
  /**
   * One call with one answer. @throws EtcdError; `signal.reason` when aborted, after which the
   * request may have been applied
   */
  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    terms: CallTerms,
  ): Promise<Response>;
  /** Messages both ways until either side ends. */
  open<Request, Response>(
    method: Method<Request, Response>,
    listener: StreamListener<Response>,
  ): MessageStream<Request>;
  /** Calls that have no answer yet fail. */
  close(): void;
}

export interface CallTerms {
  /** Epoch; the call ends then. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** What tells etcd of the trace that the call is made in. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface StreamListener<Response> {
  message(response: Response): void;
  /** Once, and never after `cancel`. undefined: the member has ended the stream in good order. */
  ended(error: EtcdError | undefined): void;
}

export interface MessageStream<Request> {
  readonly isPaused: boolean;
  send(request: Request): void;
  /** What arrives waits with the member; what has arrived may still be delivered. */
  pause(): void;
  resume(): void;
  cancel(): void;
}
