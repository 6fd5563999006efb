// Claims for volumes: what stays once it is set, and what may be reported of them.
import { FieldErrors, immutableDetail } from '../../api/field-errors.ts';
import { entriesAt, isSet, recordAt, recordIn, textAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { cloneJson } from '../../api/json-value.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { Holder, ValidatedWrite, Validator } from '../validator.ts';
import { shownText } from '../validator.ts';
import { validateClaimSpec } from './claim-spec.ts';
import { nameSourceTwice } from './persistent-volumes.ts';
import { nanoOf } from './resource-lists.ts';
import { isNative } from './resource-names.ts';
import { classAnnotation } from './volume-annotations.ts';

export const validateClaim: Validator = (write) => {
  const { object, old, subresource } = write;
  if (subresource === 'status') {
    validateClaimStatus(write);
    return;
  }
  const spec = recordAt(object, 'spec') ?? {};
  const before = recordAt(old, 'spec');
  const hadGroup = ['dataSource', 'dataSourceRef'].some((name) =>
    isSet(recordAt(before, name), 'apiGroup'),
  );
  if (before === undefined || !sameJson(spec, before)) {
    const takesBadValues = !validateLabelSelector(
      recordAt(before, 'selector'),
      '',
      new FieldErrors(),
    );
    validateClaimSpec(spec, 'spec', write, { anyGroup: hadGroup, takesBadValues });
  }
  if (before !== undefined) validateClaimUpdate(spec, before, write);
};

function validateClaimUpdate(spec: JsonObject, stored: JsonObject, write: ValidatedWrite): void {
  const { errors, object } = write;
  const isBound = textAt(recordAt(object, 'status'), 'phase') === 'Bound';
  const old = cloneJson(stored);
  nameSourceTwice(old);
  if (!sameJson(comparedSpec(spec, old, isBound, write), old)) {
    const detail =
      'spec is immutable after creation except resources.requests ' +
      'and volumeAttributesClassName for bound claims';
    errors.forbidden('spec', detail);
  }
  validateSize(spec, old, write);
  if (valueAt(spec, 'volumeMode') !== valueAt(old, 'volumeMode')) {
    errors.invalid('volumeMode', valueAt(spec, 'volumeMode'), immutableDetail);
  }
  validateAttributesClass(spec, old, write);
}

/** The new spec with the stored values of what may change. */
function comparedSpec(
  spec: JsonObject,
  old: JsonObject,
  isBound: boolean,
  write: ValidatedWrite,
): JsonObject {
  const compared = cloneJson(spec);
  const keep = (name: string): void => {
    const value = old[name];
    if (value === undefined) Reflect.deleteProperty(compared, name);
    else compared[name] = cloneJson(value);
  };
  if (textAt(old, 'volumeName') === '') keep('volumeName');
  if (mayNameClass(spec, old, write)) keep('storageClassName');
  for (const list of ['requests', 'limits']) keepEqualAmounts(compared, old, list);
  if (!isBound) return compared;
  keep('volumeAttributesClassName');
  const requests = recordIn(compared, 'resources', 'requests');
  if (requests !== undefined) requests['storage'] = sizeOf(old) ?? '0';
  return compared;
}

/** `1Gi` and `1073741824` are the same. */
function keepEqualAmounts(spec: JsonObject, old: JsonObject, list: string): void {
  const amounts = recordIn(spec, 'resources', list);
  for (const [name, amount] of entriesAt(recordAt(old, 'resources'), list)) {
    if (amounts !== undefined && isSet(amounts, name) && nanoOf(amounts[name]) === nanoOf(amount)) {
      amounts[name] = amount;
    }
  }
}

/** The class may be named once, as the annotation that came before the field says it. */
function mayNameClass(spec: JsonObject, old: JsonObject, write: ValidatedWrite): boolean {
  const { object, old: stored, errors, naming } = write;
  const key = classAnnotation(naming);
  const annotation = valueAt(recordIn(object, 'metadata', 'annotations'), key);
  const before = valueAt(recordIn(stored, 'metadata', 'annotations'), key);
  const name = valueAt(spec, 'storageClassName');
  const isNamed = name !== undefined && !isSet(old, 'storageClassName');
  const isMoved = isNamed && name === before && (annotation === undefined || annotation === before);
  if (!isMoved && (annotation ?? '') !== (before ?? '')) {
    errors.invalid(`metadata.annotations.${key}`, annotation ?? '', immutableDetail);
  }
  return isMoved || (isNamed && (before === undefined || name === before));
}

const sizeOf = (spec: Holder): JsonObject[string] =>
  recordIn(spec, 'resources', 'requests')?.['storage'];

/** A claim may ask for less again while it does not have it yet. */
function validateSize(spec: JsonObject, old: JsonObject, write: ValidatedWrite): void {
  const size = nanoOf(sizeOf(spec));
  if (size >= nanoOf(sizeOf(old))) return;
  const at = 'spec.resources.requests.storage';
  const has = nanoOf(recordIn(write.old, 'status', 'capacity')?.['storage']);
  if (!write.isOn('RecoverVolumeExpansionFailure')) {
    write.errors.forbidden(at, 'field can not be less than previous value');
  } else if (size <= has) {
    write.errors.forbidden(at, 'field can not be less than status.capacity');
  }
}

function validateAttributesClass(
  spec: JsonObject,
  old: JsonObject,
  { old: stored, errors }: ValidatedWrite,
): void {
  const name = valueAt(spec, 'volumeAttributesClassName');
  if (name === valueAt(old, 'volumeAttributesClassName')) return;
  if (!isSet(recordAt(stored, 'status'), 'currentVolumeAttributesClassName')) return;
  if (name !== undefined && name !== '') return;
  const what = name === undefined ? 'nil' : 'empty string';
  const detail = 'is forbidden when status.currentVolumeAttributesClassName is not nil';
  errors.forbidden('spec.volumeAttributesClassName', `update to ${what} ${detail}`);
}

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizePending',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
];
const invalidAmount = 'must be a valid resource quantity';

function validateClaimStatus(write: ValidatedWrite): void {
  const { object, errors } = write;
  const status = recordAt(object, 'status') ?? {};
  for (const [name, value] of entriesAt(status, 'capacity')) {
    if (nanoOf(value) < 0n) errors.invalid(`status.capacity[${name}]`, value, invalidAmount);
  }
  const states = 'status.allocatedResourceStatuses';
  for (const [name, state] of entriesAt(status, 'allocatedResourceStatuses')) {
    validateResourceName(name, states, write);
    if (!resizeStates.includes(shownText(state))) errors.notSupported(states, name, resizeStates);
  }
  const amounts = 'status.allocatedResources';
  for (const [name, value] of entriesAt(status, 'allocatedResources')) {
    if (!validateResourceName(name, amounts, write)) continue;
    if (nanoOf(value) < 0n) errors.invalid(`${amounts}[${name}]`, value, invalidAmount);
  }
}

/** Of the system's own resources a claim has storage alone. @returns whether it is right. */
function validateResourceName(
  name: string,
  path: string,
  { errors, naming }: ValidatedWrite,
): boolean {
  const problems = qualifiedNameProblems(name);
  errors.problems(path, name, problems);
  if (problems.length > 0) return false;
  if (!isNative(name, naming) || name === 'storage') return true;
  errors.notSupported(path, name, ['storage']);
  return false;
}
