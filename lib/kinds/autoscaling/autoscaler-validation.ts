// Autoscalers: what they scale, and bounds and pace of it. Metrics are in metric-validation.ts.
import type { FieldErrors } from '../../api/field-errors.ts';
import {
  asText,
  numberAt,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { nanoOf } from '../core/resource-lists.ts';
import type { Holder, ValidatedWrite, Validator } from '../validator.ts';
import { apiVersionProblem, validateMetric, validateReference } from './metric-validation.ts';

export const validateAutoscaler: Validator = (write) => {
  const { object, errors, subresource } = write;
  if (subresource === 'status') {
    validateCounts(recordAt(object, 'status'), errors);
    return;
  }
  const spec = recordAt(object, 'spec') ?? {};
  const metrics = recordsAt(spec, 'metrics');
  validateBounds(write, spec);
  validateTarget(write, recordAt(spec, 'scaleTargetRef') ?? {});
  for (const [at, metric] of metrics.entries()) {
    validateMetric(metric, `spec.metrics[${String(at)}]`, write);
  }
  const hasSource = metrics.some((one) => ['Object', 'External'].includes(textAt(one, 'type')));
  if (numberAt(spec, 'minReplicas') === 0 && !hasSource) {
    const detail =
      'must specify at least one Object or External metric to support scaling to zero replicas';
    errors.forbidden('spec.metrics', detail);
  }
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = recordIn(spec, 'behavior', direction);
    if (rules !== undefined) validateScaling(rules, `spec.behavior.${direction}`, errors);
  }
};

function validateCounts(status: Holder, errors: FieldErrors): void {
  for (const name of ['currentReplicas', 'desiredReplicas']) {
    const count = numberAt(status, name) ?? 0;
    if (count < 0) errors.invalid(`status.${name}`, count, 'must be greater than or equal to 0');
  }
}

function validateBounds({ old, errors, isOn }: ValidatedWrite, spec: JsonObject): void {
  const low = numberAt(spec, 'minReplicas');
  const high = numberAt(spec, 'maxReplicas') ?? 0;
  const isNoneStored = numberAt(recordAt(old, 'spec'), 'minReplicas') === 0;
  const least = isOn('HPAScaleToZero') || isNoneStored ? 0 : 1;
  if (low !== undefined && low < least) {
    const detail = `must be greater than or equal to ${String(least)}`;
    errors.invalid('spec.minReplicas', low, detail);
  }
  const path = 'spec.maxReplicas';
  if (high === 0) errors.required(path, 'must be set and greater than 0');
  else if (high < 1) errors.invalid(path, high, 'must be greater than or equal to 1');
  if (low === undefined || high >= low) return;
  errors.invalid(path, high, 'must be greater than or equal to `minReplicas`');
}

/** Only replication controllers have no group; a reference that was wrong before may stay so. */
function validateTarget({ old, errors }: ValidatedWrite, target: JsonObject): void {
  const path = 'spec.scaleTargetRef';
  validateReference(target, path, errors);
  const stored = recordIn(old, 'spec', 'scaleTargetRef');
  if (stored !== undefined && targetVersionProblem(stored) !== undefined) return;
  const problem = targetVersionProblem(target);
  if (problem !== undefined) {
    errors.invalid(`${path}.apiVersion`, textAt(target, 'apiVersion'), problem);
  }
}

const targetVersionProblem = (target: Holder): string | undefined =>
  apiVersionProblem(textAt(target, 'apiVersion'), {
    needsGroup: textAt(target, 'kind') !== 'ReplicationController',
  });

const windowSecondsMax = 3600;
const periodSecondsMax = 1800;

function validateScaling(rules: JsonObject, path: string, errors: FieldErrors): void {
  const window = numberAt(rules, 'stabilizationWindowSeconds') ?? 0;
  const at = `${path}.stabilizationWindowSeconds`;
  if (window < 0) errors.invalid(at, window, 'must be greater than or equal to zero');
  if (window > windowSecondsMax) {
    errors.invalid(at, window, `must be less than or equal to ${String(windowSecondsMax)}`);
  }
  const select = valueAt(rules, 'selectPolicy');
  if (select !== undefined && !selectPolicies.includes(asText(select))) {
    errors.notSupported(`${path}.selectPolicy`, select, selectPolicies);
  }
  const policies = recordsAt(rules, 'policies');
  if (policies.length === 0) {
    errors.required(`${path}.policies`, 'must specify at least one Policy');
  }
  for (const [index, policy] of policies.entries()) {
    validatePolicy(policy, `${path}.policies[${String(index)}]`, errors);
  }
  const tolerance = valueAt(rules, 'tolerance');
  if (nanoOf(tolerance) >= 0n) return;
  errors.invalid(`${path}.tolerance`, tolerance, 'must be greater than or equal to 0');
}

const selectPolicies = ['Disabled', 'Max', 'Min'];
const policyTypes = ['Percent', 'Pods'];

function validatePolicy(policy: JsonObject, path: string, errors: FieldErrors): void {
  const type = textAt(policy, 'type');
  if (!policyTypes.includes(type)) errors.notSupported(`${path}.type`, type, policyTypes);
  for (const name of ['value', 'periodSeconds']) {
    const number = numberAt(policy, name) ?? 0;
    if (number <= 0) errors.invalid(`${path}.${name}`, number, 'must be greater than zero');
  }
  const period = numberAt(policy, 'periodSeconds') ?? 0;
  if (period <= periodSecondsMax) return;
  const detail = `must be less than or equal to ${String(periodSecondsMax)}`;
  errors.invalid(`${path}.periodSeconds`, period, detail);
}
