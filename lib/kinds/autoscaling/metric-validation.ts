// What an autoscaler scales by: each metric has the one source that its type names, and a target.
// Of several sources only the first is looked into.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, numberAt, recordAt, textAt, valueAt } from '../../api/json-access.ts';
import { dns1123LabelProblems, pathSegmentProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { nanoOf } from '../core/resource-lists.ts';
import { containerResourceNameProblems } from '../core/resource-names.ts';
import type { ValidatedWrite } from '../validator.ts';

interface MetricSource {
  readonly type: string;
  readonly member: string;
  /** Besides the target as such. */
  readonly validate: (source: JsonObject, path: string, write: ValidatedWrite) => void;
}

const sources: readonly MetricSource[] = [
  { type: 'Object', member: 'object', validate: validateObjectSource },
  { type: 'External', member: 'external', validate: validateExternalSource },
  { type: 'Pods', member: 'pods', validate: validatePodsSource },
  { type: 'Resource', member: 'resource', validate: validateResourceSource },
  {
    type: 'ContainerResource',
    member: 'containerResource',
    validate: validateContainerResourceSource,
  },
];
const types = sources.map(({ type }) => type);

export function validateMetric(metric: JsonObject, path: string, write: ValidatedWrite): void {
  const { errors } = write;
  const type = textAt(metric, 'type');
  if (type === '') errors.required(`${path}.type`, 'must specify a metric source type');
  if (!types.includes(type)) errors.notSupported(`${path}.type`, type, types);
  const given = sources.filter(({ member }) => isSet(metric, member));
  const [first] = given;
  first?.validate(recordAt(metric, first.member) ?? {}, `${path}.${first.member}`, write);
  const named = sources.find((one) => one.type === type);
  if (named !== undefined && !given.includes(named)) {
    const detail = 'must populate information for the given metric source';
    errors.required(`${path}.${named.member}`, detail);
  }
  if (given.length === 1) return;
  for (const one of given) {
    if (one === named) continue;
    errors.forbidden(`${path}.${one.member}`, 'must populate the given metric source only');
  }
}

function validateObjectSource(source: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const described = recordAt(source, 'describedObject') ?? {};
  const where = `${path}.describedObject`;
  validateReference(described, where, errors);
  const version = textAt(described, 'apiVersion');
  const problem = apiVersionProblem(version, { needsGroup: false });
  if (problem !== undefined) errors.invalid(`${where}.apiVersion`, version, problem);
  validateIdentifier(source, path, errors);
  const target = validateTarget(source, path, errors);
  if (isSet(target, 'value') || isSet(target, 'averageValue')) return;
  const detail = 'must set either a target value or averageValue';
  errors.required(`${path}.target.averageValue`, detail);
}

function validateExternalSource(
  source: JsonObject,
  path: string,
  { errors }: ValidatedWrite,
): void {
  validateIdentifier(source, path, errors);
  const target = validateTarget(source, path, errors);
  const [hasValue, hasAverage] = [isSet(target, 'value'), isSet(target, 'averageValue')];
  if (!hasValue && !hasAverage) {
    const detail = 'must set either a target value for metric or a per-pod target';
    errors.required(`${path}.target.averageValue`, detail);
  }
  if (hasValue && hasAverage) {
    const detail = 'may not set both a target value for metric and a per-pod target';
    errors.forbidden(`${path}.target.value`, detail);
  }
}

function validatePodsSource(source: JsonObject, path: string, { errors }: ValidatedWrite): void {
  validateIdentifier(source, path, errors);
  const target = validateTarget(source, path, errors);
  if (isSet(target, 'averageValue')) return;
  errors.required(`${path}.target.averageValue`, 'must specify a positive target averageValue');
}

function validateResourceSource(
  source: JsonObject,
  path: string,
  { errors }: ValidatedWrite,
): void {
  if (textAt(source, 'name') === '') {
    errors.required(`${path}.name`, 'must specify a resource name');
  }
  const target = validateTarget(source, path, errors);
  const hasUtilization = isSet(target, 'averageUtilization');
  const hasAverage = isSet(target, 'averageValue');
  if (!hasUtilization && !hasAverage) {
    const detail = 'must set either a target raw value or a target utilization';
    errors.required(`${path}.target.averageUtilization`, detail);
  }
  if (hasUtilization && hasAverage) {
    const detail = 'may not set both a target raw value and a target utilization';
    errors.forbidden(`${path}.target.averageValue`, detail);
  }
}

function validateContainerResourceSource(
  source: JsonObject,
  path: string,
  write: ValidatedWrite,
): void {
  const { errors, naming } = write;
  const name = textAt(source, 'name');
  if (name !== '')
    errors.problems(`${path}.name`, name, containerResourceNameProblems(name, naming));
  const container = textAt(source, 'container');
  if (container === '') errors.required(`${path}.container`, 'must specify a container');
  else errors.problems(`${path}.container`, container, dns1123LabelProblems(container));
  validateResourceSource(source, path, write);
}

function validateIdentifier(source: JsonObject, path: string, errors: FieldErrors): void {
  const name = textAt(recordAt(source, 'metric'), 'name');
  const where = `${path}.metric.name`;
  if (name === '') errors.required(where, 'must specify a metric name');
  else errors.problems(where, name, pathSegmentProblems(name));
}

const targetTypes: ReadonlySet<string> = new Set(['Utilization', 'Value', 'AverageValue']);

/** The target of a source, which may be absent. */
function validateTarget(source: JsonObject, path: string, errors: FieldErrors): JsonObject {
  const target = recordAt(source, 'target') ?? {};
  const where = `${path}.target`;
  const type = textAt(target, 'type');
  if (type === '') errors.required(`${where}.type`, 'must specify a metric target type');
  if (!targetTypes.has(type)) {
    const detail = 'must be either Utilization, Value, or AverageValue';
    errors.invalid(`${where}.type`, type, detail);
  }
  for (const name of ['value', 'averageValue']) {
    const amount = valueAt(target, name);
    if (amount === undefined || nanoOf(amount) > 0n) continue;
    errors.invalid(`${where}.${name}`, amount, 'must be positive');
  }
  const utilization = numberAt(target, 'averageUtilization');
  if (utilization !== undefined && utilization < 1) {
    errors.invalid(`${where}.averageUtilization`, utilization, 'must be greater than 0');
  }
  return target;
}

/** Of an object of some kind; its version is judged by the caller. */
export function validateReference(reference: JsonObject, path: string, errors: FieldErrors): void {
  for (const name of ['kind', 'name']) {
    const text = textAt(reference, name);
    if (text === '') errors.required(`${path}.${name}`);
    else errors.problems(`${path}.${name}`, text, pathSegmentProblems(text));
  }
}

/** `VERSION` or `GROUP/VERSION`. */
export function apiVersionProblem(
  apiVersion: string,
  { needsGroup }: { readonly needsGroup: boolean },
): string | undefined {
  const [group = '', ...rest] = apiVersion.split('/');
  if (rest.length > 1) return `unexpected GroupVersion string: ${apiVersion}`;
  const hasGroup = rest.length === 1 && group !== '';
  return needsGroup && !hasGroup ? 'apiVersion must specify API group' : undefined;
}
