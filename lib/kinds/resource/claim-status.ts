// The status of a claim: which devices it got, who uses them, and what drivers tell of them.
import { immutableDetail } from '../../api/field-errors.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { interfaceAddressProblems } from '../../api/address-formats.ts';
import {
  isSet,
  listAt,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { isAbsent } from '../../api/presence.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateNodeSelector } from '../core/pod-scheduling.ts';
import { validateConditions } from '../condition-validation.ts';
import type { Holder, ValidatedWrite } from '../validator.ts';
import { validateBindingConditions } from './binding-conditions.ts';
import { validateConfiguration, validateData } from './device-configuration.ts';
import { requestNames, validateReference, validateReferences } from './device-requests.ts';
import type { RequestNames } from './device-requests.ts';
import { eachRecord, eachText } from './lists.ts';
import { validateDriver, validateLabelName, validatePoolName, validateShareId } from './names.ts';

const reservationsMax = 256;
const resultsMax = 32;
const configurationsMax = 64;
const conditionsMax = 8;
const dataBytesMax = 10_240;
const interfaceNameBytesMax = 256;
const hardwareAddressBytesMax = 128;
const addressesMax = 16;

export function validateClaimStatus({ object, old, errors }: ValidatedWrite): void {
  const status = recordAt(object, 'status');
  const before = recordAt(old, 'status');
  const list = { of: status, name: 'reservedFor', path: 'status', countMax: reservationsMax };
  eachRecord(list, errors, {
    validate: (consumer, path) => {
      for (const name of ['resource', 'name', 'uid']) {
        if (textAt(consumer, name) === '') errors.required(`${path}.${name}`);
      }
    },
    keyOf: (consumer) => textAt(consumer, 'uid'),
  });
  const allocation = recordAt(status, 'allocation');
  validateDevices(status, allocation, errors);
  validateReservation({ object, status, before }, errors);
  if (allocation === undefined) return;
  const allocated = recordAt(before, 'allocation');
  if (allocated === undefined) {
    const names = requestNames(recordIn(object, 'spec', 'devices'));
    validateAllocation(allocation, names, errors);
  } else if (!sameJson(allocation, allocated)) {
    errors.invalid('status.allocation', allocation, immutableDetail);
  }
}

/** Nobody joins a claim that has no devices, or that is about to lose them. */
function validateReservation(
  { object, status, before }: { object: Holder; status: Holder; before: Holder },
  errors: FieldErrors,
): void {
  const reserved = listAt(status, 'reservedFor');
  if (reserved.length === 0) return;
  if (!isSet(status, 'allocation')) {
    errors.forbidden('status.reservedFor', 'may not be specified when `allocated` is not set');
    return;
  }
  if (!isSet(recordAt(object, 'metadata'), 'deletionTimestamp')) return;
  const known = listAt(before, 'reservedFor');
  if (reserved.every((one) => known.some((other) => sameJson(one, other)))) return;
  const detail =
    'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set';
  errors.forbidden('status.reservedFor', detail);
}

function validateAllocation(
  allocation: JsonObject,
  names: RequestNames,
  errors: FieldErrors,
): void {
  const path = 'status.allocation.devices';
  const devices = recordAt(allocation, 'devices');
  eachRecord({ of: devices, name: 'results', path, countMax: resultsMax }, errors, {
    validate: (result, where) => {
      validateResult(result, where, names, errors);
    },
  });
  eachRecord({ of: devices, name: 'config', path, countMax: configurationsMax }, errors, {
    validate: (config, where) => {
      const source = textAt(config, 'source');
      if (source === '') errors.required(`${where}.source`);
      else if (!configurationSources.includes(source)) {
        errors.notSupported(`${where}.source`, source, configurationSources);
      }
      validateReferences(config, where, names, errors);
      validateConfiguration(config, where, errors);
    },
  });
  const selector = recordAt(allocation, 'nodeSelector');
  validateNodeSelector(selector, 'status.allocation.nodeSelector', errors);
}

const configurationSources = ['FromClaim', 'FromClass'];

function validateResult(
  result: JsonObject,
  path: string,
  names: RequestNames,
  errors: FieldErrors,
): void {
  validateReference(textAt(result, 'request'), `${path}.request`, names, errors);
  validateDeviceId(result, path, errors);
  validateBindingConditions(result, path, errors);
  if (isSet(result, 'shareID')) {
    validateShareId(textAt(result, 'shareID'), `${path}.shareID`, errors);
  }
}

function validateDeviceId(of: JsonObject, path: string, errors: FieldErrors): void {
  validateDriver(textAt(of, 'driver'), `${path}.driver`, errors);
  validatePoolName(textAt(of, 'pool'), `${path}.pool`, errors);
  validateLabelName(textAt(of, 'device'), `${path}.device`, errors);
}

export const allocatedIn = (claim: Holder): readonly JsonObject[] =>
  recordsAt(recordIn(claim, 'status', 'allocation', 'devices'), 'results');

export const deviceIdOf = (of: JsonObject): Readonly<Record<string, string>> => ({
  Driver: textAt(of, 'driver'),
  Pool: textAt(of, 'pool'),
  Device: textAt(of, 'device'),
  ShareID: textAt(of, 'shareID'),
});

/** Was the device allocated to the claim, and is no more? Shares of a device are as one. */
export function returnedBetween(old: Holder, claim: Holder): (device: JsonObject) => boolean {
  const idOf = (of: JsonObject): string => JSON.stringify({ ...deviceIdOf(of), ShareID: '' });
  const kept = new Set(allocatedIn(claim).map(idOf));
  const before = new Set(allocatedIn(old).map(idOf));
  return (device) => before.has(idOf(device)) && !kept.has(idOf(device));
}

function validateDevices(status: Holder, allocation: Holder, errors: FieldErrors): void {
  const results = recordsAt(recordAt(allocation, 'devices'), 'results');
  const allocated = new Set(results.map((result) => JSON.stringify(deviceIdOf(result))));
  const list = { of: status, name: 'devices', path: 'status', countMax: Infinity };
  eachRecord(list, errors, {
    validate: (device, path) => {
      validateDevice(device, path, allocated, errors);
    },
    keyOf: deviceIdOf,
  });
}

function validateDevice(
  device: JsonObject,
  path: string,
  allocated: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  validateDeviceId(device, path, errors);
  if (isSet(device, 'shareID')) {
    validateShareId(textAt(device, 'shareID'), `${path}.shareID`, errors);
  }
  const id = deviceIdOf(device);
  if (!allocated.has(JSON.stringify(id))) {
    errors.invalid(path, id, 'must be an allocated device in the claim');
  }
  const count = listAt(device, 'conditions').length;
  if (count > conditionsMax) errors.tooMany(`${path}.conditions`, count, conditionsMax);
  validateConditions(device, `${path}.conditions`, errors);
  const data = valueAt(device, 'data');
  if (!isAbsent(data)) validateData(data, `${path}.data`, dataBytesMax, errors);
  validateNetworkData(recordAt(device, 'networkData'), `${path}.networkData`, errors);
}

function validateNetworkData(data: Holder, path: string, errors: FieldErrors): void {
  for (const [name, bytesMax] of [
    ['interfaceName', interfaceNameBytesMax],
    ['hardwareAddress', hardwareAddressBytesMax],
  ] as const) {
    if (Buffer.byteLength(textAt(data, name)) > bytesMax) {
      errors.tooLong(`${path}.${name}`, bytesMax);
    }
  }
  const addresses = { of: data, name: 'ips', path, countMax: addressesMax };
  eachText(addresses, errors, (address, where) => {
    errors.problems(where, address, interfaceAddressProblems(address));
  });
}
