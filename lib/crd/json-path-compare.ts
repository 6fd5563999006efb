// Comparisons in filters of a JSONPath: of values of one kind, as Go's templates compare.
import type { JsonValue } from '../api/type-info.ts';

/** undefined: the two cannot be compared, or not so. */
export function comparison(
  operator: string,
  one: JsonValue,
  other: JsonValue,
): boolean | undefined {
  const kind = kindOf(one);
  if (kind === undefined || kind !== kindOf(other)) return undefined;
  const order = one === other ? 0 : compared(one, other);
  if (operator === '==') return order === 0;
  if (operator === '!=') return order !== 0;
  if (kind === 'boolean') return undefined;
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    default:
      return undefined;
  }
}

/** Whole numbers may have either form. */
function compared(one: JsonValue, other: JsonValue): number {
  const [left, right] = [one as string | number, other as string | number];
  return left < right ? -1 : left > right ? 1 : 0;
}

function kindOf(value: JsonValue): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return typeof value;
    case 'bigint':
      return 'integer';
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'fraction';
    default:
      return undefined;
  }
}
