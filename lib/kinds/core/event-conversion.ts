// Events of the core group and those of the newer one hold the same facts under other names.
import { renamed, reversed } from '../../api/convert-fields.ts';
import { without } from '../../api/json-value.ts';
import type { Conversion, Conversions } from '../../api/convert-fields.ts';

/** Core events and those of the newer group. */
const eventNames: Readonly<Record<string, string>> = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
};
const reporters = ['reportingController', 'reportingInstance'];
/** The older version alone shows a reporter that is empty. */
const newerEvent: Conversion = (object) => {
  const event = renamed(object, eventNames);
  return without(event, ...reporters.filter((name) => event[name] === ''));
};
const coreEvent: Conversion = (object) => renamed(object, reversed(eventNames));

export const eventConversions: Conversions = {
  'core/v1.Event > events/v1.Event': newerEvent,
  'events/v1.Event > core/v1.Event': coreEvent,
  'core/v1.Event > events/v1beta1.Event': newerEvent,
  'events/v1beta1.Event > core/v1.Event': coreEvent,
};
