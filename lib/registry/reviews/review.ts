// Contract of reviews: what each is given of what was posted, whom it may ask, and what it makes.
import type { Authenticator } from '../../authn/authenticator.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { Clock } from '../../base/clock.ts';
import type { User } from '../../base/user.ts';
import type { ApiObject } from '../../codec/codec.ts';

export interface ReviewOptions {
  /** Asked about tokens alone. */
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Whom tokens are meant for where a review names no audiences. */
  readonly apiAudiences: readonly string[];
  readonly clock: Clock;
}

/** The object that a posted review is answered with, whose kind and version may be left out. */
export type Review = (review: Reviewed, options: ReviewOptions) => Promise<Readonly<ApiObject>>;

export interface Reviewed {
  readonly kind: string;
  readonly group: string;
  readonly object: Readonly<ApiObject>;
  /** Who posts it. */
  readonly user: User;
  /** '' of reviews that lie in none. */
  readonly namespace: string;
  readonly signal: AbortSignal;
  /** Validating admission. @throws StatusError of the plugin that refuses. */
  confirm(): Promise<void>;
}
