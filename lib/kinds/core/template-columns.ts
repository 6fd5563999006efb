// Columns of pod templates and replication controllers.
import { column, tableOf, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { labels } from '../selector-columns.ts';
import { selectorColumn, replicaColumns, wideContainers } from '../shared-columns.ts';
import { containerColumns } from './pod-columns.ts';

export const podTemplateColumns: TableColumns = tableOf([
  name,
  ...containerColumns('template.spec'),
  column('Pod Labels', 'string', labels('template.metadata.labels'), 'Labels of the pods.'),
]);

export const replicationControllerColumns: TableColumns = tableOf([
  name,
  ...replicaColumns,
  age,
  ...wideContainers(),
  selectorColumn(labels('spec.selector')),
]);
