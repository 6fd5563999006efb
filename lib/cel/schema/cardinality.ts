// How often the rules of a definition can run, and the sum of what they cost at most.
import { addRanges, fixed, multiplyRanges, unsignedMax } from '../model/range.ts';
import type { ValueInfo } from '../../api/type-info.ts';

const reportedMax = 4;
const reportedFrom = 1_000_000n;

/**
 * How often a value within one that occurs `times` can occur: more for the elements of lists and
 * maps with a limit. undefined: without bound.
 */
export function childCardinality(
  times: bigint | undefined,
  { cardinality, schema }: ValueInfo,
): bigint | undefined {
  if (times === undefined) return undefined;
  if (cardinality === 'single') return times;
  const entries = cardinality === 'map' ? schema?.maxProperties : schema?.maxItems;
  if (entries === undefined) return undefined;
  return multiplyRanges(fixed(times), fixed(Math.max(entries, 0))).max;
}

/** The sum of the costs, and the dearest of those worth naming, falling. */
export function summarizeCosts(costs: readonly bigint[]): {
  readonly total: bigint;
  readonly mostExpensive: readonly bigint[];
} {
  const total = costs.reduce((sum, cost) => addRanges(fixed(sum), fixed(cost)).max, 0n);
  const dear = costs
    .filter((cost) => cost >= reportedFrom)
    .sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  return {
    total: total > unsignedMax ? unsignedMax : total,
    mostExpensive: dear.slice(0, reportedMax),
  };
}
