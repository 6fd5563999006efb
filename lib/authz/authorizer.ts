// The authorization contract: attributes of a request in, a three-valued decision out.
import type { LabelRequirement } from '../api/selector.ts';
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
  /** Of a list or watch: that which its field selector names. */
  readonly name: string;
  /** Of list, watch and deletecollection: what limits them. undefined: nothing does. */
  readonly fieldSelector: SelectorAttribute | undefined;
  readonly labelSelector: SelectorAttribute | undefined;
  /** URL path of a non-resource request. */
  readonly path: string;
}

/**
 * Requirements that all hold for whatever is answered, also of fields (whose operators are `in` and
 * `notIn`); or the text that none can be read from, which limits nothing.
 */
export type SelectorAttribute =
  { readonly requirements: readonly LabelRequirement[] } | { readonly rawSelector: string };

export interface Decision {
  readonly effect: 'allow' | 'deny' | 'noOpinion';
  readonly reason: string;
  /** What failed on the way; it stands beside the decision and in reviews. Absent: nothing did. */
  readonly error?: string;
}

/** What rules let a user do, for people to read; permission itself is asked for by `authorize`. */
export interface ResolvedRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** Others decide, too, who cannot be written down as rules. */
  readonly incomplete: boolean;
  /** Why; '' where nothing failed. */
  readonly evaluationError: string;
}

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Empty: of every name. */
  readonly resourceNames: readonly string[];
}

export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface Authorizer {
  readonly name: string;
  authorize(attributes: Attributes, end: WaitEnd): MaybePromise<Decision>;
  /** Absent: it has no rules, and decides by none. */
  rulesFor?(user: User, namespace: string): ResolvedRules;
}
