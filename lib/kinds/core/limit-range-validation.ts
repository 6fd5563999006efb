// Limit ranges: what they may limit, and how the limits of one resource fit together.
import { entriesAt, isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import { isAbsent } from '../../api/presence.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { shownText } from '../validator.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { nanoOf } from './resource-lists.ts';
import {
  containerResourceNameProblems,
  mayOvercommit,
  resourceNameProblems,
} from './resource-names.ts';

const standardTypes = ['Pod', 'Container', 'PersistentVolumeClaim'];

export const validateLimitRange: Validator = (write) => {
  const { object, errors } = write;
  const types = new Set<string>();
  for (const [at, limit] of recordsAt(recordAt(object, 'spec'), 'limits').entries()) {
    const path = `spec.limits[${String(at)}]`;
    const type = textAt(limit, 'type');
    errors.problems(`${path}.type`, type, typeProblems(type));
    if (types.has(type)) errors.duplicate(`${path}.type`, type);
    types.add(type);
    validateLimit(limit, path, write);
  }
};

function typeProblems(type: string): readonly string[] {
  const problems = qualifiedNameProblems(type);
  if (problems.length > 0 || type.includes('/') || standardTypes.includes(type)) return problems;
  return ['must be a standard limit type or fully qualified'];
}

const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
type List = (typeof lists)[number];
const usual: readonly List[] = ['default', 'defaultRequest'];

function validateLimit(limit: JsonObject, path: string, write: ValidatedWrite): void {
  const { errors, naming } = write;
  const type = textAt(limit, 'type');
  const isOfContainers = type === 'Pod' || type === 'Container';
  const names = new Set<string>();
  for (const list of lists) {
    const entries = entriesAt(limit, list);
    if (type === 'Pod' && usual.includes(list)) {
      if (entries.length === 0) continue;
      errors.forbidden(`${path}.${list}`, "may not be specified when `type` is 'Pod'");
      continue;
    }
    for (const [name] of entries) {
      names.add(name);
      const problems = isOfContainers
        ? containerResourceNameProblems(name, naming)
        : resourceNameProblems(name);
      errors.problems(`${path}.${list}[${name}]`, name, problems);
    }
  }
  const hasBound = ['min', 'max'].some((list) => isSet(recordAt(limit, list), 'storage'));
  if (type === 'PersistentVolumeClaim' && !hasBound) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided';
    errors.required(`${path}.limits`, detail);
  }
  for (const name of names) validateAmounts(name, limit, path, write);
}

interface Order {
  readonly lower: List;
  readonly higher: List;
  /** Which of the two is wrong, and whose value is shown. */
  readonly at: List;
  readonly shown: List;
}

const orders: readonly Order[] = [
  { lower: 'min', higher: 'max', at: 'min', shown: 'min' },
  { lower: 'min', higher: 'defaultRequest', at: 'defaultRequest', shown: 'defaultRequest' },
  { lower: 'defaultRequest', higher: 'max', at: 'defaultRequest', shown: 'defaultRequest' },
  { lower: 'defaultRequest', higher: 'default', at: 'defaultRequest', shown: 'defaultRequest' },
  { lower: 'min', higher: 'default', at: 'default', shown: 'min' },
  { lower: 'default', higher: 'max', at: 'default', shown: 'max' },
];
const spoken: Readonly<Record<List, string>> = {
  max: 'max',
  min: 'min',
  default: 'default',
  defaultRequest: 'default request',
  maxLimitRequestRatio: 'ratio',
};

/** min <= defaultRequest <= default <= max, each where it is given. */
function validateAmounts(
  name: string,
  limit: JsonObject,
  path: string,
  { errors, naming }: ValidatedWrite,
): void {
  const isPod = textAt(limit, 'type') === 'Pod';
  const valueOf = (list: List): JsonValue | undefined => {
    const value = isPod && usual.includes(list) ? undefined : recordAt(limit, list)?.[name];
    return isAbsent(value) ? undefined : value;
  };
  for (const { lower, higher, at, shown } of orders) {
    const [low, high] = [valueOf(lower), valueOf(higher)];
    if (low === undefined || high === undefined || nanoOf(low) <= nanoOf(high)) continue;
    const isLimit = lower === 'defaultRequest' && higher === 'default';
    const detail =
      `${spoken[lower]} value ${shownText(low)} is greater than ` +
      `${isLimit ? 'default limit' : spoken[higher]} value ${shownText(high)}`;
    errors.invalid(`${path}.${at}[${name}]`, valueOf(shown), detail);
  }
  errors.problems(
    `${path}.maxLimitRequestRatio[${name}]`,
    valueOf('maxLimitRequestRatio'),
    ratioProblems(valueOf),
  );
  const [limits, requests] = [valueOf('default'), valueOf('defaultRequest')];
  if (mayOvercommit(name, naming) || limits === undefined || requests === undefined) return;
  if (nanoOf(limits) !== nanoOf(requests)) {
    const detail =
      `default value ${shownText(limits)} must equal to ` +
      `defaultRequest value ${shownText(requests)} in ${name}`;
    errors.invalid(`${path}.defaultRequest[${name}]`, requests, detail);
  }
}

const nanoPerUnit = 1_000_000_000n;

/** A ratio is at least 1, and no more than lies between the bounds. */
function ratioProblems(valueOf: (list: List) => JsonValue | undefined): readonly string[] {
  const ratio = valueOf('maxLimitRequestRatio');
  if (ratio === undefined) return [];
  const nano = nanoOf(ratio);
  const problems: string[] = [];
  if (nano < nanoPerUnit) problems.push(`ratio ${shownText(ratio)} is less than 1`);
  const [min, max] = [valueOf('min'), valueOf('max')];
  if (min === undefined || max === undefined) return problems;
  const [least, most] = [nanoOf(min), nanoOf(max)];
  if (least > 0n && nano * least > most * nanoPerUnit) {
    const limit = (Number(most) / Number(least)).toFixed(6);
    problems.push(`ratio ${shownText(ratio)} is greater than max/min = ${limit}`);
  }
  return problems;
}
