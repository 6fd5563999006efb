// Admission policies: what they match, and that their expressions compile.
import { cIdentifierPattern } from '../../api/formats.ts';
import { isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Environment } from '../../cel/environment.ts';
import { boolType, listType, nullType, stringType, structType } from '../../cel/model/cel-type.ts';
import { isReservedWord } from '../../cel/schema/escaping.ts';
import { composeVariables } from '../../cel/use/composition.ts';
import type { NamedExpression } from '../../cel/use/composition.ts';
import { policyEnvironment } from '../../cel/use/policy-environment.ts';
import { validateConditions } from '../condition-validation.ts';
import type { Scope, ValidatedWrite, Validator } from '../validator.ts';
import { validateExpression, validateMatchConditions } from './expressions.ts';
import {
  validateConstraints,
  validateMutableOperations,
  validateParamKind,
} from './policy-match.ts';

interface EnvironmentNeeds {
  readonly hasAuthorizer: boolean;
  readonly isMutating: boolean;
}

const baseEnvironment = (
  spec: JsonObject,
  { naming }: Scope,
  needs: EnvironmentNeeds,
): Environment => policyEnvironment({ naming, hasParams: isSet(spec, 'paramKind'), ...needs });

const variablesOf = (spec: JsonObject): readonly NamedExpression[] =>
  recordsAt(spec, 'variables').map((one) => ({
    name: textAt(one, 'name'),
    expression: textAt(one, 'expression'),
  }));

/** @returns the environment of what uses the variables, each of which sees those before it */
function validateVariables(
  spec: JsonObject,
  base: Environment,
  { errors }: ValidatedWrite,
): Environment {
  const variables = variablesOf(spec);
  const { environment, conditions } = composeVariables(base, variables);
  for (const [at, { name, expression }] of variables.entries()) {
    const path = `spec.variables[${String(at)}]`;
    if (name.trim() === '') errors.required(`${path}.name`, 'name is not specified');
    else if (!cIdentifierPattern.test(name) || isReservedWord(name)) {
      errors.invalid(`${path}.name`, name, 'name is not a valid CEL identifier');
    }
    const error = conditions[at]?.error;
    if (expression.trim() === '') {
      errors.required(`${path}.expression`, 'expression is not specified');
    } else if (error !== undefined) errors.invalid(`${path}.expression`, expression, error);
  }
  return environment;
}

export const validateValidatingPolicy: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const base = baseEnvironment(spec, write, { hasAuthorizer: true, isMutating: false });
  validateMatching(spec, base, write);
  const environment = validateVariables(spec, base, write);
  const validations = recordsAt(spec, 'validations');
  const annotations = recordsAt(spec, 'auditAnnotations');
  if (validations.length === 0 && annotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    errors.required('spec.validations', detail);
    errors.required('spec.auditAnnotations', detail);
  }
  const messageBase = baseEnvironment(spec, write, { hasAuthorizer: false, isMutating: false });
  const messages = composeVariables(messageBase, variablesOf(spec)).environment;
  for (const [at, one] of validations.entries()) {
    const path = `spec.validations[${String(at)}]`;
    validateExpression(one, 'expression', path, { environment, types: [boolType] }, write);
    validateMessages(one, path, messages, write);
  }
  validateAnnotations(annotations, environment, write);
  const status = recordAt(object, 'status');
  validateConditions(status, 'status.conditions', errors);
  const warnings = recordsAt(recordAt(status, 'typeChecking'), 'expressionWarnings');
  for (const [at, warning] of warnings.entries()) {
    const path = `status.typeChecking.expressionWarnings[${String(at)}]`;
    for (const name of ['warning', 'fieldRef']) {
      if (textAt(warning, name).trim() === '') errors.required(`${path}.${name}`);
    }
  }
};

function validateMessages(
  validation: JsonObject,
  path: string,
  environment: Environment,
  scope: Scope,
): void {
  const { errors } = scope;
  const expression = textAt(validation, 'messageExpression');
  if (expression !== '' && expression.trim() === '') {
    errors.invalid(`${path}.messageExpression`, expression, 'must be non-empty if specified');
  } else if (expression !== '') {
    const needs = { environment, types: [stringType] } as const;
    validateExpression(validation, 'messageExpression', path, needs, scope);
  }
  const message = textAt(validation, 'message');
  if (message === '') return;
  if (message.trim() === '') {
    errors.invalid(`${path}.message`, message, 'message must be non-empty if specified');
  } else if (/[\n\r]/.test(message.trim())) {
    errors.invalid(`${path}.message`, message, 'message must not contain line breaks');
  }
}

const annotationsMax = 20;
const annotationBytesMax = 5 * 1024;

function validateAnnotations(
  annotations: readonly JsonObject[],
  environment: Environment,
  write: ValidatedWrite,
): void {
  const { object, errors } = write;
  if (annotations.length > annotationsMax) {
    const detail = `must not have more than ${String(annotationsMax)} auditAnnotations`;
    errors.invalid('spec.auditAnnotations', annotations, detail);
  }
  const prefix = textAt(recordAt(object, 'metadata'), 'name');
  const keys = new Set<string>();
  for (const [at, one] of annotations.entries()) {
    const path = `spec.auditAnnotations[${String(at)}]`;
    const key = textAt(one, 'key');
    const name = `${prefix}/${key}`;
    errors.problems(`${path}.key`, name, qualifiedNameProblems(name));
    const bytes = Buffer.byteLength(textAt(one, 'valueExpression').trim());
    if (bytes > annotationBytesMax) {
      const detail = `must not exceed ${String(annotationBytesMax)} bytes in length`;
      errors.required(`${path}.valueExpression`, detail);
    } else {
      const needs = { environment, types: [stringType, nullType] } as const;
      validateExpression(one, 'valueExpression', path, needs, write);
    }
    if (keys.has(key)) errors.duplicate(`${path}.key`, key);
    keys.add(key);
  }
}

export const validateMutatingPolicy: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const base = baseEnvironment(spec, write, { hasAuthorizer: true, isMutating: true });
  const matching = baseEnvironment(spec, write, { hasAuthorizer: true, isMutating: false });
  validateMatching(spec, matching, write);
  const constraints = recordAt(spec, 'matchConstraints');
  validateMutableOperations(constraints, 'spec.matchConstraints', errors);
  const environment = validateVariables(spec, base, write);
  const mutations = recordsAt(spec, 'mutations');
  if (mutations.length === 0) {
    errors.required('spec.mutations', 'mutations must contain at least one item');
  }
  for (const [at, mutation] of mutations.entries()) {
    validateMutation(mutation, `spec.mutations[${String(at)}]`, environment, write);
  }
};

const patchParts = [
  ['ApplyConfiguration', 'applyConfiguration', [structType('Object')]],
  ['JSONPatch', 'jsonPatch', [listType(structType('JSONPatch'))]],
] as const;

/** Only the part that its type names; a type that is not known says nothing about either. */
function validateMutation(
  mutation: JsonObject,
  path: string,
  environment: Environment,
  scope: Scope,
): void {
  const { errors } = scope;
  const type = textAt(mutation, 'patchType');
  if (!patchParts.some(([name]) => name === type)) return;
  for (const [name, member, types] of patchParts) {
    const part = recordAt(mutation, member);
    const where = `${path}.${member}`;
    if (name === type && part === undefined) {
      errors.required(where, `must be specified when patchType is ${type}`);
    } else if (name === type && part !== undefined) {
      validateExpression(part, 'expression', where, { environment, types }, scope);
    } else if (part !== undefined) {
      const detail = `must not be specified when patchType is ${type}`;
      errors.invalid(where, `{${member}}`, detail);
    }
  }
}

/** What both kinds of policy match: resources, namespaces, conditions. */
function validateMatching(spec: JsonObject, environment: Environment, write: ValidatedWrite): void {
  validateParamKind(recordAt(spec, 'paramKind'), 'spec.paramKind', write.errors);
  const constraints = recordAt(spec, 'matchConstraints');
  validateConstraints(constraints, 'spec.matchConstraints', write);
  if (constraints !== undefined && recordsAt(constraints, 'resourceRules').length === 0) {
    write.errors.required('spec.matchConstraints.resourceRules');
  }
  validateMatchConditions(spec, 'spec', environment, write);
}
