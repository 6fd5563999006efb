// HorizontalPodAutoscaler between autoscaling/v2 and the versions before it. What they have no
// fields for travels in annotations, as Kubernetes writes them: a read and a write lose nothing.
// An annotation of ours that is no JSON is dropped.
import { annotationOf, compact } from '../../api/convert-fields.ts';
import type { Conversion, Conversions, Data } from '../../api/convert-fields.ts';
import { isSet, recordAt, recordIn, recordsAt, valueIn } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { isAbsent, isEmpty } from '../../api/presence.ts';
import { without } from '../../api/json-value.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';

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

/** The message at a path of names; an absent one is empty. */
const partOf = (of: Data, ...path: readonly string[]): JsonObject => recordIn(of, ...path) ?? {};

const isCpuUtilization = (metric: Data, part: 'target' | 'current'): boolean => {
  const resource = partOf(metric, 'resource');
  return (
    metric['type'] === 'Resource' &&
    resource['name'] === 'cpu' &&
    isSet(recordAt(resource, part), 'averageUtilization')
  );
};

const utilizationOf = (
  metric: Data | undefined,
  part: 'target' | 'current',
): JsonValue | undefined => valueIn(metric, ['resource', part, 'averageUtilization']);

function toAutoscalingV1(object: Data, profile: NamingProfile): JsonObject {
  const spec = partOf(object, 'spec');
  const status = partOf(object, 'status');
  const metrics = recordsAt(spec, 'metrics');
  const current = recordsAt(status, 'currentMetrics');
  const conditions = recordsAt(status, 'conditions');
  const cpu = metrics.find((metric) => isCpuUtilization(metric, 'target'));
  const others = metrics.filter((metric) => metric !== cpu);
  const currentCpu = current.find((metric) => isCpuUtilization(metric, 'current'));
  const currentUtilization = utilizationOf(currentCpu, 'current');
  const isFieldEnough = sameJson([...current], cpuMetric(currentUtilization, 'current'));
  const names = annotationNames(profile);
  const added = compact({
    [names.metrics]:
      others.length === 0
        ? undefined
        : JSON.stringify(others.map((one) => metricToV1(one, targetToV1))),
    [names.currentMetrics]: isFieldEnough
      ? undefined
      : JSON.stringify(current.map((one) => metricToV1(one, currentToV1))),
    [names.conditions]: conditions.length === 0 ? undefined : JSON.stringify(conditions),
    [names.behavior]: isSet(spec, 'behavior') ? JSON.stringify(spec['behavior']) : undefined,
  });
  return {
    ...object,
    metadata: withAnnotations(partOf(object, 'metadata'), added, names),
    spec: {
      ...without(spec, 'metrics', 'behavior'),
      ...compact({ targetCPUUtilizationPercentage: utilizationOf(cpu, 'target') }),
    },
    status: {
      ...without(status, 'currentMetrics', 'conditions'),
      ...compact({ currentCPUUtilizationPercentage: currentUtilization }),
    },
  };
}

function toAutoscalingV2(object: Data, profile: NamingProfile): JsonObject {
  const spec = partOf(object, 'spec');
  const status = partOf(object, 'status');
  const names = annotationNames(profile);
  const given = readAnnotations(object, names);
  const metrics = recordsAt(given, 'metrics').map((one) => metricToV2(one, 'target'));
  const current = recordsAt(given, 'currentMetrics').map((one) => metricToV2(one, 'current'));
  const cpu = cpuMetric(spec['targetCPUUtilizationPercentage'], 'target');
  const currentCpu = cpuMetric(status['currentCPUUtilizationPercentage'], 'current');
  const conditions = recordsAt(given, 'conditions');
  const allMetrics = [...metrics, ...cpu];
  const allCurrent = current.length > 0 ? current : currentCpu;
  return {
    ...object,
    metadata: withAnnotations(partOf(object, 'metadata'), {}, names),
    spec: {
      ...without(spec, 'targetCPUUtilizationPercentage'),
      ...(allMetrics.length === 0 ? {} : { metrics: allMetrics }),
      ...(isSet(given, 'behavior') ? { behavior: partOf(given, 'behavior') } : {}),
    },
    status: {
      ...without(status, 'currentCPUUtilizationPercentage'),
      ...(allCurrent.length === 0 ? {} : { currentMetrics: [...allCurrent] }),
      ...(conditions.length === 0 ? {} : { conditions: [...conditions] }),
    },
  };
}

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

/** What our annotations hold, by what it is. */
function readAnnotations(object: Data, names: Readonly<Record<string, string>>): JsonObject {
  const read: JsonObject = {};
  for (const [what, name] of Object.entries(names)) read[what] = parsed(annotationOf(object, name));
  return read;
}

function parsed(text: string | undefined): JsonValue | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined; // A user's text under our name: no JSON.
  }
}

function cpuMetric(utilization: JsonValue | undefined, part: 'target' | 'current'): JsonObject[] {
  if (isAbsent(utilization)) return [];
  const value = part === 'target' ? { type: 'Utilization' } : {};
  return [
    {
      type: 'Resource',
      resource: { name: 'cpu', [part]: { ...value, averageUtilization: utilization } },
    },
  ];
}

type ValuesToV1 = (source: 'resource' | 'pods' | 'object' | 'external', values: Data) => JsonObject;

// Quantities that v1 always writes are zero when v2 has none.
const targetToV1: ValuesToV1 = (source, values) => {
  const { value, averageValue, averageUtilization } = values;
  switch (source) {
    case 'resource':
      return compact({
        targetAverageUtilization: averageUtilization,
        targetAverageValue: averageValue,
      });
    case 'pods':
      return { targetAverageValue: averageValue ?? '0' };
    case 'object':
      return { targetValue: value ?? '0', ...compact({ averageValue }) };
    case 'external':
      return compact({ targetValue: value, targetAverageValue: averageValue });
  }
};

const currentToV1: ValuesToV1 = (source, values) => {
  const { value, averageValue, averageUtilization } = values;
  switch (source) {
    case 'resource':
      return {
        ...compact({ currentAverageUtilization: averageUtilization }),
        currentAverageValue: averageValue ?? '0',
      };
    case 'pods':
      return { currentAverageValue: averageValue ?? '0' };
    case 'object':
      return { currentValue: value ?? '0', ...compact({ averageValue }) };
    case 'external':
      return { currentValue: value ?? '0', ...compact({ currentAverageValue: averageValue }) };
  }
};

function metricToV1(metric: Data, valuesToV1: ValuesToV1): JsonObject {
  const part = valuesToV1 === targetToV1 ? 'target' : 'current';
  const converted: JsonObject = { type: metric['type'] ?? '' };
  for (const source of ['resource', 'containerResource', 'pods', 'object', 'external'] as const) {
    if (!isSet(metric, source)) continue;
    const from = partOf(metric, source);
    const identifier = partOf(from, 'metric');
    const values = valuesToV1(
      source === 'containerResource' ? 'resource' : source,
      partOf(from, part),
    );
    const selector = source === 'external' ? 'metricSelector' : 'selector';
    converted[source] = {
      ...compact({
        name: from['name'],
        container: from['container'],
        target: from['describedObject'],
      }),
      ...compact({ metricName: identifier['name'], [selector]: identifier['selector'] }),
      ...values,
    };
  }
  return converted;
}

function metricToV2(metric: Data, part: 'target' | 'current'): JsonObject {
  const converted: JsonObject = { type: metric['type'] ?? '' };
  for (const source of ['resource', 'containerResource', 'pods', 'object', 'external'] as const) {
    if (!isSet(metric, source)) continue;
    const from = partOf(metric, source);
    const identifier = compact({
      name: from['metricName'],
      selector: from['selector'] ?? from['metricSelector'],
    });
    converted[source] = {
      ...compact({
        name: from['name'],
        container: from['container'],
        describedObject: from['target'],
      }),
      ...(isEmpty(identifier) ? {} : { metric: identifier }),
      [part]: valuesToV2(from, part),
    };
  }
  return converted;
}

/**
 * The one target of v2 out of v1's several members; an average wins, as its presence is a
 * choice.
 */
function valuesToV2(from: Data, part: 'target' | 'current'): JsonObject {
  const averageUtilization = from[`${part}AverageUtilization`];
  const averageValue = from[`${part}AverageValue`] ?? from['averageValue'];
  const value = from[`${part}Value`];
  if (part === 'current') return compact({ value, averageValue, averageUtilization });
  if (!isAbsent(averageUtilization)) return { type: 'Utilization', averageUtilization };
  if (!isAbsent(averageValue)) return { type: 'AverageValue', averageValue };
  return { type: 'Value', ...compact({ value }) };
}

/** The first beta with metrics writes them as the annotations do, in fields. */
const fromFirstBeta: Conversion = (object, profile) => {
  const spec = partOf(object, 'spec');
  const status = partOf(object, 'status');
  const names = annotationNames(profile);
  const given = readAnnotations(object, names);
  const metrics = recordsAt(spec, 'metrics').map((one) => metricToV2(one, 'target'));
  const current = recordsAt(status, 'currentMetrics').map((one) => metricToV2(one, 'current'));
  return {
    ...object,
    metadata: withAnnotations(partOf(object, 'metadata'), {}, names),
    spec: {
      ...spec,
      ...(metrics.length === 0 ? {} : { metrics }),
      ...(isSet(given, 'behavior') ? { behavior: partOf(given, 'behavior') } : {}),
    },
    status: { ...status, ...(current.length === 0 ? {} : { currentMetrics: current }) },
  };
};

const toFirstBeta: Conversion = (object, profile) => {
  const spec = partOf(object, 'spec');
  const status = partOf(object, 'status');
  const names = annotationNames(profile);
  const added = isSet(spec, 'behavior')
    ? { [names.behavior]: JSON.stringify(spec['behavior']) }
    : {};
  const metrics = recordsAt(spec, 'metrics').map((one) => metricToV1(one, targetToV1));
  const current = recordsAt(status, 'currentMetrics').map((one) => metricToV1(one, currentToV1));
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
