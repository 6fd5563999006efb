// Quotas and limit ranges: which names they may limit, and how limits fit together.
import { entriesAt, isSet, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import { isAbsent } from '../../api/presence.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { shownText } from '../validator.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { isExtendedResource, isHugePages, nanoOf, validateAmount } from './resource-lists.ts';

const counted: ReadonlySet<string> = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const measured: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

function isQuotaName(name: string): boolean {
  if (counted.has(name) || measured.has(name)) return true;
  return isHugePages(name) || name.startsWith('requests.hugepages-') || name.startsWith('count/');
}

const scopes = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];
const contrary = [
  ['Terminating', 'NotTerminating'],
  ['BestEffort', 'NotBestEffort'],
] as const;

export const validateQuota: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  for (const [name, value] of entriesAt(spec, 'hard')) {
    validateQuotaEntry(name, value, `spec.hard[${name}]`, write);
  }
  for (const list of ['hard', 'used']) {
    for (const [name, value] of entriesAt(recordAt(object, 'status'), list)) {
      validateQuotaEntry(name, value, `status.${list}[${name}]`, write);
    }
  }
  validateScopes(spec, write);
  if (old === undefined) return;
  const before = textsAt(recordAt(old, 'spec'), 'scopes');
  const now = textsAt(spec, 'scopes');
  if (!sameJson([...now].sort(), [...before].sort())) {
    errors.invalid('spec.scopes', now, 'field is immutable');
  }
};

function validateQuotaEntry(
  name: string,
  value: JsonValue,
  path: string,
  { errors }: ValidatedWrite,
): void {
  const problems = qualifiedNameProblems(name.startsWith('count/') ? name.slice(6) : name);
  errors.problems(path, name, problems);
  if (problems.length === 0 && !isQuotaName(name) && !name.includes('/')) {
    errors.invalid(path, name, 'must be a standard resource for quota');
  }
  const isWhole = counted.has(name) || name.startsWith('count/') || isHugePages(name);
  validateAmount(name, value, path, errors, isWhole);
}

function validateScopes(spec: JsonObject, { errors }: ValidatedWrite): void {
  const chosen = textsAt(spec, 'scopes');
  const names = entriesAt(spec, 'hard').map(([name]) => name);
  for (const scope of chosen) {
    if (!scopes.includes(scope)) {
      errors.invalid('spec.scopes', chosen, `unsupported scope: use ${scopes.join(', ')}`);
      continue;
    }
    for (const name of names) {
      if (fits(scope, name)) continue;
      errors.invalid('spec.scopes', chosen, `unsupported scope applied to resource ${name}`);
    }
  }
  for (const pair of contrary) {
    if (!pair.every((scope) => chosen.includes(scope))) continue;
    errors.invalid('spec.scopes', chosen, 'conflicting scopes');
  }
  const expressions = recordsAt(recordAt(spec, 'scopeSelector'), 'matchExpressions');
  for (const [at, one] of expressions.entries()) {
    const path = `spec.scopeSelector.matchExpressions[${String(at)}]`;
    const operator = textAt(one, 'operator');
    const values = textsAt(one, 'values');
    const name = textAt(one, 'scopeName');
    if (['In', 'NotIn'].includes(operator) && values.length === 0) {
      errors.required(
        `${path}.values`,
        "must be at least one value when `operator` is 'In' or 'NotIn'",
      );
    }
    if (['Exists', 'DoesNotExist'].includes(operator) && values.length > 0) {
      const detail = "must be no value when `operator` is 'Exists' or 'DoesNotExist'";
      errors.invalid(`${path}.values`, values, detail);
    }
    const isPlain = !['PriorityClass', 'VolumeAttributesClass'].includes(name);
    if (isPlain && operator !== '' && operator !== 'Exists') {
      errors.invalid(
        `${path}.operator`,
        operator,
        "must be 'Exist' when scope is any of the plain scopes",
      );
    }
  }
}

/** A scope selects pods, or claims; it limits nothing else. */
function fits(scope: string, name: string): boolean {
  if (scope === 'VolumeAttributesClass') {
    return (
      name === 'persistentvolumeclaims' ||
      name.endsWith('storage') ||
      name.includes('persistentvolumeclaims')
    );
  }
  if (scope === 'BestEffort') return name === 'pods' || name === 'count/pods';
  return (
    name === 'pods' ||
    name === 'count/pods' ||
    /^((requests|limits)\.)?(cpu|memory|ephemeral-storage|hugepages-.*)$/.test(name) ||
    name.includes('/')
  );
}

export const validateLimits: Validator = (write) => {
  const { object, errors } = write;
  const types = new Set<string>();
  for (const [at, limit] of recordsAt(recordAt(object, 'spec'), 'limits').entries()) {
    const path = `spec.limits[${String(at)}]`;
    const type = textAt(limit, 'type');
    const isStandard = ['Pod', 'Container', 'PersistentVolumeClaim'].includes(type);
    if (type !== '' && !isStandard) {
      errors.problems(`${path}.type`, type, qualifiedNameProblems(type));
      if (!type.includes('/')) {
        errors.invalid(`${path}.type`, type, 'must be a standard limit type or fully qualified');
      }
    }
    if (types.has(type)) errors.duplicate(`${path}.type`, type);
    types.add(type);
    if (type === 'Pod') {
      for (const name of ['default', 'defaultRequest']) {
        if (entriesAt(limit, name).length === 0) continue;
        errors.forbidden(`${path}.${name}`, "may not be specified when `type` is 'Pod'");
      }
    }
    if (type === 'PersistentVolumeClaim') {
      const hasBound = ['min', 'max'].some((name) => isSet(recordAt(limit, name), 'storage'));
      if (!hasBound) {
        errors.required(
          path,
          'either minimum or maximum storage value is required, but neither was provided',
        );
      }
    }
    validateAmounts(limit, path, write);
  }
};

/** min <= defaultRequest <= default <= max, each where it is given. */
function validateAmounts(limit: JsonObject, path: string, write: ValidatedWrite): void {
  const { errors, naming } = write;
  const lists = ['min', 'defaultRequest', 'default', 'max'] as const;
  const names = new Set(
    [...lists, 'maxLimitRequestRatio'].flatMap((list) =>
      entriesAt(limit, list).map(([name]) => name),
    ),
  );
  for (const name of names) {
    const given = lists.flatMap((list) => {
      const value = recordAt(limit, list)?.[name];
      return isAbsent(value) ? [] : [{ list, value }];
    });
    for (const [at, higher] of given.entries()) {
      const lower = given[at - 1];
      if (lower === undefined || nanoOf(lower.value) <= nanoOf(higher.value)) continue;
      const detail =
        `${lower.list} value ${shownText(lower.value)} is greater ` +
        `than ${higher.list} value ${shownText(higher.value)}`;
      errors.invalid(`${path}.${lower.list}[${name}]`, lower.value, detail);
    }
    const value = (list: string): JsonValue | undefined => recordAt(limit, list)?.[name];
    validateRatio(name, value, path, write);
    const mustMatch = isHugePages(name) || isExtendedResource(name, naming);
    const [usual, request] = [value('default'), value('defaultRequest')];
    if (!mustMatch || usual === undefined || request === undefined) continue;
    if (nanoOf(usual) !== nanoOf(request)) {
      const detail =
        `default value ${shownText(usual)} must equal to ` + `defaultRequest value in ${name}`;
      errors.invalid(`${path}.defaultRequest[${name}]`, usual, detail);
    }
  }
}

const nanoPerUnit = 1_000_000_000n;

function validateRatio(
  name: string,
  value: (list: string) => JsonValue | undefined,
  path: string,
  { errors }: ValidatedWrite,
): void {
  const ratio = value('maxLimitRequestRatio');
  if (ratio === undefined) return;
  const where = `${path}.maxLimitRequestRatio[${name}]`;
  const nano = nanoOf(ratio);
  if (nano < nanoPerUnit) {
    errors.invalid(where, ratio, `ratio ${shownText(ratio)} is less than 1`);
    return;
  }
  const [least, most] = [nanoOf(value('min')), nanoOf(value('max'))];
  if (least === 0n || most === 0n) return;
  if (nano * least > most * nanoPerUnit) {
    errors.invalid(where, ratio, `ratio ${shownText(ratio)} is greater than max/min`);
  }
}
