// Columns of devices, claims on them and their pools.
import { column, tableOf, at, text, number, since, ageOf, name, age } from '../../api/column.ts';
import type { Cell, TableColumns } from '../../api/type-info.ts';
import { isSet, textAt, numberAt, recordAt, listAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Kind = Readonly<JsonObject>;

const conditionOf = (object: Kind, type: string): JsonObject | undefined =>
  recordsAt(recordAt(object, 'status'), 'conditions').find((one) => textAt(one, 'type') === type);

function claimState(object: Kind): string {
  const status = recordAt(object, 'status');
  const isDeleted = isSet(recordAt(object, 'metadata'), 'deletionTimestamp');
  const isAllocated = isSet(status, 'allocation');
  const states = [
    isDeleted ? 'deleted' : '',
    isAllocated ? 'allocated' : isDeleted ? '' : 'pending',
    listAt(status, 'reservedFor').length > 0 ? 'reserved' : '',
  ];
  return states.filter((state) => state !== '').join(',');
}

const poolsOf = (object: Kind): readonly JsonObject[] =>
  recordsAt(recordAt(object, 'status'), 'pools');

/** The sum over all pools; `-` before there is an answer. */
const sumOf =
  (member: string) =>
  (object: Kind): string => {
    const pools = poolsOf(object);
    if (!isSet(object, 'status')) return '-';
    return String(pools.reduce((sum, pool) => sum + (numberAt(pool, member) ?? 0), 0));
  };

function errorCount(object: Kind): string {
  const pools = poolsOf(object);
  if (!isSet(object, 'status')) return '-';
  return String(pools.filter((pool) => textAt(pool, 'validationError') !== '').length);
}

function poolStatus(object: Kind): string {
  const holds = (type: string): boolean => textAt(conditionOf(object, type), 'status') === 'True';
  if (holds('Failed')) return 'Failed';
  if (!holds('Complete')) return 'Pending';
  const total = numberAt(recordAt(object, 'status'), 'poolCount') ?? 0;
  const listed = poolsOf(object).length;
  return listed < total ? `Complete (${String(listed)}/${String(total)} pools)` : 'Complete';
}

function completedAge(object: Kind): Cell {
  const complete = conditionOf(object, 'Complete');
  if (textAt(complete, 'status') !== 'True') return '<none>';
  return ageOf(at(complete ?? {}, 'lastTransitionTime')) ?? '<none>';
}

export const nameAndAge: TableColumns = tableOf([name, age]);

export const taintRuleColumns: TableColumns = tableOf([
  name,
  column('Key', 'string', text('spec.taint.key'), 'Key of the taint.'),
  column('Value', 'string', text('spec.taint.value'), 'Value of the taint.'),
  column('Effect', 'string', text('spec.taint.effect'), 'What the taint does to pods.'),
  column('TimeAdded', 'string', since('spec.taint.timeAdded', ''), 'Time since it was added.'),
  age,
]);

export const claimColumns: TableColumns = tableOf([
  name,
  column('State', 'string', claimState, 'Whether devices are found and in use.'),
  age,
]);

export const sliceColumns: TableColumns = tableOf([
  name,
  column('Node', 'string', text('spec.nodeName'), 'Node that has the devices.'),
  column('Driver', 'string', text('spec.driver'), 'Driver of the devices.'),
  column('Pool', 'string', text('spec.pool.name'), 'Pool that the devices belong to.'),
  age,
]);

export const poolRequestColumns: TableColumns = tableOf([
  name,
  column('Driver', 'string', text('spec.driver'), 'Driver of the pools.'),
  column('Total', 'string', sumOf('totalDevices'), 'Devices in all pools.'),
  column('Available', 'string', sumOf('availableDevices'), 'Devices that are free.'),
  column('Allocated', 'string', sumOf('allocatedDevices'), 'Devices that are in use.'),
  column('Unavailable', 'string', sumOf('unavailableDevices'), 'Devices that cannot be used.'),
  column('Errors', 'string', errorCount, 'Pools that contradict themselves.'),
  column('Pools', 'integer', number('status.poolCount'), 'Number of pools.'),
  column('Status', 'string', poolStatus, 'Whether the answer is there.'),
  column('Completed', 'string', completedAge, 'Time since the answer came.'),
]);
