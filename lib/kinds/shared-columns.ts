// Columns that kinds of several groups share.
import { column, wide, at, number, name } from '../api/column.ts';
import type { FilledColumn } from '../api/column.ts';
import { textAt, recordAt, recordsAt, entriesAt } from '../api/json-access.ts';
import type { JsonObject } from '../api/type-info.ts';
import { containerColumns } from './core/pod-columns.ts';
import { selector } from './selector-columns.ts';

type Kind = Readonly<JsonObject>;

/** Addresses that a load balancer got, sorted. */
export function balancedOf(object: Kind): string[] {
  const balancer = recordAt(recordAt(object, 'status'), 'loadBalancer');
  const found = recordsAt(balancer, 'ingress').map(
    (ingress) => textAt(ingress, 'ip') || textAt(ingress, 'hostname'),
  );
  return [...new Set(found.filter((address) => address !== ''))].sort();
}

/** The object's name, marked when one of the annotations makes it the default of its kind. */
export function defaultableName(annotations: readonly string[]): FilledColumn {
  return {
    definition: name.definition,
    fill(object) {
      const meta = recordAt(object, 'metadata');
      const given = entriesAt(meta, 'annotations');
      const isDefault = given.some(([key, value]) => annotations.includes(key) && value === 'true');
      return textAt(meta, 'name') + (isDefault ? ' (default)' : '');
    },
  };
}

const template = 'spec.template.spec';

export const selectorColumn = (fill = selector('spec.selector')): FilledColumn =>
  wide(column('Selector', 'string', fill, 'Labels that the pods are found by.'));
export const wideContainers = (path = template): FilledColumn[] => containerColumns(path).map(wide);

/** Wanted, existing and ready replicas. */
export const replicaColumns = [
  column('Desired', 'integer', number('spec.replicas'), 'Replicas that are asked for.'),
  column('Current', 'integer', number('status.replicas'), 'Replicas that exist.'),
  column('Ready', 'integer', number('status.readyReplicas'), 'Replicas that are ready.'),
];

/** A whole number as text; 0 where there is none. */
export const whole = (object: Kind, path: string): string => {
  const value = at(object, path);
  return typeof value === 'number' ? String(value) : '0';
};
