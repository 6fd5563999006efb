// What claims ask for: requests by name, each exact or a choice of alternatives, what must hold
// between the devices, and configuration for drivers.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, listAt, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import {
  dns1123SubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder, Scope } from '../validator.ts';
import { validateConfiguration } from './device-configuration.ts';
import { validateSelectors } from './device-selectors.ts';
import { eachRecord, eachText } from './lists.ts';
import { validateFullyQualifiedName, validateLabelName } from './names.ts';
import { validateEffect } from './taint-rules.ts';

const requestsMax = 32;
const alternativesMax = 8;
const constraintsMax = 32;
const configurationsMax = 32;
const tolerationsMax = 16;

/** Alternatives by name of the request; none where it is exact. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

const nameOf = (of: JsonObject): string => textAt(of, 'name');

/** The claim's `devices`. */
export function validateDeviceClaim(devices: Holder, path: string, scope: Scope): void {
  const { errors } = scope;
  const names = requestNames(devices);
  eachRecord({ of: devices, name: 'requests', path, countMax: requestsMax }, errors, {
    validate: (request, where) => {
      validateRequest(request, where, scope);
    },
    keyOf: nameOf,
  });
  eachRecord({ of: devices, name: 'constraints', path, countMax: constraintsMax }, errors, {
    validate: (constraint, where) => {
      validateConstraint(constraint, where, { names, scope });
    },
  });
  eachRecord({ of: devices, name: 'config', path, countMax: configurationsMax }, errors, {
    validate: (config, where) => {
      validateReferences(config, where, names, errors);
      validateConfiguration(config, where, errors);
    },
  });
}

export const requestNames = (devices: Holder): RequestNames =>
  new Map(
    recordsAt(devices, 'requests').map((request) => [
      nameOf(request),
      new Set(recordsAt(request, 'firstAvailable').map(nameOf)),
    ]),
  );

function validateRequest(request: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  validateLabelName(nameOf(request), `${path}.name`, errors);
  const exact = recordAt(request, 'exactly');
  const hasAlternatives = listAt(request, 'firstAvailable').length > 0;
  const choice = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exact !== undefined && hasAlternatives) {
    errors.invalid(path, null, `${choice}, but multiple fields are set`);
  } else if (hasAlternatives) {
    const list = { of: request, name: 'firstAvailable', path, countMax: alternativesMax };
    eachRecord(list, errors, {
      validate: (alternative, where) => {
        validateLabelName(nameOf(alternative), `${where}.name`, errors);
        validateWanted(alternative, where, scope);
      },
      keyOf: nameOf,
    });
  } else if (exact === undefined) errors.required(path, choice);
  else validateWanted(exact, `${path}.exactly`, scope);
}

/** What an exact request and an alternative share. */
function validateWanted(wanted: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  const className = textAt(wanted, 'deviceClassName');
  if (className === '') errors.required(`${path}.deviceClassName`);
  else errors.problems(`${path}.deviceClassName`, className, dns1123SubdomainProblems(className));
  validateSelectors(wanted, path, scope);
  validateCount(wanted, path, errors);
  eachRecord({ of: wanted, name: 'tolerations', path, countMax: tolerationsMax }, errors, {
    validate: (toleration, where) => {
      validateToleration(toleration, where, errors);
    },
  });
}

function validateCount(wanted: JsonObject, path: string, errors: FieldErrors): void {
  const mode = textAt(wanted, 'allocationMode');
  const count = numberAt(wanted, 'count') ?? 0;
  if (mode === 'All') {
    if (count === 0) return;
    errors.invalid(`${path}.count`, count, "must not be specified when allocationMode is 'All'");
  } else if (mode !== 'ExactCount') {
    errors.notSupported(`${path}.allocationMode`, mode, ['All', 'ExactCount']);
  } else if (count <= 0) errors.invalid(`${path}.count`, count, 'must be greater than zero');
}

function validateToleration(toleration: Holder, path: string, errors: FieldErrors): void {
  const key = textAt(toleration, 'key');
  if (key !== '') errors.problems(`${path}.key`, key, qualifiedNameProblems(key));
  const value = textAt(toleration, 'value');
  const operator = textAt(toleration, 'operator');
  if (operator === 'Exists') {
    if (value !== '') {
      errors.invalid(`${path}.value`, value, 'must be empty for operator `Exists`');
    }
  } else if (operator === 'Equal') {
    errors.problems(`${path}.value`, value, labelValueProblems(value));
  } else if (operator === '') errors.required(`${path}.operator`);
  else errors.notSupported(`${path}.operator`, operator, ['Equal', 'Exists']);
  const effect = textAt(toleration, 'effect');
  if (effect !== '') validateEffect(effect, `${path}.effect`, errors);
}

function validateConstraint(
  constraint: JsonObject,
  path: string,
  { names, scope }: { readonly names: RequestNames; readonly scope: Scope },
): void {
  const { errors, isOn } = scope;
  validateReferences(constraint, path, names, errors);
  const given = ['matchAttribute', 'distinctAttribute'].find((name) => isSet(constraint, name));
  if (given !== undefined) {
    validateFullyQualifiedName(textAt(constraint, given), `${path}.${given}`, errors);
  } else if (isOn('DRAConsumableCapacity')) {
    const choice = 'exactly one of "matchAttribute" or "distinctAttribute" is required';
    errors.required(path, `${choice}, but multiple fields are set`);
  } else errors.required(`${path}.matchAttribute`);
}

/** The member `requests`: names of requests, or of one of their alternatives. */
export function validateReferences(
  of: JsonObject,
  path: string,
  names: RequestNames,
  errors: FieldErrors,
): void {
  const list = { of, name: 'requests', path, countMax: requestsMax };
  eachText(list, errors, (name, where) => {
    validateReference(name, where, names, errors);
  });
}

export function validateReference(
  name: string,
  path: string,
  names: RequestNames,
  errors: FieldErrors,
): void {
  const [request = '', alternative, more] = name.split('/');
  const isKnown =
    more === undefined &&
    (alternative === undefined
      ? names.has(request)
      : names.get(request)?.has(alternative) === true);
  if (more === undefined) {
    validateLabelName(request, path, errors);
    if (alternative !== undefined) validateLabelName(alternative, path, errors);
  }
  if (isKnown) return;
  const detail =
    'must be the name of a request in the claim ' +
    "or the name of a request and a subrequest separated by '/'";
  errors.invalid(path, name, detail);
}
