// Events: older ones name their object's namespace, newer ones (with an eventTime) say who reports
// what, and change in their series alone.
import { isSet, numberAt, recordAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../api/name-rules.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

const textMax = 128;
const noteMax = 1024;

export const validateEvent: Validator = (write) => {
  const { apiVersion, old } = write;
  const isNew = apiVersion.includes('/');
  validateNamespace(write, isNew);
  if (!isNew && !hasTime(write)) return;
  if (old === undefined || isNew) validateReport(write);
  if (!isNew) return;
  if (old === undefined) validateCreated(write);
  else validateUpdate(write);
};

const hasTime = ({ object }: ValidatedWrite): boolean => isSet(object, 'eventTime');

function validateNamespace(write: ValidatedWrite, isNew: boolean): void {
  const { object, errors, naming } = write;
  const namespace = textAt(recordAt(object, 'metadata'), 'namespace');
  const involved = textAt(recordAt(object, 'involvedObject'), 'namespace');
  const path = 'involvedObject.namespace';
  if (involved === '') {
    const allowed = hasTime(write) || isNew ? ['default', naming.systemNamespace] : ['', 'default'];
    if (!allowed.includes(namespace)) {
      errors.invalid(path, involved, 'does not match event.namespace');
    }
  } else if (involved !== namespace) {
    errors.invalid(path, involved, 'does not match event.namespace');
  }
  if (namespace !== '') {
    errors.problems('namespace', namespace, dns1123SubdomainProblems(namespace));
  }
}

function validateReport({ object, errors }: ValidatedWrite): void {
  const controller = textAt(object, 'reportingComponent');
  if (controller === '') errors.required('reportingController');
  else errors.problems('reportingController', controller, qualifiedNameProblems(controller));
  for (const name of ['reportingInstance', 'action', 'reason']) {
    const text = textAt(object, name);
    if (text === '') errors.required(name);
    else if (text.length > textMax) {
      errors.invalid(name, '', `can have at most ${String(textMax)} characters`);
    }
  }
  if (textAt(object, 'message').length > noteMax) {
    errors.invalid('message', '', `can have at most ${String(noteMax)} characters`);
  }
}

function validateCreated(write: ValidatedWrite): void {
  const { object, errors } = write;
  if (!hasTime(write)) errors.required('eventTime');
  const type = textAt(object, 'type');
  if (type !== 'Normal' && type !== 'Warning') {
    errors.invalid('type', type, 'has invalid value: use Normal or Warning');
  }
  for (const name of ['firstTimestamp', 'lastTimestamp']) {
    if (isSet(object, name)) errors.invalid(name, object[name], 'needs to be unset');
  }
  if ((numberAt(object, 'count') ?? 0) !== 0) {
    errors.invalid('count', object['count'], 'needs to be unset');
  }
  const source = recordAt(object, 'source');
  if (textAt(source, 'component') !== '' || textAt(source, 'host') !== '') {
    errors.invalid('source', source, 'needs to be unset');
  }
  validateSeries(write);
}

function validateSeries({ object, errors }: ValidatedWrite): void {
  const series = recordAt(object, 'series');
  if (series === undefined) return;
  const count = numberAt(series, 'count') ?? 0;
  if (count < 2) errors.invalid('series.count', count, 'should be at least 2');
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

function validateUpdate(write: ValidatedWrite): void {
  const { object, old, errors } = write;
  for (const name of fixed) {
    if (sameJson(object[name], old?.[name])) continue;
    errors.invalid(name, object[name], 'field is immutable');
  }
  validateSeries(write);
}
