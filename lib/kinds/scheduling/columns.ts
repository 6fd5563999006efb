// Columns of priorities and groups of pods.
import { column, tableOf, text, number, flag, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { isSet, textAt, recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Kind = Readonly<JsonObject>;

const conditionOf = (object: Kind, type: string): JsonObject | undefined =>
  recordsAt(recordAt(object, 'status'), 'conditions').find((one) => textAt(one, 'type') === type);

function groupStatus(object: Kind): string {
  const disrupted = conditionOf(object, 'DisruptionTarget');
  if (textAt(disrupted, 'status') === 'True') return textAt(disrupted, 'reason');
  switch (textAt(conditionOf(object, 'PodGroupScheduled'), 'status')) {
    case 'True':
      return 'Scheduled';
    case 'False':
      return 'Unschedulable';
    default:
      return 'Pending';
  }
}

const policyOf = (object: Kind): string =>
  isSet(recordAt(recordAt(object, 'spec'), 'schedulingPolicy'), 'gang') ? 'Gang' : 'Basic';

export const priorityClassColumns: TableColumns = tableOf([
  name,
  column('Value', 'integer', number('value'), 'Priority, the higher the sooner.'),
  column('Global-Default', 'boolean', flag('globalDefault'), 'Whether pods without one get it.'),
  age,
  column('PreemptionPolicy', 'string', text('preemptionPolicy'), 'Whether others give way.'),
]);

export const podGroupColumns: TableColumns = tableOf([
  name,
  column('Policy', 'string', policyOf, 'Whether the pods start together.'),
  column(
    'Workload',
    'string',
    text('spec.podGroupTemplateRef.workload.workloadName', '<none>'),
    'Workload that the group is made for.',
  ),
  column('Status', 'string', groupStatus, 'Whether the pods have found their places.'),
  age,
]);

export const workloadColumns: TableColumns = tableOf([name, age]);
