// Storage classes, drivers and attachments: sizes of parameters, topologies, what stays.
import { immutableDetail } from '../../api/field-errors.ts';
import {
  entriesAt,
  isSet,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
} from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { without } from '../../api/json-value.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateInlineVolume } from '../core/persistent-volume-validation.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { mapBytes } from '../validator.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

const parameterBytesMax = 262_144;
const parametersMax = 512;

function validateParameters({ object, errors }: ValidatedWrite): void {
  const parameters = entriesAt(object, 'parameters');
  if (parameters.length > parametersMax) {
    errors.tooLong('parameters', parametersMax);
    return;
  }
  if (mapBytes(object, 'parameters') > parameterBytesMax) {
    errors.tooLong('parameters', parameterBytesMax);
  }
  for (const [key] of parameters) {
    if (key === '') errors.invalid('parameters', key, 'field can not be empty.');
  }
}

export const validateStorageClass: Validator = (write) => {
  const { object, errors } = write;
  validateParameters(write);
  const seen = new Set<string>();
  for (const [at, term] of recordsAt(object, 'allowedTopologies').entries()) {
    const path = `allowedTopologies[${String(at)}].matchLabelExpressions`;
    validateTopology(term, path, write);
    const topology = topologyOf(term);
    if (topology === noTopology || seen.has(topology)) errors.duplicate(path, '');
    seen.add(topology);
  }
};

function validateTopology(term: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const keys = new Set<string>();
  for (const [at, one] of recordsAt(term, 'matchLabelExpressions').entries()) {
    const where = `${path}[${String(at)}]`;
    const values = new Set<string>();
    for (const [place, value] of textsAt(one, 'values').entries()) {
      if (values.has(value)) errors.duplicate(`${where}.values[${String(place)}]`, value);
      values.add(value);
    }
    if (values.size === 0) errors.required(`${where}.values`);
    const key = textAt(one, 'key');
    errors.problems(`${where}.key`, key, qualifiedNameProblems(key));
    if (keys.has(key)) errors.duplicate(`${where}.key`, key);
    keys.add(key);
  }
}

/** Values by key as a text: their order says nothing. */
function topologyOf(term: JsonObject): string {
  const valuesByKey = new Map<string, readonly string[]>();
  for (const one of recordsAt(term, 'matchLabelExpressions')) {
    valuesByKey.set(textAt(one, 'key'), [...new Set(textsAt(one, 'values'))].sort());
  }
  return JSON.stringify([...valuesByKey].sort(([one], [other]) => (one < other ? -1 : 1)));
}

const noTopology = '[]';

export const validateAttributesClass: Validator = (write) => {
  const { object, errors } = write;
  validateParameters(write);
  if (entriesAt(object, 'parameters').length > 0) return;
  errors.required('parameters', 'must contain at least one key/value pair');
};

const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;

/** Each audience has one request, whose lifetime counts. Without one, tokens have no place. */
export const validateDriver: Validator = ({ object, errors }) => {
  const spec = recordAt(object, 'spec');
  const requests = recordsAt(spec, 'tokenRequests');
  if (requests.length === 0 && isSet(spec, 'serviceAccountTokenInSecrets')) {
    const path = 'spec.serviceAccountTokenInSecrets';
    errors.invalid(path, spec?.['serviceAccountTokenInSecrets'], 'needs `tokenRequests`');
  }
  const audiences = new Set<string>();
  for (const [at, request] of requests.entries()) {
    const path = `spec.tokenRequests[${String(at)}]`;
    const audience = textAt(request, 'audience');
    if (audiences.has(audience)) {
      errors.duplicate(`${path}.audience`, audience);
      continue;
    }
    audiences.add(audience);
    const seconds = valueAt(request, 'expirationSeconds');
    if (seconds === undefined) continue;
    if (Number(seconds) < tokenSecondsMin) {
      const detail = 'may not specify a duration less than 10 minutes';
      errors.invalid(`${path}.expirationSeconds`, seconds, detail);
    } else if (Number(seconds) > tokenSecondsMax) {
      const detail = 'may not specify a duration larger than 2^32 seconds';
      errors.invalid(`${path}.expirationSeconds`, seconds, detail);
    }
  }
};

const nodeIdBytesMax = 256;

export const validateCsiNode: Validator = ({ object, old, errors, isOn }) => {
  const drivers = recordsAt(recordAt(object, 'spec'), 'drivers');
  for (const [at, driver] of drivers.entries()) {
    const path = `spec.drivers[${String(at)}]`;
    const id = textAt(driver, 'nodeID');
    if (Buffer.byteLength(id) > nodeIdBytesMax) {
      errors.invalid(`${path}.nodeID`, id, `must be ${String(nodeIdBytesMax)} characters or less`);
    }
    const keys = new Set<string>();
    for (const key of textsAt(driver, 'topologyKeys')) {
      if (key === '') errors.required(path);
      if (keys.has(key)) errors.duplicate(path, key);
      errors.problems(path, key, qualifiedNameProblems(key));
      keys.add(key);
    }
  }
  const free = isOn('MutableCSINodeAllocatableCount') ? ['allocatable'] : [];
  const stored = new Map(
    recordsAt(recordAt(old, 'spec'), 'drivers').map((one) => [textAt(one, 'name'), one]),
  );
  for (const driver of drivers) {
    const before = stored.get(textAt(driver, 'name'));
    if (before === undefined) continue;
    if (sameJson(without(driver, ...free), without(before, ...free))) continue;
    errors.invalid('spec.drivers', driver, immutableDetail);
  }
};

const errorBytesMax = 1024;

export const validateAttachment: Validator = (write) => {
  const { object, errors } = write;
  const status = recordAt(object, 'status');
  if (mapBytes(status, 'attachmentMetadata') > parameterBytesMax) {
    errors.tooLong('status.attachmentMetadata', parameterBytesMax);
  }
  for (const name of ['attachError', 'detachError']) {
    const error = recordAt(status, name);
    if (Buffer.byteLength(textAt(error, 'message')) > errorBytesMax) {
      errors.tooLong(`status.${name}.message`, parameterBytesMax);
    }
    const code = valueAt(error, 'errorCode');
    if (code !== undefined && Number(code) < 0) {
      const detail = 'must be between 0 and 2147483647, inclusive';
      errors.invalid(`status.${name}.errorCode`, code, detail);
    }
  }
  const nodeName = textAt(recordAt(object, 'spec'), 'nodeName');
  errors.problems('spec.nodeName', nodeName, dns1123SubdomainProblems(nodeName));
  validateAttached(write);
};

function validateAttached({ object, ...scope }: ValidatedWrite): void {
  const { errors } = scope;
  const source = recordIn(object, 'spec', 'source');
  const inline = recordAt(source, 'inlineVolumeSpec');
  const name = valueAt(source, 'persistentVolumeName');
  const path = 'spec.source.persistentVolumeName';
  if (typeof name === 'string') {
    if (name === '' && inline === undefined) {
      errors.required(path, 'must specify non empty persistentVolumeName');
    }
    if (scope.old === undefined) errors.problems(path, name, dns1123SubdomainProblems(name));
  } else if (inline !== undefined) {
    validateInlineVolume(inline, 'spec.source.inlineVolumeSpec', scope);
  }
}

export const validateStorageCapacity: Validator = ({ object, errors }) => {
  validateLabelSelector(recordAt(object, 'nodeTopology'), 'nodeTopology', errors);
  const name = textAt(object, 'storageClassName');
  errors.problems('storageClassName', name, dns1123SubdomainProblems(name));
};
