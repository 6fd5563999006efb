// The order in which failures of rules are told: that of the fields as the reference goes through
// them, which is not that of the description.
import type { FieldError } from '../../base/status.ts';

const members = [
  'failurePolicy',
  'paramKind',
  'matchConstraints',
  'matchResources',
  'matchPolicy',
  'namespaceSelector',
  'objectSelector',
  'resourceRules',
  'excludeResourceRules',
  'operations',
  'apiGroups',
  'apiVersions',
  'resources',
  'scope',
  'matchConditions',
  'variables',
  'validations',
  'auditAnnotations',
  'mutations',
  'matchConditions.expression',
  'matchConditions.name',
  'reinvocationPolicy',
];
const ranks: ReadonlyMap<string, number> = new Map(members.map((name, rank) => [name, rank]));

/** By place in the spec, what is whole before its parts. */
export function byPlace(one: FieldError, other: FieldError): number {
  const [left, right] = [partsOf(one.field), partsOf(other.field)];
  let within = '';
  for (const [at, part] of left.entries()) {
    const against = right[at];
    if (against === undefined) return 1;
    if (part !== against) return rankOf(part, within) - rankOf(against, within);
    if (at === 0 && part !== 'spec') return 0;
    if (!isIndex(part)) within = part;
  }
  return left.length - right.length;
}

const partsOf = (path: string): readonly string[] => path.split(/[.[\]]+/);
const isIndex = (part: string): boolean => /^\d+$/.test(part);

const rankOf = (part: string, within: string): number => {
  if (isIndex(part)) return Number(part);
  return ranks.get(`${within}.${part}`) ?? ranks.get(part) ?? members.length;
};
