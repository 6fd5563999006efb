// Events: older ones name their object's namespace, newer ones (with an eventTime) say who reports
// what. Requests of the core group ask for no more; those of the newer one know only newer events,
// which change in their series alone.
import { isSet, numberAt, recordAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

const textMax = 128;
const noteMax = 1024;

export const validateEvent: Validator = (write) => {
  const { apiVersion, object, old, errors } = write;
  const isNew = apiVersion.includes('/');
  const namespace = textAt(recordAt(object, 'metadata'), 'namespace');
  validateInvolved(write, namespace);
  if (hasTime(write)) validateReport(write, isNew ? 'reportingController' : 'reportingComponent');
  errors.problems('namespace', namespace, dns1123SubdomainProblems(namespace));
  if (!isNew) return;
  if (old === undefined) validateCreated(write);
  else validateUpdate(write, old);
};

const hasTime = ({ object }: ValidatedWrite): boolean => isSet(object, 'eventTime');

function validateInvolved(write: ValidatedWrite, namespace: string): void {
  const { object, errors, naming } = write;
  const involved = textAt(recordAt(object, 'involvedObject'), 'namespace');
  const isNewer = hasTime(write);
  if (involved !== '' && (isNewer || involved === namespace)) return;
  const homes = isNewer ? ['default', naming.systemNamespace] : ['', 'default'];
  if (involved === '' && homes.includes(namespace)) return;
  errors.invalid('involvedObject.namespace', involved, 'does not match event.namespace');
}

function validateReport({ object, errors }: ValidatedWrite, controllerPath: string): void {
  const controller = textAt(object, 'reportingComponent');
  if (controller === '') errors.required(controllerPath);
  errors.problems(controllerPath, controller, qualifiedNameProblems(controller));
  for (const name of ['reportingInstance', 'action', 'reason']) {
    const text = textAt(object, name);
    if (text === '') errors.required(name);
    validateLength(name, text, textMax);
  }
  validateLength('message', textAt(object, 'message'), noteMax);

  function validateLength(name: string, text: string, bytesMax: number): void {
    if (Buffer.byteLength(text) <= bytesMax) return;
    errors.invalid(name, '', `can have at most ${String(bytesMax)} characters`);
  }
}

function validateCreated(write: ValidatedWrite): void {
  const { object, errors } = write;
  validateSeries(write);
  if (!hasTime(write)) errors.required('eventTime');
  const type = textAt(object, 'type');
  if (type !== 'Normal' && type !== 'Warning') {
    errors.invalid('type', '', `has invalid value: ${type}`);
  }
  const source = recordAt(object, 'source');
  const isUnset = {
    firstTimestamp: !isSet(object, 'firstTimestamp'),
    lastTimestamp: !isSet(object, 'lastTimestamp'),
    count: (numberAt(object, 'count') ?? 0) === 0,
    source: textAt(source, 'component') === '' && textAt(source, 'host') === '',
  };
  for (const [name, isRight] of Object.entries(isUnset)) {
    if (!isRight) errors.invalid(name, '', 'needs to be unset');
  }
}

function validateSeries({ object, errors }: ValidatedWrite): void {
  const series = recordAt(object, 'series');
  if (series === undefined) return;
  if ((numberAt(series, 'count') ?? 0) < 2) {
    errors.invalid('series.count', '', 'should be at least 2');
  }
  if (!isSet(series, 'lastObservedTime')) errors.required('series.lastObservedTime');
}

const fixed = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
];

const isSaid = (event: Readonly<JsonObject>, name: string): boolean =>
  isSet(event, name) && event[name] !== '';

function validateUpdate(write: ValidatedWrite, old: NonNullable<ValidatedWrite['old']>): void {
  const { object, errors } = write;
  if (!sameJson(object['series'], old['series'])) validateSeries(write);
  for (const name of fixed) {
    if (sameJson(object[name], old[name]) || (!isSaid(object, name) && !isSaid(old, name)))
      continue;
    const path = name === 'reportingComponent' ? 'reportingController' : name;
    errors.invalid(path, object[name], 'field is immutable');
  }
}
