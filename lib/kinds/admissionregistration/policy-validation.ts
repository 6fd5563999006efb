// Admission policies: what they match, and that their expressions compile.
import type { FieldErrors } from '../../api/field-errors.ts';
import { cIdentifierPattern } from '../../api/formats.ts';
import { isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Steps } from '../../base/steps.ts';
import { boolType, listType, nullType, stringType, structType } from '../../cel/model/cel-type.ts';
import { isReservedWord } from '../../cel/schema/escaping.ts';
import { composeVariablesSteps } from '../../cel/use/composition.ts';
import { compileConditionSteps } from '../../cel/use/conditions.ts';
import { policyEnvironment } from '../../cel/use/policy-environment.ts';
import type { PolicyEnvironmentOptions } from '../../cel/use/policy-environment.ts';
import { validateConditions } from '../condition-validation.ts';
import { changed } from '../validator.ts';
import type { Holder, Scope, ValidatedWrite } from '../validator.ts';
import { byPlace } from './error-order.ts';
import { environmentFor, matchConditionSteps, validateExpression } from './expressions.ts';
import type { ExpressionEnvironments } from './expressions.ts';
import {
  validateConstraints,
  validateMutableOperations,
  validateParamKind,
} from './policy-match.ts';

type EnvironmentNeeds = Pick<PolicyEnvironmentOptions, 'hasAuthorizer' | 'isMutating'>;

interface PolicyWrite extends ValidatedWrite {
  readonly spec: JsonObject;
  /** Expressions of the stored policy. */
  readonly storedTexts: ReadonlySet<string>;
}

const policyWrite = (write: ValidatedWrite): PolicyWrite => ({
  ...write,
  spec: recordAt(write.object, 'spec') ?? {},
  storedTexts: new Set(expressionsOf(recordAt(write.old, 'spec'))),
});

function environmentsOf(
  { spec, naming, storedTexts }: PolicyWrite,
  needs: EnvironmentNeeds,
): ExpressionEnvironments {
  const options = { naming, hasParams: isSet(spec, 'paramKind'), ...needs };
  return {
    fresh: policyEnvironment(options),
    stored: policyEnvironment({ ...options, version: 'stored' }),
    storedTexts,
  };
}

const lists = [
  ['matchConditions', ['expression']],
  ['variables', ['expression']],
  ['validations', ['expression', 'messageExpression']],
  ['auditAnnotations', ['valueExpression']],
] as const;

/** All expressions of a policy. */
function expressionsOf(spec: Holder): readonly string[] {
  const texts = lists.flatMap(([list, names]) =>
    recordsAt(spec, list).flatMap((one) => names.map((name) => textAt(one, name))),
  );
  const mutations = recordsAt(spec, 'mutations').flatMap((mutation) =>
    patchParts.map(([, member]) => textAt(recordAt(mutation, member), 'expression')),
  );
  return [...texts, ...mutations].filter((text) => text !== '');
}

/** The environments of what uses the variables of a policy. */
interface WithVariables extends ExpressionEnvironments {
  readonly within: (others: ExpressionEnvironments) => ExpressionEnvironments;
}

/** Each variable sees those before it. */
function* validateVariables(
  { spec, errors }: PolicyWrite,
  base: ExpressionEnvironments,
): Steps<WithVariables> {
  const variables = recordsAt(spec, 'variables').map((one) => ({
    name: textAt(one, 'name'),
    expression: textAt(one, 'expression'),
  }));
  // What they are is known by all that was ever in the language; whether they may be so, is not.
  const composition = yield* composeVariablesSteps(base.stored, variables);
  const withVariables = (others: ExpressionEnvironments): ExpressionEnvironments => ({
    ...others,
    fresh: composition.within(others.fresh),
    stored: composition.within(others.stored),
  });
  const composed = withVariables(base);
  for (const [at, { name, expression }] of variables.entries()) {
    const path = `spec.variables[${String(at)}]`;
    if (name.trim() === '') errors.required(`${path}.name`, 'name is not specified');
    else if (!cIdentifierPattern.test(name) || isReservedWord(name)) {
      errors.invalid(`${path}.name`, name, 'name is not a valid CEL identifier');
    }
    if (expression.trim() === '') {
      errors.required(`${path}.expression`, 'expression is not specified');
      continue;
    }
    const asStored = composition.conditions[at]?.error;
    const environment = environmentFor(expression, composed);
    const error =
      asStored !== undefined || environment === composed.stored
        ? asStored
        : (yield* compileConditionSteps(environment, expression, 'any')).error;
    if (error !== undefined) errors.invalid(`${path}.expression`, expression, error);
  }
  return { ...composed, within: withVariables };
}

export function* validateValidatingPolicy(given: ValidatedWrite): Steps<readonly string[]> {
  const write = policyWrite(given);
  const { spec, object, errors } = write;
  const base = environmentsOf(write, { hasAuthorizer: true });
  yield* validateMatching(write, base);
  const environments = yield* validateVariables(write, base);
  const validations = recordsAt(spec, 'validations');
  const annotations = recordsAt(spec, 'auditAnnotations');
  if (validations.length === 0 && annotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    errors.required('spec.validations', detail);
    errors.required('spec.auditAnnotations', detail);
  }
  const messages = environments.within(environmentsOf(write, { hasAuthorizer: false }));
  for (const [at, one] of validations.entries()) {
    const path = `spec.validations[${String(at)}]`;
    yield* validateExpression(one, 'expression', path, { environments, types: [boolType] }, write);
    yield* validateMessages(one, path, messages, write);
  }
  yield* validateAnnotations(annotations, environments, write);
  validateStatus(object, errors);
  errors.arrange(byPlace);
  return noWarnings;
}

const noWarnings: readonly string[] = [];

function validateStatus(object: JsonObject, errors: FieldErrors): void {
  const status = recordAt(object, 'status');
  validateConditions(status, 'status.conditions', errors);
  const warnings = recordsAt(recordAt(status, 'typeChecking'), 'expressionWarnings');
  for (const [at, warning] of warnings.entries()) {
    const path = `status.typeChecking.expressionWarnings[${String(at)}]`;
    for (const name of ['warning', 'fieldRef']) {
      if (textAt(warning, name).trim() === '') errors.required(`${path}.${name}`);
    }
  }
}

function* validateMessages(
  validation: JsonObject,
  path: string,
  environments: ExpressionEnvironments,
  scope: Scope,
): Steps<void> {
  const { errors } = scope;
  const expression = textAt(validation, 'messageExpression');
  if (expression !== '' && expression.trim() === '') {
    errors.invalid(`${path}.messageExpression`, expression, 'must be non-empty if specified');
  } else if (expression !== '') {
    const needs = { environments, types: [stringType] } as const;
    yield* validateExpression(validation, 'messageExpression', path, needs, scope);
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

function* validateAnnotations(
  annotations: readonly JsonObject[],
  environments: ExpressionEnvironments,
  write: ValidatedWrite,
): Steps<void> {
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
      const needs = { environments, types: [stringType, nullType] } as const;
      yield* validateExpression(one, 'valueExpression', path, needs, write);
    }
    if (keys.has(key)) errors.duplicate(`${path}.key`, key);
    keys.add(key);
  }
}

export function* validateMutatingPolicy(given: ValidatedWrite): Steps<readonly string[]> {
  const write = policyWrite(given);
  const { spec, errors } = write;
  const base = environmentsOf(write, { hasAuthorizer: true, isMutating: true });
  yield* validateMatching(write, environmentsOf(write, { hasAuthorizer: true }));
  const constraints = recordAt(spec, 'matchConstraints');
  validateMutableOperations(constraints, 'spec.matchConstraints', errors);
  const environments = yield* validateVariables(write, base);
  const mutations = recordsAt(spec, 'mutations');
  if (mutations.length === 0) {
    errors.required('spec.mutations', 'mutations must contain at least one item');
  }
  for (const [at, mutation] of mutations.entries()) {
    yield* validateMutation(mutation, `spec.mutations[${String(at)}]`, environments, write);
  }
  errors.arrange(byPlace);
  return noWarnings;
}

const patchParts = [
  ['ApplyConfiguration', 'applyConfiguration', [structType('Object')]],
  ['JSONPatch', 'jsonPatch', [listType(structType('JSONPatch'))]],
] as const;

/** Only the part that its type names; a type that is not known says nothing about either. */
function* validateMutation(
  mutation: JsonObject,
  path: string,
  environments: ExpressionEnvironments,
  scope: Scope,
): Steps<void> {
  const { errors } = scope;
  const type = textAt(mutation, 'patchType');
  const own = patchParts.find(([name]) => name === type);
  if (own === undefined) return;
  const [, member, types] = own;
  const part = recordAt(mutation, member);
  const where = `${path}.${member}`;
  if (part === undefined) {
    errors.required(where, `must be specified when patchType is ${type}`);
  } else {
    yield* validateExpression(part, 'expression', where, { environments, types }, scope);
  }
  for (const [, other] of patchParts) {
    if (other === member || recordAt(mutation, other) === undefined) continue;
    const detail = `must not be specified when patchType is ${type}`;
    errors.invalid(`${path}.${other}`, `{${other}}`, detail);
  }
}

/** What both kinds of policy match: resources, namespaces, conditions. */
function* validateMatching(write: PolicyWrite, environments: ExpressionEnvironments): Steps<void> {
  const { spec, old, errors } = write;
  validateParamKind(recordAt(spec, 'paramKind'), 'spec.paramKind', errors);
  const constraints = recordAt(spec, 'matchConstraints');
  validateConstraints(constraints, 'spec.matchConstraints', write);
  if (constraints !== undefined && recordsAt(constraints, 'resourceRules').length === 0) {
    errors.required('spec.matchConstraints.resourceRules');
  }
  const oldSpec = recordAt(old, 'spec');
  const isJudged = (name: string): boolean => old === undefined || changed(spec, oldSpec, name);
  if (isJudged('paramKind') || isJudged('matchConditions')) {
    yield* matchConditionSteps(spec, 'spec', environments, write);
  } else errors.overlook('spec.matchConditions');
}
