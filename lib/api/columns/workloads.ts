// Columns of the kinds that run pods and of those that watch over them.
import { humanAge } from '../../base/human-age.ts';
import { entriesAt, flagAt, isSet, numberAt, recordAt, recordsAt, textAt } from '../json-access.ts';
import type { JsonObject } from '../type-info.ts';
import { age, ageOf, at, column, count, name, number, since } from './column.ts';
import { tableOf, text, timeOf, wide } from './column.ts';
import type { Cell, FilledColumn, TableColumns } from './column.ts';
import { containerColumns, podColumns } from './pods.ts';
import { labels, selector } from './selector-text.ts';

type Kind = Readonly<JsonObject>;
const template = 'spec.template.spec';

const selectorColumn = (fill = selector('spec.selector')): FilledColumn =>
  wide(column('Selector', 'string', fill, 'Labels that the pods are found by.'));
const wideContainers = (path = template): FilledColumn[] => containerColumns(path).map(wide);

/** Wanted, existing and ready replicas. */
const replicaColumns = [
  column('Desired', 'integer', number('spec.replicas'), 'Replicas that are asked for.'),
  column('Current', 'integer', number('status.replicas'), 'Replicas that exist.'),
  column('Ready', 'integer', number('status.readyReplicas'), 'Replicas that are ready.'),
];

const readyOfWanted = column(
  'Ready',
  'string',
  (object) => `${whole(object, 'status.readyReplicas')}/${whole(object, 'spec.replicas')}`,
  'Replicas that are ready, of those asked for.',
);

const whole = (object: Kind, path: string): string => {
  const value = at(object, path);
  return typeof value === 'number' ? String(value) : '0';
};

const deployment = [
  name,
  readyOfWanted,
  column(
    'Up-to-date',
    'string',
    number('status.updatedReplicas'),
    'Replicas that run the newest pod template.',
  ),
  column(
    'Available',
    'string',
    number('status.availableReplicas'),
    'Replicas that have been ready for long enough.',
  ),
  age,
  ...wideContainers(),
  selectorColumn(),
];

const daemonSet = [
  name,
  column(
    'Desired',
    'integer',
    number('status.desiredNumberScheduled'),
    'Nodes that should run the pod.',
  ),
  column(
    'Current',
    'integer',
    number('status.currentNumberScheduled'),
    'Nodes that should run the pod and do.',
  ),
  column('Ready', 'integer', number('status.numberReady'), 'Nodes whose pod is ready.'),
  column(
    'Up-to-date',
    'integer',
    number('status.updatedNumberScheduled'),
    'Nodes that run the newest pod template.',
  ),
  column(
    'Available',
    'integer',
    number('status.numberAvailable'),
    'Nodes whose pod has been ready for long enough.',
  ),
  column(
    'Node Selector',
    'string',
    labels(`${template}.nodeSelector`),
    'Labels of the nodes that may run the pod.',
  ),
  age,
  ...wideContainers(),
  selectorColumn(),
];

const job = [
  name,
  column('Status', 'string', jobStatus, 'What the job is doing or how it ended.'),
  column('Completions', 'string', completionsOf, 'Pods that succeeded, of those needed.'),
  column('Duration', 'string', durationOf, 'How long the job has been running, or took.'),
  age,
  ...wideContainers(),
  selectorColumn(),
];

function jobStatus(object: Kind): string {
  const conditions = recordsAt(recordAt(object, 'status'), 'conditions');
  const holds = (type: string): boolean =>
    conditions.some((one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True');
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (isSet(recordAt(object, 'metadata'), 'deletionTimestamp')) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running';
}

function completionsOf(object: Kind): string {
  const spec = recordAt(object, 'spec');
  const succeeded = whole(object, 'status.succeeded');
  const wanted = numberAt(spec, 'completions');
  if (wanted !== undefined) return `${succeeded}/${String(wanted)}`;
  const parallelism = numberAt(spec, 'parallelism') ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${String(parallelism)}` : `${succeeded}/1`;
}

function durationOf(object: Kind): Cell {
  const started = at(object, 'status.startTime');
  const [from, to] = [timeOf(started), timeOf(at(object, 'status.completionTime'))];
  if (from !== undefined && to !== undefined) return humanAge(to - from);
  return ageOf(started) ?? '';
}

const suspended = (object: Kind): string => {
  const value = at(object, 'spec.suspend');
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : '<unset>';
};

const cronJob = [
  name,
  column('Schedule', 'string', text('spec.schedule'), 'When jobs start, as in a crontab.'),
  column('Timezone', 'string', text('spec.timeZone', '<none>'), 'Time zone of the schedule.'),
  column('Suspend', 'boolean', suspended, 'Whether no new jobs are started.'),
  column('Active', 'integer', count('status.active'), 'Jobs that run now.'),
  column(
    'Last Schedule',
    'string',
    since('status.lastScheduleTime', '<none>'),
    'Time since a job was started last.',
  ),
  age,
  ...wideContainers('spec.jobTemplate.spec.template.spec'),
  selectorColumn(selector('spec.jobTemplate.spec.selector')),
];

const controllerRevision = [
  name,
  column('Controller', 'string', controllerOf, 'Object whose state the revision holds.'),
  column('Revision', 'string', number('revision'), 'Place of the revision in the history.'),
  age,
];

/** `deployment.apps/name` */
function controllerOf(object: Kind): string {
  const owners = recordsAt(recordAt(object, 'metadata'), 'ownerReferences');
  const owner = owners.find((one) => flagAt(one, 'controller'));
  if (owner === undefined) return '<none>';
  const [group, version] = textAt(owner, 'apiVersion').split('/');
  const kind = textAt(owner, 'kind').toLowerCase();
  const qualified = version === undefined ? kind : `${kind}.${group ?? ''}`;
  return `${qualified}/${textAt(owner, 'name')}`;
}

const podTemplate = [
  name,
  ...containerColumns('template.spec'),
  column('Pod Labels', 'string', labels('template.metadata.labels'), 'Labels of the pods.'),
];

const budget = [
  name,
  column(
    'Min Available',
    'string',
    text('spec.minAvailable', 'N/A'),
    'Pods that must stay available.',
  ),
  column(
    'Max Unavailable',
    'string',
    text('spec.maxUnavailable', 'N/A'),
    'Pods that may be unavailable at once.',
  ),
  column(
    'Allowed Disruptions',
    'integer',
    number('status.disruptionsAllowed'),
    'Pods that may be evicted now.',
  ),
  age,
];

const scale = [
  { ...name, definition: { ...name.definition, format: '' } },
  column('Desired', 'integer', number('spec.replicas'), 'Replicas that are asked for.'),
  column('Available', 'integer', number('status.replicas'), 'Replicas that exist.'),
  age,
];

const replicationController = [
  name,
  ...replicaColumns,
  age,
  ...wideContainers(),
  selectorColumn(labels('spec.selector')),
];

/** Keys of a map. */
export const keyCount = (object: Kind, ...members: readonly string[]): number =>
  members.reduce((sum, member) => sum + entriesAt(object, member).length, 0);

export const workloadColumns: Readonly<Record<string, TableColumns>> = {
  'core/Pod': podColumns,
  'core/PodTemplate': tableOf(podTemplate),
  'core/ReplicationController': tableOf(replicationController),
  'apps/ControllerRevision': tableOf(controllerRevision),
  'apps/DaemonSet': tableOf(daemonSet),
  'apps/Deployment': tableOf(deployment),
  'apps/ReplicaSet': tableOf([name, ...replicaColumns, age, ...wideContainers(), selectorColumn()]),
  'apps/StatefulSet': tableOf([name, readyOfWanted, age, ...wideContainers()]),
  'batch/CronJob': tableOf(cronJob),
  'batch/Job': tableOf(job),
  'policy/PodDisruptionBudget': tableOf(budget),
  'autoscaling/Scale': tableOf(scale),
};
