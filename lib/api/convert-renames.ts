// Kinds whose versions hold the same facts under other names or one level higher: events, runtime
// classes, access reviews.
import { renamed, reversed, within, without } from './convert-fields.ts';
import type { Conversion, Conversions } from './convert-fields.ts';
import { recordAt } from './json-access.ts';

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
const newerEvent: Conversion = (object) => renamed(object, eventNames);
const coreEvent: Conversion = (object) => renamed(object, reversed(eventNames));

const runtimeClassToStable: Conversion = (object) => ({
  ...without(object, 'spec'),
  ...renamed(recordAt(object, 'spec') ?? {}, { runtimeHandler: 'handler' }),
});

const runtimeClassFromStable: Conversion = (object) => {
  const { handler, overhead, scheduling, ...rest } = object;
  const spec = { runtimeHandler: handler, overhead, scheduling };
  return {
    ...rest,
    spec: Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)),
  };
};

const reviewToStable: Conversion = (object) =>
  within(object, ['spec'], (spec) => renamed(spec, { group: 'groups' }));
const reviewFromStable: Conversion = (object) =>
  within(object, ['spec'], (spec) => renamed(spec, { groups: 'group' }));

const reviews = ['SubjectAccessReview', 'LocalSubjectAccessReview'] as const;

export const renameConversions: Conversions = {
  'core/v1.Event > events/v1.Event': newerEvent,
  'events/v1.Event > core/v1.Event': coreEvent,
  'core/v1.Event > events/v1beta1.Event': newerEvent,
  'events/v1beta1.Event > core/v1.Event': coreEvent,
  'node/v1alpha1.RuntimeClass > node/v1.RuntimeClass': runtimeClassToStable,
  'node/v1.RuntimeClass > node/v1alpha1.RuntimeClass': runtimeClassFromStable,
  ...Object.fromEntries(
    reviews.flatMap((kind): [string, Conversion][] => [
      [`authorization/v1beta1.${kind} > authorization/v1.${kind}`, reviewToStable],
      [`authorization/v1.${kind} > authorization/v1beta1.${kind}`, reviewFromStable],
    ]),
  ),
};
