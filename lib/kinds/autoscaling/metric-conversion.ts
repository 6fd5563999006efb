// Metrics of autoscalers between autoscaling/v2 and the spelling of the versions before it, where
// each source has values under names of its own. Members stand in the order of those versions.
import { compact } from '../../api/convert-fields.ts';
import type { Data } from '../../api/convert-fields.ts';
import { isSet, recordAt } from '../../api/json-access.ts';
import { isAbsent } from '../../api/presence.ts';
import { parseQuantity } from '../../api/quantity.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { Shape } from './annotation-json.ts';

/** What is aimed at, in a spec; what was measured, in a status. */
export type MetricPart = 'target' | 'current';

const sources = ['object', 'pods', 'resource', 'containerResource', 'external'] as const;
type Source = (typeof sources)[number];

const partOf = (of: Data, name: string): JsonObject => recordAt(of, name) ?? {};

const referenceToV1 = ({ kind, name, apiVersion }: Data): JsonObject => ({
  kind: kind ?? '',
  name: name ?? '',
  ...compact({ apiVersion }),
});

/** Of a source in v2; quantities without tracked presence are zero when v2 has none. */
function sourceToV1(from: Data, source: Source, part: MetricPart): JsonObject {
  const { value, averageValue, averageUtilization } = partOf(from, part);
  const metric = partOf(from, 'metric');
  const metricName = metric['name'] ?? '';
  const selector = metric['selector'];
  const isTarget = part === 'target';
  const zero = isTarget ? undefined : '0';
  const resource = {
    name: from['name'] ?? '',
    [`${part}AverageUtilization`]: averageUtilization,
    [`${part}AverageValue`]: averageValue ?? zero,
  };
  switch (source) {
    case 'object': {
      const target = referenceToV1(partOf(from, 'describedObject'));
      const shown = { [`${part}Value`]: value ?? '0' };
      return compact({ target, metricName, ...shown, selector, averageValue });
    }
    case 'pods':
      return compact({ metricName, [`${part}AverageValue`]: averageValue ?? '0', selector });
    case 'resource':
      return compact(resource);
    case 'containerResource':
      return compact({ ...resource, container: from['container'] ?? '' });
    case 'external': {
      const values = { [`${part}Value`]: value ?? zero, [`${part}AverageValue`]: averageValue };
      return compact({ metricName, metricSelector: selector, ...values });
    }
  }
}

export function metricToV1(metric: Data, part: MetricPart): JsonObject {
  const converted: JsonObject = { type: metric['type'] ?? '' };
  for (const source of sources) {
    if (!isSet(metric, source)) continue;
    converted[source] = sourceToV1(partOf(metric, source), source, part);
  }
  return converted;
}

/** Only the members that are set: older versions write a text that is not given as empty. */
const given = (members: Data): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => !isAbsent(value) && value !== ''),
  );

function sourceToV2(from: Data, source: Source, part: MetricPart): JsonObject {
  const { name, container } = from;
  const values = { [part]: valuesToV2(from, source, part) };
  const selector = from[source === 'external' ? 'metricSelector' : 'selector'];
  const metric = given({ name: from['metricName'], selector });
  switch (source) {
    case 'resource':
      return given({ name, ...values });
    case 'containerResource':
      return given({ name, ...values, container });
    case 'object':
      return { describedObject: given(partOf(from, 'target')), ...values, metric };
    default:
      return { metric, ...values };
  }
}

function valuesToV2(from: Data, source: Source, part: MetricPart): JsonObject {
  const value = from[`${part}Value`];
  const averageUtilization = from[`${part}AverageUtilization`];
  const averageValue = source === 'object' ? from['averageValue'] : from[`${part}AverageValue`];
  if (part === 'current') {
    const always = source === 'object' || source === 'external' ? { value: value ?? '0' } : {};
    const isAverage = source !== 'object' && source !== 'external';
    const average = averageValue ?? (isAverage ? '0' : undefined);
    return compact({ ...always, averageValue: average, averageUtilization });
  }
  switch (source) {
    case 'object': {
      if (isAbsent(averageValue)) return { type: 'Value', value: value ?? '0' };
      return { type: 'AverageValue', ...compact({ value: notZero(value), averageValue }) };
    }
    case 'pods':
      return { type: 'AverageValue', averageValue: averageValue ?? '0' };
    case 'external': {
      const type = isAbsent(value) ? 'AverageValue' : 'Value';
      return { type, ...compact({ value, averageValue }) };
    }
    default: {
      const type = isAbsent(averageUtilization) ? 'AverageValue' : 'Utilization';
      return { type, ...compact({ averageValue, averageUtilization }) };
    }
  }
}

/** v1 writes 0 for a value that is not given. */
const notZero = (value: JsonValue | undefined): JsonValue | undefined =>
  typeof value === 'string' && parseQuantity(value)?.nano === 0n ? undefined : value;

export function metricToV2(metric: Data, part: MetricPart): JsonObject {
  const converted = compact({ type: metric['type'] });
  for (const source of sources) {
    if (!isSet(metric, source)) continue;
    converted[source] = sourceToV2(partOf(metric, source), source, part);
  }
  return converted;
}

const reference: Shape = { kind: 'text', name: 'text', apiVersion: 'text' };
const selector: Shape = {
  matchLabels: { '*': 'text' },
  matchExpressions: [{ key: 'text', operator: 'text', values: ['text'] }],
};

/** The list of metrics in an annotation. */
export function metricsShape(part: MetricPart): Shape {
  const value = { [`${part}Value`]: 'quantity' } as const;
  const average = { [`${part}AverageValue`]: 'quantity' } as const;
  const use = { ...average, [`${part}AverageUtilization`]: 'integer' } as const;
  return [
    {
      type: 'text',
      object: {
        target: reference,
        metricName: 'text',
        ...value,
        selector,
        averageValue: 'quantity',
      },
      pods: { metricName: 'text', ...average, selector },
      resource: { name: 'text', ...use },
      containerResource: { name: 'text', ...use, container: 'text' },
      external: { metricName: 'text', metricSelector: selector, ...value, ...average },
    },
  ];
}
