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
  /** Kept by `tokenDigest`, which is asked for it. */
  tokenDigest?: string | undefined;
  /** How the request came; undefined where a token alone is judged. */
  readonly connection: ClientConnection | undefined;
  /** Names and values of the request's headers by turns, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** Whom the credentials must be meant for, one of them; none: this server. */
  readonly audiences: readonly string[];
}

/** One connection of a client: the same object for all of its requests. */
export interface ClientConnection {
  readonly remoteAddress: string;
  /**
   * What the client showed in the TLS handshake, whose private key it has; nothing else is known of
   * it. undefined: nothing was shown.
   */
  readonly certificate: X509Certificate | undefined;
  /** Shown beside it, to lead to a CA that is known here. */
  readonly intermediates: readonly X509Certificate[];
  /** The last token that was accepted on it; absent: none was. */
  shownToken?: ShownToken | undefined;
}

/** A token whose digest is known, so that the next request that shows it does not make it again. */
export interface ShownToken {
  /** `Authorization`, as it came. */
  readonly header: string;
  readonly token: string;
  readonly digest: string;
}

export type Authentication =
  | {
      readonly outcome: 'accepted';
      readonly user: User;
      /**
       * Those of the audiences asked for that the credentials are good for; absent: the method
       * knows none, what it accepts is meant for this server.
       */
      readonly audiences?: readonly string[];
      /** What the request's audit event is to say of its credentials, by key. */
      readonly annotations?: ReadonlyMap<string, string>;
      /** Texts for Warning headers: of credentials that are good, and should not be used. */
      readonly warnings?: readonly string[];
    }
  | { readonly outcome: 'absent' }
  | { readonly outcome: 'rejected'; readonly reason: string };

export interface Authenticator {
  readonly name: string;
  authenticate(credentials: Credentials, end: WaitEnd): MaybePromise<Authentication>;
}
