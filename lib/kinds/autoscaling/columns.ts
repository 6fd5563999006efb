// Columns of horizontal pod autoscalers: each metric with its value and its target.
import { isSet, numberAt, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { age, column, firstOf, name, number, tableOf, text } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { toAutoscalingV2 } from './conversion.ts';

type Autoscaler = Readonly<JsonObject>;
const shownMetricCount = 2;
const unknown = '<unknown>';

/** The member of a metric that holds its details, by type. */
const detailNames: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
};

function targetsOf(object: Autoscaler): string {
  const current = recordsAt(recordAt(object, 'status'), 'currentMetrics');
  const metrics = recordsAt(recordAt(object, 'spec'), 'metrics').map((metric, index) =>
    metricText(metric, current[index]),
  );
  return metrics.length === 0 ? '<none>' : firstOf(metrics, shownMetricCount, ', ');
}

const percent = (value: number | undefined, otherwise: string): string =>
  value === undefined ? otherwise : `${String(value)}%`;

function metricText(metric: JsonObject, status: JsonObject | undefined): string {
  const type = textAt(metric, 'type');
  const member = Object.hasOwn(detailNames, type) ? detailNames[type] : undefined;
  if (member === undefined) return '<unknown type>';
  const details = recordAt(metric, member);
  const target = recordAt(details, 'target');
  const current = recordAt(recordAt(status, member), 'current');
  if (type === 'Pods') return pair(current, target, 'averageValue');
  if (type === 'Resource' || type === 'ContainerResource') {
    return `${textAt(details, 'name')}: ${resourcePair(current, target)}`;
  }
  const isAverage = valueAt(target, 'averageValue') !== undefined;
  return isAverage
    ? `${pair(current, target, 'averageValue')} (avg)`
    : pair(current, target, 'value');
}

function resourcePair(current: JsonObject | undefined, target: JsonObject | undefined): string {
  if (valueAt(target, 'averageValue') !== undefined) return pair(current, target, 'averageValue');
  const reached = percent(numberAt(current, 'averageUtilization'), unknown);
  return `${reached}/${percent(numberAt(target, 'averageUtilization'), '<auto>')}`;
}

const pair = (
  current: JsonObject | undefined,
  target: JsonObject | undefined,
  member: string,
): string => `${textAt(current, member) || unknown}/${textAt(target, member)}`;

function referenceOf(object: Autoscaler): string {
  const target = recordAt(recordAt(object, 'spec'), 'scaleTargetRef');
  return `${textAt(target, 'kind')}/${textAt(target, 'name')}`;
}

const newestColumns = tableOf([
  name,
  column('Reference', 'string', referenceOf, 'Object that is scaled.'),
  column('Targets', 'string', targetsOf, 'Metrics with their present value and their target.'),
  column('MinPods', 'string', text('spec.minReplicas', '<unset>'), 'Fewest pods.'),
  column('MaxPods', 'string', number('spec.maxReplicas'), 'Most pods.'),
  column('Replicas', 'string', number('status.currentReplicas'), 'Pods that exist now.'),
  age,
]);

/** Older versions have metrics in other places, and show the same. */
export const autoscalerColumns = (naming: NamingProfile): TableColumns => ({
  ...newestColumns,
  cells: (object) => {
    const isNewest = isSet(recordAt(object, 'spec'), 'metrics');
    return newestColumns.cells(isNewest ? object : toAutoscalingV2(object, naming));
  },
});

export const scaleColumns: TableColumns = tableOf([
  { ...name, definition: { ...name.definition, format: '' } },
  column('Desired', 'integer', number('spec.replicas'), 'Replicas that are asked for.'),
  column('Available', 'integer', number('status.replicas'), 'Replicas that exist.'),
  age,
]);
