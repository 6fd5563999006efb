// Columns of workloads and their revisions.
import { column, tableOf, number, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { textAt, flagAt, recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { labels } from '../selector-columns.ts';
import { selectorColumn, whole, replicaColumns, wideContainers } from '../shared-columns.ts';

type Kind = Readonly<JsonObject>;

const template = 'spec.template.spec';

const readyOfWanted = column(
  'Ready',
  'string',
  (object) => `${whole(object, 'status.readyReplicas')}/${whole(object, 'spec.replicas')}`,
  'Replicas that are ready, of those asked for.',
);

export const deploymentColumns: TableColumns = tableOf([
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
]);

export const daemonSetColumns: TableColumns = tableOf([
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
]);

export const controllerRevisionColumns: TableColumns = tableOf([
  name,
  column('Controller', 'string', controllerOf, 'Object whose state the revision holds.'),
  column('Revision', 'string', number('revision'), 'Place of the revision in the history.'),
  age,
]);

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

export const replicaSetColumns: TableColumns = tableOf([
  name,
  ...replicaColumns,
  age,
  ...wideContainers(),
  selectorColumn(),
]);

export const statefulSetColumns: TableColumns = tableOf([
  name,
  readyOfWanted,
  age,
  ...wideContainers(),
]);
