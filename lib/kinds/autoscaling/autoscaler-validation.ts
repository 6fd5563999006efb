// Autoscalers: each metric has the part that its type names, and a target in one form.
import { isSet, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

interface MetricPart {
  readonly member: string;
  /** Forms that the target may have. */
  readonly targets: readonly string[];
}
const metricParts: ReadonlyMap<string, MetricPart> = new Map([
  ['Object', { member: 'object', targets: ['value', 'averageValue'] }],
  ['Pods', { member: 'pods', targets: ['averageValue'] }],
  ['Resource', { member: 'resource', targets: ['averageUtilization', 'averageValue'] }],
  [
    'ContainerResource',
    { member: 'containerResource', targets: ['averageUtilization', 'averageValue'] },
  ],
  ['External', { member: 'external', targets: ['value', 'averageValue'] }],
]);

export const validateAutoscaler: Validator = (write) => {
  const { object, errors, isOn } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const metrics = recordsAt(spec, 'metrics');
  const least = numberAt(spec, 'minReplicas');
  const most = numberAt(spec, 'maxReplicas') ?? 0;
  if (least !== undefined && most > 0 && most < least) {
    errors.invalid('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`');
  }
  if (least === 0 && isOn('HPAScaleToZero')) {
    const hasSource = metrics.some((one) => ['Object', 'External'].includes(textAt(one, 'type')));
    if (!hasSource) {
      errors.forbidden(
        'spec.metrics',
        'must specify at least one Object or External metric to support scaling to zero replicas',
      );
    }
  }
  for (const [at, metric] of metrics.entries()) {
    validateMetric(metric, `spec.metrics[${String(at)}]`, write);
  }
};

function validateMetric(metric: JsonObject, path: string, write: ValidatedWrite): void {
  const { errors } = write;
  const type = textAt(metric, 'type');
  const part = metricParts.get(type);
  if (part === undefined) return; // the field's own rule reports it
  for (const { member } of metricParts.values()) {
    if (member === part.member) {
      if (isSet(metric, member)) continue;
      errors.required(`${path}.${member}`, 'must populate information for the given metric source');
    } else if (isSet(metric, member)) {
      errors.forbidden(
        `${path}.${member}`,
        `must populate the given metric source only, not with type ${type}`,
      );
    }
  }
  const source = recordAt(metric, part.member);
  if (source === undefined) return;
  const where = `${path}.${part.member}`;
  const selector = recordAt(recordAt(source, 'metric'), 'selector');
  validateLabelSelector(selector, `${where}.metric.selector`, errors);
  validateTarget(recordAt(source, 'target') ?? {}, part, `${where}.target`, write);
}

function validateTarget(
  target: JsonObject,
  { targets }: MetricPart,
  path: string,
  { errors }: ValidatedWrite,
): void {
  const set = targets.filter((name) => isSet(target, name));
  if (set.length === 0) {
    const names = targets.map((name) => `\`${name}\``).join(' or ');
    errors.required(`${path}.${targets[0] ?? ''}`, `must set ${names}`);
  } else if (set.length > 1) {
    errors.forbidden(`${path}.${set[1] ?? ''}`, 'may not set more than one form of the target');
  }
}
