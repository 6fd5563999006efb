// The contract of this folder: how the objects of a resource are measured for quotas, and what the
// measuring knows besides the object.
import { wholeQuantity } from '../../api/quantity.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ItemKey } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { Amounts } from '../../kinds/core/container-totals.ts';
import type { ScopeRequirement } from './scopes.ts';

export interface UsageParts {
  readonly naming: NamingProfile;
  readonly gates: { isEnabled(gate: string): boolean };
  nowMs(): number;
  /** As memory has it: of claims of devices the class, and the pod that a claim was made for. */
  find(resource: 'deviceclasses' | 'pods', key: ItemKey): Readonly<ApiObject> | undefined;
}

export interface MeasuredUpdate {
  readonly subresource: string;
  readonly object: Readonly<ApiObject>;
  readonly old: Readonly<ApiObject> | undefined;
}

/** How the objects of a resource are measured. */
export interface Measure {
  /** Whether a name in a quota is one of this resource. */
  isName(name: string, parts: UsageParts): boolean;
  usage(object: Readonly<ApiObject>, parts: UsageParts): Amounts;
  /** What an object takes may change when another object does. */
  readonly dependsOnOthers?: true;
  /** What every object takes, where it is the same for all. */
  readonly ofEach?: Amounts;
  /** All that scopes look at; absent: no scope does. */
  scopeText?(object: Readonly<ApiObject>): string;
  /** Of a scope that objects of this resource cannot have: never. */
  matches(scope: ScopeRequirement, object: Readonly<ApiObject>): boolean;
  /** Whether an update may take more than before; absent: none does. */
  isMeasuredAgain?(update: MeasuredUpdate): boolean;
  /** What the object has to state for a quota on these names and does not; undefined: nothing. */
  missing?(
    object: Readonly<ApiObject>,
    names: readonly string[],
    parts: UsageParts,
  ): string | undefined;
}

/** What an object is of its kind. */
export const one = wholeQuantity(1);
