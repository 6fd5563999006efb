// The authorization contract: attributes of a request in, a three-valued decision out.
import type { WaitEnd } from '../base/abort.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { User } from '../base/user.ts';

export interface Attributes {
  readonly user: User;
  /**
   * get, list, watch, create, update, patch, delete, deletecollection, …; the lower-case HTTP
   * method for paths.
   */
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** URL path of a non-resource request. */
  readonly path: string;
}

export interface Decision {
  readonly effect: 'allow' | 'deny' | 'noOpinion';
  readonly reason: string;
}

export interface Authorizer {
  readonly name: string;
  authorize(attributes: Attributes, end: WaitEnd): MaybePromise<Decision>;
}
