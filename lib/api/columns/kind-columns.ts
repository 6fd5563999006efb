// Which columns a kind has: one table for all versions of the kind, in the profile's spelling.
import type { TypeInfo } from '../type-info.ts';
import type { NamingProfile } from '../vendor.ts';
import { accessColumns } from './access.ts';
import { autoscalingColumns } from './autoscaling.ts';
import { clusterColumns } from './cluster.ts';
import { age, at, column, name, tableOf } from './column.ts';
import type { TableColumns } from './column.ts';
import { networkColumns } from './network.ts';
import { schedulingColumns } from './scheduling.ts';
import { storageColumns } from './storage.ts';
import { workloadColumns } from './workloads.ts';

/** Of built-in kinds without columns of their own. */
export const defaultColumns: TableColumns = tableOf([
  name,
  column(
    'Created At',
    'date',
    (object) => at(object, 'metadata.creationTimestamp') ?? null,
    'When the object was created.',
  ),
]);

/** Of custom resources that list none. */
export const customColumns: TableColumns = tableOf([
  name,
  { ...age, definition: { ...age.definition, type: 'date' } },
]);

export type ColumnsOf = (type: TypeInfo) => TableColumns;

export function kindColumns(profile: NamingProfile): ColumnsOf {
  const tables = new Map(
    Object.entries({
      ...accessColumns,
      ...autoscalingColumns,
      ...clusterColumns(profile),
      ...networkColumns(profile),
      ...schedulingColumns,
      ...storageColumns(profile),
      ...workloadColumns,
    }),
  );
  return ({ id, name: kind }) => tables.get(`${groupFolder(id)}/${kind}`) ?? defaultColumns;
}

/** `apps` of `apps/v1.Deployment`. */
const groupFolder = (id: string): string => id.slice(0, id.indexOf('/'));
