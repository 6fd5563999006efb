// Quotas: which names they may limit, and which of these in which scopes.
import { entriesAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { immutableDetail } from '../../api/field-errors.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { validateAmount } from './resource-lists.ts';
import {
  isIntegerResource,
  isStandardQuotaResource,
  quotaResourceNameProblems,
} from './resource-names.ts';

const ofPods: ReadonlySet<string> = new Set([
  'pods',
  ...['', 'requests.', 'limits.'].flatMap((prefix) => [`${prefix}cpu`, `${prefix}memory`]),
]);
const ofClaims: ReadonlySet<string> = new Set(['persistentvolumeclaims', 'requests.storage']);

/** What each scope can limit of what quotas know. */
const scopes: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['Terminating', ofPods],
  ['NotTerminating', ofPods],
  ['BestEffort', new Set(['pods'])],
  ['NotBestEffort', ofPods],
  ['PriorityClass', ofPods],
  ['CrossNamespacePodAffinity', ofPods],
  ['VolumeAttributesClass', ofClaims],
]);
/** Scopes that a quota has or has not: they have no values. */
const plainScopes: ReadonlySet<string> = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'CrossNamespacePodAffinity',
]);
const contrary = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

export const validateQuota: Validator = (write) => {
  const { object, old, errors, subresource } = write;
  if (subresource === 'status') {
    for (const list of ['hard', 'used']) validateEntries(object, 'status', list, write);
    return;
  }
  const spec = recordAt(object, 'spec') ?? {};
  validateEntries(object, 'spec', 'hard', write);
  validateScopes(spec, write);
  validateScopeSelector(spec, write);
  if (old === undefined) return;
  const before = new Set(textsAt(recordAt(old, 'spec'), 'scopes'));
  const now = new Set(textsAt(spec, 'scopes'));
  if (now.size !== before.size || [...now].some((scope) => !before.has(scope))) {
    errors.invalid('spec.scopes', spec['scopes'] ?? null, immutableDetail);
  }
};

function validateEntries(
  object: Readonly<JsonObject>,
  part: string,
  list: string,
  { errors, naming }: ValidatedWrite,
): void {
  for (const [name, value] of entriesAt(recordAt(object, part), list)) {
    const path = `${part}.${list}[${name}]`;
    errors.problems(path, name, quotaResourceNameProblems(name));
    validateAmount(value, path, errors, isIntegerResource(name, naming));
  }
}

/** Known names that the scope cannot limit. */
function misfits(spec: JsonObject, scope: string): readonly string[] {
  const fitting = scopes.get(scope);
  if (fitting === undefined) return [];
  return entriesAt(spec, 'hard')
    .map(([name]) => name)
    .filter((name) => isStandardQuotaResource(name) && !fitting.has(name));
}

const hasContrary = (chosen: readonly string[]): readonly (readonly string[])[] =>
  contrary.filter((pair) => pair.every((scope) => chosen.includes(scope)));

function validateScopes(spec: JsonObject, { errors }: ValidatedWrite): void {
  const chosen = textsAt(spec, 'scopes');
  for (const scope of chosen) {
    if (!scopes.has(scope)) errors.invalid('spec.scopes', chosen, 'unsupported scope');
    for (const _name of misfits(spec, scope)) {
      errors.invalid('spec.scopes', chosen, 'unsupported scope applied to resource');
    }
  }
  for (const _pair of hasContrary(chosen)) {
    errors.invalid('spec.scopes', chosen, 'conflicting scopes');
  }
}

function validateScopeSelector(spec: JsonObject, write: ValidatedWrite): void {
  const selector = recordAt(spec, 'scopeSelector');
  const path = 'spec.scopeSelector.matchExpressions';
  const chosen: string[] = [];
  for (const one of recordsAt(selector, 'matchExpressions')) {
    const scope = textAt(one, 'scopeName');
    chosen.push(scope);
    if (!scopes.has(scope)) {
      write.errors.invalid(`${path}.scopeName`, scope, 'unsupported scope');
    }
    for (const _name of misfits(spec, scope)) {
      write.errors.invalid(path, selector, 'unsupported scope applied to resource');
    }
    validateOperator(one, path, write);
  }
  for (const _pair of hasContrary(chosen)) {
    write.errors.invalid(path, spec['scopes'], 'conflicting scopes');
  }
}

const onlyExists =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, " +
  'ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ' +
  'ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity';

function validateOperator(one: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const operator = textAt(one, 'operator');
  const values = textsAt(one, 'values');
  if (plainScopes.has(textAt(one, 'scopeName')) && operator !== 'Exists') {
    errors.invalid(`${path}.operator`, operator, onlyExists);
  }
  switch (operator) {
    case 'In':
    case 'NotIn': {
      if (values.length > 0) return;
      const detail =
        "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      errors.required(`${path}.values`, detail);
      return;
    }
    case 'Exists':
    case 'DoesNotExist': {
      if (values.length === 0) return;
      const detail =
        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      errors.invalid(`${path}.values`, values, detail);
      return;
    }
    default:
      errors.invalid(`${path}.operator`, operator, 'not a valid selector operator');
  }
}
