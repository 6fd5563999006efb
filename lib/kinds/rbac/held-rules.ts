// What rules about who may give rights ask: what a user holds, and what a role grants.
import type { User } from '../../base/user.ts';
import type { PolicyRule } from './policy-rules.ts';

export type RoleKind = 'Role' | 'ClusterRole';

/** `namespace` is '' for a ClusterRole. */
export interface RoleReference {
  readonly kind: RoleKind;
  readonly namespace: string;
  readonly name: string;
}

/** What a user may do, by roles that are bound to the user. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  /** What could not be found out; '' where everything could. */
  readonly error: string;
}

/** In one namespace, or ('') everywhere. */
export type HeldRulesOf = (user: User, namespace: string) => HeldRules;
/** As the store itself has them; undefined: there is no such role. */
export type RulesOfRole = (
  role: RoleReference,
  signal: AbortSignal,
) => Promise<readonly PolicyRule[] | undefined>;
