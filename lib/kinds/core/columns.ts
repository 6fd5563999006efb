// Columns of the core group's kinds that run nothing: configuration, namespaces, quotas.
import { column, tableOf, text, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { textAt, recordAt, recordsAt, entriesAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Kind = Readonly<JsonObject>;

const conditionOf = (object: Kind, type: string): JsonObject | undefined =>
  recordsAt(object, 'conditions').find((one) => textAt(one, 'type') === type);

function healthOf(object: Kind): string {
  switch (textAt(conditionOf(object, 'Healthy'), 'status')) {
    case 'True':
      return 'Healthy';
    case 'False':
      return 'Unhealthy';
    default:
      return 'Unknown';
  }
}

const healthText =
  (member: string) =>
  (object: Kind): string =>
    textAt(conditionOf(object, 'Healthy'), member);

/** `cpu: 1/2` of each resource that is limited in this way. */
const usageOf =
  (of: 'requests' | 'limits') =>
  (object: Kind): string => {
    const status = recordAt(object, 'status');
    const used = recordAt(status, 'used');
    const hard = recordAt(status, 'hard');
    return Object.keys(hard ?? {})
      .filter((resource) => resource.startsWith('limits.') === (of === 'limits'))
      .sort()
      .map((resource) => {
        const amount = textAt(used, resource) || '0';
        return `${resource}: ${amount}/${textAt(hard, resource)}`;
      })
      .join(', ');
  };

/** Keys of a map. */
const keyCount = (object: Kind, ...members: readonly string[]): number =>
  members.reduce((sum, member) => sum + entriesAt(object, member).length, 0);

export const namespaceColumns: TableColumns = tableOf([
  name,
  column('Status', 'string', text('status.phase'), 'Whether it is in use or ending.'),
  age,
]);

export const componentStatusColumns: TableColumns = tableOf([
  name,
  column('Status', 'string', healthOf, 'Whether the component works.'),
  column('Message', 'string', healthText('message'), 'What the component says.'),
  column('Error', 'string', healthText('error'), 'Why the component could not be asked.'),
]);

export const configMapColumns: TableColumns = tableOf([
  name,
  column('Data', 'string', (one) => keyCount(one, 'data', 'binaryData'), 'Number of entries.'),
  age,
]);

export const secretColumns: TableColumns = tableOf([
  name,
  column('Type', 'string', text('type'), 'What the secret is for.'),
  column('Data', 'string', (one) => keyCount(one, 'data'), 'Number of entries.'),
  age,
]);

export const serviceAccountColumns: TableColumns = tableOf([name, age]);

export const resourceQuotaColumns: TableColumns = tableOf([
  name,
  column('Request', 'string', usageOf('requests'), 'What is used and allowed of each resource.'),
  column('Limit', 'string', usageOf('limits'), 'What limits add up to, and may.'),
  age,
]);
