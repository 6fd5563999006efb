// What an estimate of a call may know of its receiver and arguments.
import type { CelType } from './cel-type.ts';
import type { Value } from './value.ts';
import type { Range } from './range.ts';

export interface CostNode {
  readonly type: CelType;
  /** The value, for literals. */
  readonly literal: Value | undefined;
  /**
   * Size from the expression itself or from declared limits; from 0 to the largest when nothing is
   * known.
   */
  readonly size: Range;
  /** Size that the expression itself tells; undefined when it tells none. */
  readonly computedSize: Range | undefined;
  /** An element of a list or a key of a map, as far as the type has parameters. */
  readonly element: CostNode | undefined;
}

/** Cost of a call without its arguments, and the size of what it returns. */
export interface CallEstimate {
  readonly cost: Range;
  readonly resultSize?: Range | undefined;
}

/**
 * Says how large the values behind a path of names may be, from declared limits. The path starts
 * with a variable; parts of containers are `@items`, `@keys`, `@values`. Empty: the value is behind
 * no variable.
 */
export type SizeEstimator = (path: readonly string[], type: CelType) => Range | undefined;
