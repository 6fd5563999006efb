// Columns of flow schemas and priority levels.
import { column, tableOf, text, number, name, age } from '../../api/column.ts';
import type { Cell, TableColumns } from '../../api/type-info.ts';
import { textAt, recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Kind = Readonly<JsonObject>;

const conditionOf = (object: Kind, type: string): JsonObject | undefined =>
  recordsAt(object, 'conditions').find((one) => textAt(one, 'type') === type);

function queuing(member: string): (object: Kind) => Cell {
  return number(`spec.limited.limitResponse.queuing.${member}`, '<none>');
}

export const flowSchemaColumns: TableColumns = tableOf([
  name,
  column(
    'PriorityLevel',
    'string',
    text('spec.priorityLevelConfiguration.name'),
    'Priority level of the requests.',
  ),
  column(
    'MatchingPrecedence',
    'string',
    number('spec.matchingPrecedence'),
    'Order in which schemas are tried, lowest first.',
  ),
  column(
    'DistinguisherMethod',
    'string',
    text('spec.distinguisherMethod.type', '<none>'),
    'How flows are told apart.',
  ),
  age,
  column(
    'MissingPL',
    'string',
    (one) => textAt(conditionOf(recordAt(one, 'status') ?? {}, 'Dangling'), 'status') || '?',
    'Whether its priority level does not exist.',
  ),
]);

export const priorityLevelColumns: TableColumns = tableOf([
  name,
  column('Type', 'string', text('spec.type'), 'Whether requests are limited.'),
  column(
    'NominalConcurrencyShares',
    'string',
    number('spec.limited.nominalConcurrencyShares', '<none>'),
    'Part of the server that the level gets.',
  ),
  column('Queues', 'string', queuing('queues'), 'Number of queues.'),
  column('HandSize', 'string', queuing('handSize'), 'Queues that one flow may use.'),
  column('QueueLengthLimit', 'string', queuing('queueLengthLimit'), 'Requests in one queue.'),
  age,
]);
