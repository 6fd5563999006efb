// Columns of events: the two groups' events hold the same facts under different names.
import { column, wide, tableOf, at, text, ageOf, name } from '../../api/column.ts';
import type { Cell, TableColumns } from '../../api/type-info.ts';
import { textAt, numberAt, recordAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

type Kind = Readonly<JsonObject>;

const firstSeen = (event: Kind): Cell =>
  ageOf(at(event, 'firstTimestamp')) ??
  ageOf(at(event, 'deprecatedFirstTimestamp')) ??
  ageOf(at(event, 'eventTime')) ??
  '<unknown>';

function lastSeen(event: Kind): Cell {
  const series = recordAt(event, 'series');
  if (series !== undefined) return ageOf(at(series, 'lastObservedTime')) ?? '<unknown>';
  return (
    ageOf(at(event, 'lastTimestamp')) ??
    ageOf(at(event, 'deprecatedLastTimestamp')) ??
    firstSeen(event)
  );
}

const involvedOf = (event: Kind): JsonObject | undefined =>
  recordAt(event, 'involvedObject') ?? recordAt(event, 'regarding');

function eventObject(event: Kind): string {
  const involved = involvedOf(event);
  const kind = textAt(involved, 'kind').toLowerCase();
  const objectName = textAt(involved, 'name');
  return objectName === '' ? kind : `${kind}/${objectName}`;
}

function sourceOf(event: Kind): string {
  const source = recordAt(event, 'source') ?? recordAt(event, 'deprecatedSource');
  const reporter = textAt(event, 'reportingComponent') || textAt(event, 'reportingController');
  const component = textAt(source, 'component') || reporter;
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

function timesSeen(event: Kind): number {
  const series = recordAt(event, 'series');
  const counted = numberAt(event, 'count') ?? numberAt(event, 'deprecatedCount') ?? 0;
  return series === undefined ? Math.max(counted, 1) : (numberAt(series, 'count') ?? 0);
}

export const eventColumns: TableColumns = tableOf([
  column('Last Seen', 'string', lastSeen, 'Time since the event happened last.'),
  column('Type', 'string', text('type'), 'Whether the event is a warning.'),
  column('Reason', 'string', text('reason'), 'One word for what happened.'),
  column('Object', 'string', eventObject, 'Object that the event is about.'),
  wide(
    column(
      'Subobject',
      'string',
      (one) => textAt(involvedOf(one), 'fieldPath'),
      'Part of the object that it is about.',
    ),
  ),
  wide(column('Source', 'string', sourceOf, 'Component that reported it.')),
  column(
    'Message',
    'string',
    (one) => (textAt(one, 'message') || textAt(one, 'note')).trim(),
    'What happened, in a sentence.',
  ),
  wide(column('First Seen', 'string', firstSeen, 'Time since the event happened first.')),
  wide(column('Count', 'string', timesSeen, 'How often the event happened.')),
  wide(name),
]);
