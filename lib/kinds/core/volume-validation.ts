// PersistentVolumes and claims: one source, sizes, and what stays once it is set.
import { entriesAt, isSet, listAt, recordAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { cloneJson, without } from '../../api/json-value.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { shownText } from '../validator.ts';
import { validateAccessModes, validateClaimSpec } from './claim-spec.ts';
import { nanoOf } from './resource-lists.ts';
import { validateNodeSelector } from './pod-scheduling.ts';
import { validateVolumeSource } from './volumes.ts';

/** Members of a volume's spec that are no source. */
const common = [
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
];

export const validateVolume: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  validateAccessMix(spec, write);
  const capacity = entriesAt(spec, 'capacity');
  if (capacity.length > 0 && (capacity.length > 1 || capacity[0]?.[0] !== 'storage')) {
    const names = capacity.map(([name]) => name);
    errors.notSupported('spec.capacity', names.join(', '), ['storage']);
  }
  for (const [name, amount] of capacity) {
    if (nanoOf(amount) > 0n) continue;
    errors.invalid(`spec.capacity[${name}]`, amount, 'must be greater than zero');
  }
  validateVolumeSource(spec, 'spec', write);
  const path = textAt(recordAt(spec, 'hostPath'), 'path');
  if (path === '/' && textAt(spec, 'persistentVolumeReclaimPolicy') === 'Recycle') {
    const detail = "may not be 'recycle' for a hostPath mount of '/'";
    errors.forbidden('spec.persistentVolumeReclaimPolicy', detail);
  }
  const affinity = recordAt(spec, 'nodeAffinity');
  if (isSet(spec, 'local') && affinity === undefined) {
    errors.required('spec.nodeAffinity', 'Local volume requires node affinity');
  }
  if (affinity !== undefined) {
    const required = recordAt(affinity, 'required');
    if (required === undefined) {
      errors.required('spec.nodeAffinity.required', 'must specify required node constraints');
    } else validateNodeSelector(required, 'spec.nodeAffinity.required', errors);
  }
  if (isSet(spec, 'volumeAttributesClassName')) {
    const at = 'spec.volumeAttributesClassName';
    const name = textAt(spec, 'volumeAttributesClassName');
    if (name === '') errors.required(at, 'an empty string is disallowed');
    if (!isSet(spec, 'csi')) errors.forbidden(at, 'only CSI volumes have a VolumeAttributesClass');
  }
  if (old !== undefined) validateVolumeUpdate(spec, recordAt(old, 'spec') ?? {}, write);
};

function validateAccessMix(spec: JsonObject, { errors }: ValidatedWrite): void {
  const modes = textsAt(spec, 'accessModes');
  if (!modes.includes('ReadWriteOncePod') || modes.length < 2) return;
  errors.forbidden('spec.accessModes', 'may not use ReadWriteOncePod with other access modes');
}

function validateVolumeUpdate(spec: JsonObject, old: JsonObject, write: ValidatedWrite): void {
  const { errors, isOn } = write;
  const sourceOf = (of: JsonObject): JsonObject => {
    const source = without(of, ...common);
    const csi = recordAt(source, 'csi');
    // The references that expansion needs may be added.
    if (csi !== undefined) {
      source['csi'] = without(csi, 'controllerExpandSecretRef', 'nodeExpandSecretRef');
    }
    return source;
  };
  if (!sameJson(sourceOf(spec), sourceOf(old))) {
    errors.forbidden(
      'spec.persistentvolumesource',
      'spec.persistentvolumesource is immutable after creation',
    );
  }
  const isWider = isOn('MutablePVNodeAffinity');
  if (
    isSet(old, 'nodeAffinity') &&
    !isWider &&
    !sameJson(spec['nodeAffinity'], old['nodeAffinity'])
  ) {
    errors.invalid(
      'spec.nodeAffinity',
      spec['nodeAffinity'],
      'field is immutable, except for updating from beta label to GA',
    );
  }
  if (isSet(old, 'volumeAttributesClassName') && !isSet(spec, 'volumeAttributesClassName')) {
    errors.forbidden(
      'spec.volumeAttributesClassName',
      'update from non-nil value to nil is forbidden',
    );
  }
}

export const validateClaim: Validator = (write) => {
  const { object, old, errors, subresource } = write;
  const spec = recordAt(object, 'spec') ?? {};
  if (subresource === 'status') {
    validateClaimStatus(write);
    return;
  }
  const before = recordAt(old, 'spec');
  if (before === undefined || !sameJson(spec, before)) validateClaimSpec(spec, 'spec', write);
  if (before === undefined) return;
  validateClaimUpdate(spec, before, write);
  if (textAt(spec, 'volumeMode') !== textAt(before, 'volumeMode')) {
    errors.invalid('spec.volumeMode', textAt(spec, 'volumeMode'), 'field is immutable');
  }
};

function validateClaimUpdate(spec: JsonObject, old: JsonObject, write: ValidatedWrite): void {
  const { errors, old: stored } = write;
  const status = recordAt(stored, 'status');
  const munged = cloneJson(spec);
  const keep = (name: string): void => {
    const value = old[name];
    if (value === undefined) Reflect.deleteProperty(munged, name);
    else munged[name] = cloneJson(value);
  };
  if (textAt(old, 'volumeName') === '') keep('volumeName');
  if (!isSet(old, 'storageClassName')) keep('storageClassName');
  keep('volumeAttributesClassName');
  keep('volumeMode');
  const isBound = textAt(status, 'phase') === 'Bound';
  const requests = (of: JsonObject): JsonObject | undefined =>
    recordAt(recordAt(of, 'resources'), 'requests');
  const size = requests(spec)?.['storage'];
  const oldSize = requests(old)?.['storage'];
  if (isBound && size !== undefined && oldSize !== undefined) {
    const mungedRequests = requests(munged);
    if (mungedRequests !== undefined) mungedRequests['storage'] = oldSize;
    const capacity = nanoOf(recordAt(status, 'capacity')?.['storage']);
    if (nanoOf(size) < nanoOf(oldSize) && nanoOf(size) <= capacity) {
      const detail = 'field can not be less than status.capacity';
      errors.forbidden('spec.resources.requests.storage', detail);
    }
  } else if (size !== undefined && oldSize !== undefined && nanoOf(size) < nanoOf(oldSize)) {
    errors.forbidden(
      'spec.resources.requests.storage',
      'field can not be less than previous value',
    );
  }
  if (!sameJson(munged, old)) {
    const detail =
      'spec is immutable after creation except resources.requests ' +
      'and volumeAttributesClassName for bound claims';
    errors.forbidden('spec', detail);
  }
  if (isSet(old, 'volumeAttributesClassName') && !isSet(spec, 'volumeAttributesClassName')) {
    errors.forbidden(
      'spec.volumeAttributesClassName',
      'update from non-nil value to nil is forbidden',
    );
  }
}

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizePending',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
];

function validateClaimStatus(write: ValidatedWrite): void {
  const { object, errors } = write;
  const status = recordAt(object, 'status') ?? {};
  if (listAt(status, 'accessModes').length > 0) validateAccessModes(status, 'status', write);
  else if (entriesAt(status, 'capacity').length > 0) {
    errors.required('status.accessModes', 'at least 1 access mode is required');
  }
  for (const [name, value] of entriesAt(status, 'capacity')) {
    if (nanoOf(value) >= 0n) continue;
    errors.invalid(`status.capacity[${name}]`, value, 'must be greater than or equal to 0');
  }
  for (const list of ['allocatedResources', 'allocatedResourceStatuses']) {
    for (const [name, value] of entriesAt(status, list)) {
      const path = `status.${list}[${name}]`;
      if (name !== 'storage' && (!name.includes('/') || qualifiedNameProblems(name).length > 0)) {
        errors.notSupported(path, name, ['storage']);
      }
      if (list === 'allocatedResourceStatuses' && !resizeStates.includes(shownText(value))) {
        errors.notSupported(path, value, resizeStates);
      }
      if (list === 'allocatedResources' && nanoOf(value) < 0n) {
        errors.invalid(path, value, 'must be greater than or equal to 0');
      }
    }
  }
}
