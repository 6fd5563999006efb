// Claims to devices, their classes and slices: names that refer to one another, counts, sizes.
import {
  entriesAt,
  isSet,
  listAt,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
} from '../../api/json-access.ts';
import { isAbsent, isZero } from '../../api/presence.ts';
import { cIdentifierPattern } from '../../api/formats.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { isRecord } from '../../api/json-value.ts';
import { opened, sortedText } from '../../api/raw-json.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateNodeSelector } from '../core/pod-scheduling.ts';
import { nanoOf } from '../core/resource-lists.ts';
import type { Scope, ValidatedWrite, Validator } from '../validator.ts';

const parameterBytesMax = 10_240;

export const validateResourceClaim: Validator = (write) => {
  const devices = recordAt(recordAt(write.object, 'spec'), 'devices');
  if (devices !== undefined) validateDevices(devices, 'spec.devices', write);
  if (write.subresource === 'status') validateClaimStatus(write);
};

export const validateClaimTemplate: Validator = (write) => {
  const spec = recordAt(recordAt(write.object, 'spec'), 'spec');
  const devices = recordAt(spec, 'devices');
  if (devices !== undefined) validateDevices(devices, 'spec.spec.devices', write);
};

export const validateDeviceClass: Validator = (write) => {
  const spec = recordAt(write.object, 'spec');
  for (const [at, config] of recordsAt(spec, 'config').entries()) {
    validateOpaque(config, `spec.config[${String(at)}]`, write);
  }
};

function validateDevices(devices: JsonObject, path: string, scope: Scope): void {
  const requests = recordsAt(devices, 'requests');
  const names = new Set<string>();
  for (const [at, request] of requests.entries()) {
    const where = `${path}.requests[${String(at)}]`;
    const name = textAt(request, 'name');
    names.add(name);
    const exact = recordAt(request, 'exactly');
    if (exact !== undefined) validateCount(exact, `${where}.exactly`, scope);
    for (const [index, sub] of recordsAt(request, 'firstAvailable').entries()) {
      names.add(`${name}/${textAt(sub, 'name')}`);
      const place = `${where}.firstAvailable[${String(index)}]`;
      validateCount(sub, place, scope);
      if (textAt(sub, 'deviceClassName') === '') scope.errors.required(`${place}.deviceClassName`);
    }
  }
  for (const list of ['constraints', 'config']) {
    for (const [at, one] of recordsAt(devices, list).entries()) {
      const where = `${path}.${list}[${String(at)}]`;
      for (const [index, name] of textsAt(one, 'requests').entries()) {
        if (names.has(name)) continue;
        const detail = 'must be the name of a request in the claim, or of one of its alternatives';
        scope.errors.invalid(`${where}.requests[${String(index)}]`, name, detail);
      }
      if (list === 'config') validateOpaque(one, where, scope);
    }
  }
}

function validateCount(request: JsonObject, path: string, { errors }: Scope): void {
  const mode = textAt(request, 'allocationMode');
  const count = numberAt(request, 'count') ?? 0;
  if (mode === 'All' && count !== 0) {
    errors.invalid(`${path}.count`, count, "must not be specified when allocationMode is 'All'");
  } else if (mode === 'ExactCount' && count <= 0) {
    errors.invalid(`${path}.count`, count, 'must be greater than zero');
  }
  for (const [at, selector] of recordsAt(request, 'selectors').entries()) {
    if (textAt(recordAt(selector, 'cel'), 'expression').trim() !== '') continue;
    if (!isSet(selector, 'cel')) continue;
    errors.required(`${path}.selectors[${String(at)}].cel.expression`);
  }
}

function validateOpaque(config: JsonObject, path: string, { errors }: Scope): void {
  const opaque = recordAt(config, 'opaque');
  if (opaque === undefined) return;
  const parameters = opaque['parameters'];
  const where = `${path}.opaque.parameters`;
  if (isAbsent(parameters)) return; // the field's own rule requires it
  if (Buffer.byteLength(sortedText(parameters)) > parameterBytesMax) {
    errors.tooLong(where, parameterBytesMax);
  } else if (!isRecord(opened(parameters))) {
    errors.invalid(where, '<value omitted>', 'parameters must be a valid JSON object');
  }
}

function validateClaimStatus({ object, old, errors }: ValidatedWrite): void {
  const status = recordAt(object, 'status');
  const before = recordAt(old, 'status');
  const reserved = listAt(status, 'reservedFor');
  const isAllocated = isSet(status, 'allocation');
  if (reserved.length > 0 && !isAllocated) {
    errors.forbidden('status.reservedFor', 'may not be specified when `allocated` is not set');
  }
  if (isSet(before, 'allocation') && !isAllocated && reserved.length > 0) {
    errors.forbidden('status.allocation', 'may not be cleared while the claim is reserved');
  }
}

const slicesMax = { devices: 128, complexDevices: 64, attributes: 32, counters: 32 } as const;

export const validateResourceSlice: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const poolName = textAt(recordAt(spec, 'pool'), 'name');
  const before = recordAt(old, 'spec');
  if (before !== undefined && textAt(recordAt(before, 'pool'), 'name') !== poolName) {
    errors.invalid('spec.pool.name', poolName, 'field is immutable');
  }
  const selector = recordAt(spec, 'nodeSelector');
  validateNodeSelector(selector, 'spec.nodeSelector', errors);
  if (selector !== undefined && recordsAt(selector, 'nodeSelectorTerms').length > 1) {
    const terms = listAt(selector, 'nodeSelectorTerms').length;
    errors.invalid(
      'spec.nodeSelector.nodeSelectorTerms',
      terms,
      'must have exactly one node selector term',
    );
  }
  const devices = recordsAt(spec, 'devices');
  const complex = ['taints', 'consumesCounters', 'bindingConditions', 'bindingFailureConditions'];
  const isComplex = devices.some((device) =>
    complex.some((name) => listAt(device, name).length > 0),
  );
  if (isComplex && devices.length > slicesMax.complexDevices) {
    errors.tooMany('spec.devices', devices.length, slicesMax.complexDevices);
  }
  for (const [at, device] of devices.entries()) {
    validateDevice(
      device,
      `spec.devices[${String(at)}]`,
      spec['perDeviceNodeSelection'] === true,
      write,
    );
  }
};

function validateDevice(
  device: JsonObject,
  path: string,
  isPerDevice: boolean,
  { errors }: Scope,
): void {
  const attributes = entriesAt(device, 'attributes');
  const capacity = entriesAt(device, 'capacity');
  const count = attributes.length + capacity.length;
  if (count > slicesMax.attributes) {
    errors.tooMany(path, count, slicesMax.attributes);
  }
  for (const [list, entries] of [
    ['attributes', attributes],
    ['capacity', capacity],
  ] as const) {
    for (const [key] of entries) {
      errors.problems(`${path}.${list}`, key, qualifiedProblems(key));
    }
  }
  for (const [key, value] of capacity) {
    const amount =
      typeof value === 'object' && value !== null ? (value as JsonObject)['value'] : '';
    if (nanoOf(amount ?? '') >= 0n) continue;
    errors.invalid(`${path}.capacity[${key}].value`, amount, 'must be greater than or equal to 0');
  }
  const nodes = ['nodeName', 'nodeSelector', 'allNodes'].filter((name) =>
    name === 'nodeSelector' ? isSet(device, name) : !isZero(device[name]),
  );
  if (isPerDevice && nodes.length === 0) {
    errors.required(
      path,
      'one of `nodeName`, `nodeSelector` and `allNodes` ' +
        'is required when `perDeviceNodeSelection` is true',
    );
  } else if (!isPerDevice && nodes.length > 0) {
    for (const name of nodes) {
      errors.forbidden(`${path}.${name}`, 'may only be set when `perDeviceNodeSelection` is true');
    }
  }
}

const domainBytesMax = 63;
const identifierLengthMax = 32;

/** `[domain/]identifier`. */
function qualifiedProblems(key: string): readonly string[] {
  const parts = key.split('/');
  const id = parts.at(-1) ?? '';
  const problems: string[] = [];
  if (parts.length > 2) problems.push('must be a name or a domain and a name separated by a slash');
  if (parts.length === 2) {
    const domain = parts[0] ?? '';
    if (domain === '') problems.push('domain must not be empty');
    else problems.push(...dns1123SubdomainProblems(domain));
    if (Buffer.byteLength(domain) > domainBytesMax)
      problems.push('domain must be no more than 63 bytes');
  }
  if (!cIdentifierPattern.test(id)) problems.push('name must be a valid C identifier');
  if (id.length > identifierLengthMax) problems.push('name must be no more than 32 characters');
  return problems;
}
