// One device of a slice: what it is like, what it has how much of, what it takes of shared
// counters, and who is kept away from it.
import type { FieldErrors } from '../../api/field-errors.ts';
import {
  entriesAt,
  flagAt,
  isSet,
  listAt,
  recordAt,
  textAt,
  textsAt,
} from '../../api/json-access.ts';
import { isObject } from '../../api/json-value.ts';
import { parseSemanticVersion } from '../../api/semantic-version.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { nanoOf } from '../core/resource-lists.ts';
import { isStandardContainerResource } from '../core/resource-names.ts';
import { changed } from '../validator.ts';
import type { Holder } from '../validator.ts';
import { validateBindingConditions } from './binding-conditions.ts';
import { validateCounters } from './counters.ts';
import { eachEntry, eachRecord } from './lists.ts';
import { validateLabelName, validateQualifiedName } from './names.ts';
import { validateDeviceNodes } from './node-choice.ts';
import { validateRequestPolicy } from './request-policy.ts';
import { validateTaint } from './taint-rules.ts';

const entriesMax = 32;
const attributeValuesMax = 48;
const qualifiedNameBytesMax = 96;
const attributeBytesMax = 64;
const taintsMax = 16;
const counterSetsMax = 2;

const attributeLists = ['ints', 'bools', 'strings', 'versions'] as const;

const attributesOf = (device: JsonObject): readonly JsonObject[] =>
  entriesAt(device, 'attributes').map(([, value]) => (isObject(value) ? value : {}));

/** Devices of which a slice holds fewer. */
export const isAdvanced = (device: JsonObject): boolean =>
  listAt(device, 'taints').length > 0 ||
  listAt(device, 'consumesCounters').length > 0 ||
  attributesOf(device).some((attribute) => attributeLists.some((name) => isSet(attribute, name)));

export function validateDevice(
  device: JsonObject,
  old: Holder,
  path: string,
  { hasOwnNodes, errors }: { readonly hasOwnNodes: boolean; readonly errors: FieldErrors },
): void {
  validateLabelName(textAt(device, 'name'), `${path}.name`, errors);
  validateCount(device, path, errors);
  eachEntry({ of: device, name: 'attributes', path, countMax: Infinity }, errors, {
    keyBytesMax: qualifiedNameBytesMax,
    validateKey: validateQualifiedName,
    validate: (attribute, where) => {
      validateAttribute(attribute, where, errors);
    },
  });
  if (old === undefined || changed(device, old, 'capacity')) validateCapacity(device, path, errors);
  if (old === undefined || changed(device, old, 'taints')) {
    eachRecord({ of: device, name: 'taints', path, countMax: taintsMax }, errors, {
      validate: (taint, where) => {
        validateTaint(taint, undefined, where, errors);
      },
    });
  }
  const consumed = { of: device, name: 'consumesCounters', path, countMax: counterSetsMax };
  eachRecord(consumed, errors, {
    validate: (set, where) => {
      validateCounters(set, 'counterSet', where, errors);
    },
    keyOf: (set) => textAt(set, 'counterSet'),
  });
  validateDeviceNodes(device, path, errors, { isOwn: hasOwnNodes });
  validateBindingConditions(device, path, errors);
  validateMappings(device, path, errors);
}

function validateCount(device: JsonObject, path: string, errors: FieldErrors): void {
  const attributes = attributesOf(device);
  const count = attributes.length + entriesAt(device, 'capacity').length;
  if (count > entriesMax) {
    const detail = 'the total number of attributes and capacities must not exceed';
    errors.invalid(path, count, `${detail} ${String(entriesMax)}`);
  }
  const values = attributes.reduce((sum, attribute) => {
    const listed = attributeLists.reduce((all, name) => all + listAt(attribute, name).length, 0);
    return sum + Math.max(listed, 1);
  }, 0);
  if (values > attributeValuesMax) {
    const detail = 'the total number of attribute values must not exceed';
    errors.invalid(path, values, `${detail} ${String(attributeValuesMax)}`);
  }
}

function validateCapacity(device: JsonObject, path: string, errors: FieldErrors): void {
  const isShared = flagAt(device, 'allowMultipleAllocations');
  eachEntry({ of: device, name: 'capacity', path, countMax: Infinity }, errors, {
    keyBytesMax: qualifiedNameBytesMax,
    validateKey: validateQualifiedName,
    validate: (capacity, where) => {
      const policy = recordAt(capacity, 'requestPolicy');
      if (policy === undefined) return;
      const place = `${where}.requestPolicy`;
      if (isShared) validateRequestPolicy(policy, textAt(capacity, 'value'), place, errors);
      else errors.forbidden(place, 'allowMultipleAllocations must be true');
    },
  });
}

/** Which resources of a node using the device takes, and by which of its capacities. */
function validateMappings(device: JsonObject, path: string, errors: FieldErrors): void {
  const capacity = recordAt(device, 'capacity');
  for (const [name, value] of entriesAt(device, 'nodeAllocatableResourceMappings')) {
    const where = `${path}.nodeAllocatableResourceMappings[${name}]`;
    const mapping = isObject(value) ? value : {};
    if (!isStandardContainerResource(name)) {
      errors.invalid(where, name, 'must be a node allocatable resource name');
    }
    const key = textAt(mapping, 'capacityKey');
    if (isSet(mapping, 'capacityKey') && key === '') {
      errors.invalid(`${where}.capacityKey`, '', 'capacityKey must not be an empty string');
    } else if (key !== '' && !isSet(capacity, key)) {
      errors.notFound(`${where}.capacityKey`, key);
    }
    const factor = textAt(mapping, 'allocationMultiplier');
    if (isSet(mapping, 'allocationMultiplier') && nanoOf(factor) <= 0n) {
      errors.invalid(`${where}.allocationMultiplier`, factor, 'must be positive');
    }
  }
}

/** The members of an attribute, as failures show them. */
const attributeValues = [
  ['int', 'IntValue'],
  ['bool', 'BoolValue'],
  ['string', 'StringValue'],
  ['version', 'VersionValue'],
  ['ints', 'IntValues'],
  ['bools', 'BoolValues'],
  ['strings', 'StringValues'],
  ['versions', 'VersionValues'],
] as const;

function validateAttribute(attribute: JsonObject, path: string, errors: FieldErrors): void {
  if (isSet(attribute, 'string')) {
    validateText(textAt(attribute, 'string'), `${path}.string`, errors);
  }
  if (isSet(attribute, 'version')) {
    validateVersion(textAt(attribute, 'version'), `${path}.version`, errors);
  }
  for (const name of attributeLists) {
    if (!isSet(attribute, name) || listAt(attribute, name).length > 0) continue;
    errors.invalid(`${path}.${name}`, [], 'must not be empty if specified');
  }
  for (const [at, text] of textsAt(attribute, 'strings').entries()) {
    validateText(text, `${path}.strings[${String(at)}]`, errors);
  }
  for (const [at, text] of textsAt(attribute, 'versions').entries()) {
    validateVersion(text, `${path}.versions[${String(at)}]`, errors);
  }
  const { length } = attributeValues.filter(([name]) => isSet(attribute, name));
  if (length === 1) return;
  const shown: JsonObject = Object.fromEntries(
    attributeValues.map(([name, shownName]) => [shownName, attribute[name] ?? null]),
  );
  errors.invalid(path, length === 0 ? '' : shown, 'exactly one value must be specified');
}

function validateText(text: string, path: string, errors: FieldErrors): void {
  if (Buffer.byteLength(text) > attributeBytesMax) errors.tooLong(path, attributeBytesMax);
}

function validateVersion(text: string, path: string, errors: FieldErrors): void {
  if (typeof parseSemanticVersion(text) === 'string') {
    errors.invalid(path, text, 'must be a string compatible with semver.org spec 2.0.0');
  }
  validateText(text, path, errors);
}
