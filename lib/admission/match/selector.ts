// Label selectors of configurations, compiled: thousands are asked about each write.
import { asText, entriesAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { internalError } from '../../base/status.ts';

export type Labels = Readonly<JsonObject> | undefined;

export interface Selector {
  /** It selects all, and nobody's labels need to be known for it. */
  readonly isEmpty: boolean;
  /** @throws StatusError 500 where the stored selector cannot be evaluated. */
  matches(labels: Labels): boolean;
}

interface Requirement {
  readonly key: string;
  readonly values: readonly string[];
  /** undefined: whether the label is there decides alone. */
  readonly isIn: boolean | undefined;
  /** The answer where the label is not there. */
  readonly withoutLabel: boolean;
}

/** Absent selects all. */
export function compileSelector(selector: Readonly<JsonObject> | undefined): Selector {
  const requirements: Requirement[] = [];
  for (const [key, value] of entriesAt(selector, 'matchLabels')) {
    requirements.push({ key, values: [asText(value)], isIn: true, withoutLabel: false });
  }
  for (const expression of recordsAt(selector, 'matchExpressions')) {
    const requirement = requirementOf(expression);
    if (typeof requirement === 'string') return unusable(requirement);
    requirements.push(requirement);
  }
  return { isEmpty: requirements.length === 0, matches: (labels) => fits(requirements, labels) };
}

/** The text says what is wrong. */
function requirementOf(expression: JsonObject): Requirement | string {
  const key = textAt(expression, 'key');
  const values = textsAt(expression, 'values');
  const operator = textAt(expression, 'operator');
  switch (operator) {
    case 'In':
    case 'NotIn': {
      const isIn = operator === 'In';
      if (values.length === 0) return `values of ${JSON.stringify(key)} must not be empty`;
      return { key, values, isIn, withoutLabel: !isIn };
    }
    case 'Exists':
    case 'DoesNotExist':
      return { key, values, isIn: undefined, withoutLabel: operator === 'DoesNotExist' };
    default:
      return `${JSON.stringify(operator)} is not a valid label selector operator`;
  }
}

const unusable = (problem: string): Selector => ({
  isEmpty: false,
  matches() {
    throw internalError(problem);
  },
});

function fits(requirements: readonly Requirement[], labels: Labels): boolean {
  for (const { key, values, isIn, withoutLabel } of requirements) {
    const value = labels?.[key];
    if (typeof value !== 'string') {
      if (!withoutLabel) return false;
    } else if (isIn === undefined ? withoutLabel : values.includes(value) !== isIn) return false;
  }
  return true;
}
