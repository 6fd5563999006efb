// The authentication contract: credentials in, a user or a verdict out.
// 'absent' goes on to the next authenticator; 'rejected' is remembered: 401 when nobody accepts.
import type { X509Certificate } from 'node:crypto';
import type { WaitEnd } from '../base/abort.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { User } from '../base/user.ts';

/** What a request brings to prove who sends it. Never logged. */
export interface Credentials {
  /** Bearer token without its scheme; undefined when there is none. */
  readonly token: string | undefined;
  /** Peer certificate that the TLS layer verified against the client CA. */
  readonly certificate: X509Certificate | undefined;
}

export type Authentication =
  | {
      readonly outcome: 'accepted';
      readonly user: User;
      readonly audiences?: readonly string[];
    }
  | { readonly outcome: 'absent' }
  | { readonly outcome: 'rejected'; readonly reason: string };

export interface Authenticator {
  readonly name: string;
  authenticate(credentials: Credentials, end: WaitEnd): MaybePromise<Authentication>;
}
