// Slices of pools: which devices a driver has, which nodes can use them, and the counters that they
// share.
import { immutableDetail } from '../../api/field-errors.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { flagAt, isSet, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { changed } from '../validator.ts';
import type { Holder, Validator, Warnings } from '../validator.ts';
import { validateCounters } from './counters.ts';
import { isAdvanced, validateDevice } from './devices.ts';
import { eachRecord } from './lists.ts';
import { validateDriver, validatePoolName } from './names.ts';
import { validateSliceNodes } from './node-choice.ts';

const devicesMax = 128;
const advancedDevicesMax = 64;
const counterSetsMax = 8;

const nameOf = (of: JsonObject): string => textAt(of, 'name');

export const validateResourceSlice: Validator = ({ object, old, errors }) => {
  const spec = recordAt(object, 'spec');
  const before = recordAt(old, 'spec');
  validateDriver(textAt(spec, 'driver'), 'spec.driver', errors);
  validatePool(recordAt(spec, 'pool'), errors);
  if (before !== undefined) validateUnchanged(spec, before, errors);
  validateSliceNodes(spec, errors);
  if (isSet(spec, 'sharedCounters') && isSet(spec, 'devices')) {
    errors.invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed');
  }
  validateDevices(spec, before, errors);
  const sets = { of: spec, name: 'sharedCounters', path: 'spec', countMax: counterSetsMax };
  eachRecord(sets, errors, {
    validate: (set, path) => {
      validateCounters(set, 'name', path, errors);
    },
    keyOf: nameOf,
  });
};

function validatePool(pool: Holder, errors: FieldErrors): void {
  validatePoolName(textAt(pool, 'name'), 'spec.pool.name', errors);
  const count = numberAt(pool, 'resourceSliceCount') ?? 0;
  if (count <= 0) {
    errors.invalid('spec.pool.resourceSliceCount', count, 'must be greater than zero');
  }
  const generation = numberAt(pool, 'generation') ?? 0;
  if (generation < 0) {
    const detail = 'must be greater than or equal to zero';
    errors.invalid('spec.pool.generation', generation, detail);
  }
}

function validateUnchanged(spec: Holder, before: Holder, errors: FieldErrors): void {
  const [pool, poolBefore] = [recordAt(spec, 'pool'), recordAt(before, 'pool')];
  if (textAt(pool, 'name') !== textAt(poolBefore, 'name')) {
    errors.invalid('spec.pool.name', textAt(pool, 'name'), immutableDetail);
  }
  if (textAt(spec, 'driver') !== textAt(before, 'driver')) {
    errors.invalid('spec.driver', textAt(spec, 'driver'), immutableDetail);
  }
  if (!changed(spec, before, 'nodeName')) return;
  if (isSet(spec, 'nodeName')) {
    errors.invalid('spec.nodeName', textAt(spec, 'nodeName'), immutableDetail);
  } else errors.invalid('spec.nodeName', null, immutableDetail);
}

function validateDevices(spec: Holder, before: Holder, errors: FieldErrors): void {
  const stored = new Map(recordsAt(before, 'devices').map((device) => [nameOf(device), device]));
  const hasOwnNodes = flagAt(spec, 'perDeviceNodeSelection');
  const countMax = recordsAt(spec, 'devices').some(isAdvanced) ? advancedDevicesMax : devicesMax;
  eachRecord({ of: spec, name: 'devices', path: 'spec', countMax }, errors, {
    validate: (device, path) => {
      validateDevice(device, stored.get(nameOf(device)), path, { hasOwnNodes, errors });
    },
    keyOf: nameOf,
  });
}

export const sliceWarnings: Warnings = ({ object }) => {
  const driver = textAt(recordAt(object, 'spec'), 'driver');
  if (driver === driver.toLowerCase()) return [];
  const shown = JSON.stringify(driver);
  return [`spec.driver: driver names should be lowercase; ${shown} contains uppercase characters`];
};
