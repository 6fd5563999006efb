// What can go wrong with an outgoing call, as data. Messages name method, URL and cause in words
// that upstream's logs have made familiar. Bytes of an answer are in `excerpt`, never in a message.
import { unreachable } from '../base/invariant.ts';

/** Where a call is: from waiting for credentials to reading the body of the answer. */
export type Step =
  | 'credentials'
  | 'queue'
  | 'resolve'
  | 'connect'
  | 'proxy'
  | 'handshake'
  | 'send'
  | 'header'
  | 'body';

export type CallFailure =
  /** What the caller shows the target could not be had. */
  | { readonly kind: 'credentials'; readonly reason: string }
  /** No address, or none that takes connections. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  | { readonly kind: 'timeout'; readonly step: Step }
  /** A certificate that is not trusted, of either side, or no TLS at all. */
  | { readonly kind: 'tls'; readonly reason: string }
  /** The connection ended before the answer was complete; `begun`: part of it had come. */
  | { readonly kind: 'closed'; readonly begun: boolean; readonly reason: string }
  /** As many calls as may wait for a connection are waiting. */
  | { readonly kind: 'overloaded'; readonly pendingMax: number }
  | { readonly kind: 'tooLarge'; readonly part: 'header' | 'body'; readonly bytesMax: number }
  /** Any 3xx. */
  | { readonly kind: 'redirect'; readonly status: number }
  /** An answer that is no success; `excerpt` is the beginning of its body. */
  | { readonly kind: 'status'; readonly status: number; readonly excerpt: string }
  /** No HTTP, compressed though nobody asked, or a body that `decode` refused. */
  | { readonly kind: 'badAnswer'; readonly reason: string; readonly excerpt: string };

/** How far a call had come when it failed. */
export interface CallPlace {
  readonly step: Step;
  /** `IP:PORT` that was called, or would have been; undefined while there is none. */
  readonly address: string | undefined;
  /** Since the call began. */
  readonly ms: number;
}

export interface CallName {
  readonly method: string;
  /** As configured, with path and query. */
  readonly url: string;
}

export class CallError extends Error {
  override readonly name = 'CallError';
  readonly method: string;
  readonly url: string;
  readonly failure: CallFailure;
  /** The message without method and URL. */
  readonly reason: string;
  /** undefined: it had not begun. */
  readonly place: CallPlace | undefined;

  constructor(
    { method, url }: CallName,
    failure: CallFailure,
    options?: ErrorOptions & { readonly place?: CallPlace },
  ) {
    const reason = reasonOf(failure);
    super(`${method} "${url}": ${reason}`, options);
    this.method = method;
    this.url = url;
    this.failure = failure;
    this.place = options?.place;
    this.reason = reason;
  }
}

/** A call that was not made, because those before it failed: with what the last one failed with. */
export class SkippedCallError extends CallError {
  constructor(last: CallError) {
    const { place } = last;
    super(last, last.failure, place === undefined ? { cause: last } : { cause: last, place });
  }
}

const doing: Readonly<Record<Step, string>> = {
  credentials: 'getting credentials',
  queue: 'waiting for a free connection',
  resolve: 'resolving the name',
  connect: 'connecting',
  proxy: 'asking the proxy',
  handshake: 'agreeing on TLS',
  send: 'sending the request',
  header: 'waiting for the answer',
  body: 'reading the answer',
};

function reasonOf(failure: CallFailure): string {
  switch (failure.kind) {
    case 'credentials':
    case 'unreachable':
    case 'tls':
    case 'closed':
    case 'badAnswer':
      return failure.reason;
    case 'timeout':
      return `deadline exceeded while ${doing[failure.step]}`;
    case 'overloaded':
      return `${failure.pendingMax} calls are waiting for a connection already`;
    case 'tooLarge':
      return `the ${failure.part} of the answer is larger than ${failure.bytesMax} bytes`;
    case 'redirect':
      return `the answer is a redirect (${failure.status}), which is never followed`;
    case 'status':
      return `the answer has status ${failure.status}`;
    default:
      return unreachable(failure);
  }
}

/** Whether the target cannot have begun with the call, or cut it off before it answered. */
export const mayRepeat = ({ failure }: CallError): boolean =>
  failure.kind === 'unreachable' || (failure.kind === 'closed' && !failure.begun);
