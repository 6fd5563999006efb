// HorizontalPodAutoscaler between autoscaling/v2 and the versions before it. What they have no
// fields for travels in annotations, as Kubernetes writes them: a read and a write lose nothing.
// An annotation of ours that cannot be read is dropped.
import { annotationOf, compact } from '../../api/convert-fields.ts';
import type { Conversion, Conversions, Data } from '../../api/convert-fields.ts';
import { isSet, recordAt, recordsAt, valueIn } from '../../api/json-access.ts';
import { isAbsent, isEmpty } from '../../api/presence.ts';
import { without } from '../../api/json-value.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { annotationText, readAnnotation } from './annotation-json.ts';
import type { Shape } from './annotation-json.ts';
import { metricToV1, metricToV2, metricsShape } from './metric-conversion.ts';
import type { MetricPart } from './metric-conversion.ts';

const annotationNames = (
  profile: NamingProfile,
): Record<'metrics' | 'currentMetrics' | 'conditions' | 'behavior', string> => {
  const named = (name: string): string =>
    profile.resolve(`autoscaling.alpha.{kubernetes}.io/${name}`);
  return {
    metrics: named('metrics'),
    currentMetrics: named('current-metrics'),
    conditions: named('conditions'),
    behavior: named('behavior'),
  };
};

/** Annotations that stand for fields: no object of the newest version has them. */
export const autoscalerFieldAnnotations = (profile: NamingProfile): readonly string[] =>
  Object.values(annotationNames(profile));

const partOf = (of: Data, name: string): JsonObject => recordAt(of, name) ?? {};

/** The use of processors that older versions have a field for. */
function utilizationOf(metric: Data, part: MetricPart): JsonValue | undefined {
  if (metric['type'] !== 'Resource') return undefined;
  if (recordAt(metric, 'resource')?.['name'] !== 'cpu') return undefined;
  return valueIn(metric, ['resource', part, 'averageUtilization']) ?? undefined;
}

const toAutoscalingV1: Conversion = (object, profile) => {
  const spec = partOf(object, 'spec');
  const status = partOf(object, 'status');
  const metrics = recordsAt(spec, 'metrics');
  const current = recordsAt(status, 'currentMetrics');
  const targets = metrics.map((one) => utilizationOf(one, 'target'));
  const others = metrics.filter((_one, at) => targets[at] === undefined);
  const currentUtilization = current
    .map((one) => utilizationOf(one, 'current'))
    .findLast((one) => one !== undefined);
  const conditions = recordsAt(status, 'conditions').map(shownCondition);
  const names = annotationNames(profile);
  const added = compact({
    [names.metrics]: listText(others.map((one) => metricToV1(one, 'target'))),
    [names.currentMetrics]: listText(current.map((one) => metricToV1(one, 'current'))),
    [names.conditions]: listText(conditions),
    [names.behavior]: behaviorText(spec),
  });
  return {
    ...object,
    metadata: withAnnotations(partOf(object, 'metadata'), added, names),
    spec: {
      ...without(spec, 'metrics', 'behavior'),
      ...compact({ targetCPUUtilizationPercentage: targets.find((one) => one !== undefined) }),
    },
    status: {
      ...without(status, 'currentMetrics', 'conditions'),
      ...compact({ currentCPUUtilizationPercentage: currentUtilization }),
    },
  };
};

const listText = (list: readonly JsonObject[]): string | undefined =>
  list.length === 0 ? undefined : annotationText([...list]);

const shownCondition = ({
  type,
  status,
  lastTransitionTime,
  reason,
  message,
}: Data): JsonObject => ({
  type: type ?? '',
  status: status ?? '',
  lastTransitionTime: lastTransitionTime ?? null,
  ...compact({ reason, message }),
});

const conditionsShape: Shape = [
  { type: 'text', status: 'text', lastTransitionTime: 'time', reason: 'text', message: 'text' },
];

// Behavior has the names of Go's fields in its annotation, and null for what is absent.
const directionNames = { scaleUp: 'ScaleUp', scaleDown: 'ScaleDown' };
const ruleNames = {
  stabilizationWindowSeconds: 'StabilizationWindowSeconds',
  selectPolicy: 'SelectPolicy',
  policies: 'Policies',
  tolerance: 'Tolerance',
};
const policyNames = { type: 'Type', value: 'Value', periodSeconds: 'PeriodSeconds' };
const rulesShape: Shape = {
  stabilizationWindowSeconds: 'integer',
  selectPolicy: 'text',
  policies: [{ type: 'text', value: 'integer', periodSeconds: 'integer' }],
  tolerance: 'quantity',
};
const behaviorShape: Shape = { scaleUp: rulesShape, scaleDown: rulesShape };

function behaviorText(spec: Data): string | undefined {
  const behavior = recordAt(spec, 'behavior');
  if (behavior === undefined) return undefined;
  const rulesOf = (direction: string): JsonValue => {
    const rules = recordAt(behavior, direction);
    if (rules === undefined) return null;
    const policies = recordsAt(rules, 'policies').map((one) => withNames(one, policyNames));
    return withNames({ ...rules, policies: policies.length === 0 ? null : policies }, ruleNames);
  };
  const rules = { scaleUp: rulesOf('scaleUp'), scaleDown: rulesOf('scaleDown') };
  return annotationText(withNames(rules, directionNames));
}

/** Every member of `names`, in their order, under the other name. */
const withNames = (of: Data, names: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(names).map(([name, other]) => [other, of[name] ?? null]));

export const toAutoscalingV2: Conversion = (object, profile) => {
  const spec = partOf(object, 'spec');
  const status = partOf(object, 'status');
  const names = annotationNames(profile);
  const given = (name: string, shape: Shape): JsonObject =>
    compact({ value: readAnnotation(annotationOf(object, name), shape) });
  const metricsOf = (name: string, part: MetricPart): JsonObject[] | undefined => {
    const list = given(name, metricsShape(part));
    return isSet(list, 'value')
      ? recordsAt(list, 'value').map((one) => metricToV2(one, part))
      : undefined;
  };
  const cpu = cpuMetric(spec['targetCPUUtilizationPercentage'], 'target');
  const metrics = [...(metricsOf(names.metrics, 'target') ?? []), ...cpu];
  const kept = metricsOf(names.currentMetrics, 'current');
  const current = kept ?? cpuMetric(status['currentCPUUtilizationPercentage'], 'current');
  const conditions = recordsAt(given(names.conditions, conditionsShape), 'value');
  const behavior = recordAt(given(names.behavior, behaviorShape), 'value');
  return {
    ...object,
    metadata: withAnnotations(partOf(object, 'metadata'), {}, names),
    spec: {
      ...without(spec, 'targetCPUUtilizationPercentage'),
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(isEmpty(behavior) ? {} : compact({ behavior })),
    },
    status: {
      ...without(status, 'currentCPUUtilizationPercentage'),
      ...(current.length === 0 ? {} : { currentMetrics: current }),
      ...(conditions.length === 0 ? {} : { conditions: [...conditions] }),
    },
  };
};

/** Metadata with our annotations replaced by `added`; an empty map disappears. */
function withAnnotations(
  metadata: Data,
  added: Data,
  names: Readonly<Record<string, string>>,
): JsonObject {
  const kept = without(partOf(metadata, 'annotations'), ...Object.values(names));
  const annotations = { ...kept, ...added };
  const rest = without(metadata, 'annotations');
  return isEmpty(annotations) ? rest : { ...rest, annotations };
}

function cpuMetric(utilization: JsonValue | undefined, part: MetricPart): JsonObject[] {
  if (isAbsent(utilization)) return [];
  const value = part === 'target' ? { type: 'Utilization' } : {};
  return [
    {
      type: 'Resource',
      resource: { name: 'cpu', [part]: { ...value, averageUtilization: utilization } },
    },
  ];
}

/** The first beta with metrics writes them as the annotations do, in fields. */
const fromFirstBeta: Conversion = (object, profile) => {
  const spec = partOf(object, 'spec');
  const status = partOf(object, 'status');
  const names = annotationNames(profile);
  const behavior = readAnnotation(annotationOf(object, names.behavior), behaviorShape);
  const metrics = recordsAt(spec, 'metrics').map((one) => metricToV2(one, 'target'));
  const current = recordsAt(status, 'currentMetrics').map((one) => metricToV2(one, 'current'));
  return {
    ...object,
    metadata: withAnnotations(partOf(object, 'metadata'), {}, names),
    spec: {
      ...spec,
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(isEmpty(behavior) ? {} : compact({ behavior })),
    },
    status: { ...status, ...(current.length === 0 ? {} : { currentMetrics: current }) },
  };
};

const toFirstBeta: Conversion = (object, profile) => {
  const spec = partOf(object, 'spec');
  const status = partOf(object, 'status');
  const names = annotationNames(profile);
  const added = compact({ [names.behavior]: behaviorText(spec) });
  const metrics = recordsAt(spec, 'metrics').map((one) => metricToV1(one, 'target'));
  const current = recordsAt(status, 'currentMetrics').map((one) => metricToV1(one, 'current'));
  return {
    ...object,
    metadata: withAnnotations(partOf(object, 'metadata'), added, names),
    spec: { ...without(spec, 'behavior'), ...(metrics.length === 0 ? {} : { metrics }) },
    status: { ...status, ...(current.length === 0 ? {} : { currentMetrics: current }) },
  };
};

const idOf = (version: string): string => `autoscaling/${version}.HorizontalPodAutoscaler`;

export const autoscalerConversions: Conversions = {
  [`${idOf('v1')} > ${idOf('v2')}`]: toAutoscalingV2,
  [`${idOf('v2')} > ${idOf('v1')}`]: toAutoscalingV1,
  [`${idOf('v2beta1')} > ${idOf('v2')}`]: fromFirstBeta,
  [`${idOf('v2')} > ${idOf('v2beta1')}`]: toFirstBeta,
};
