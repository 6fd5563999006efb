// Admission policies and their bindings: what they match, and that their expressions compile.
import { isSet, listAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { dns1035LabelProblems, qualifiedNameProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Environment } from '../../cel/environment.ts';
import { composeVariables } from '../../cel/use/composition.ts';
import { policyEnvironment } from '../../cel/use/policy-environment.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { Scope, ValidatedWrite, Validator } from '../validator.ts';
import { validateExpression, validateMessage } from './expressions.ts';
import { validateRule } from './webhook-validation.ts';

/** Environment of a policy's expressions, its variables included. */
function environmentOf(
  spec: JsonObject,
  write: ValidatedWrite,
  { isMutating }: { readonly isMutating: boolean },
): Environment {
  const base = policyEnvironment({
    naming: write.naming,
    hasParams: isSet(spec, 'paramKind'),
    hasAuthorizer: true,
    isMutating,
  });
  const variables = recordsAt(spec, 'variables').map((one) => ({
    name: textAt(one, 'name'),
    expression: textAt(one, 'expression'),
  }));
  for (const [at, variable] of recordsAt(spec, 'variables').entries()) {
    const before = composeVariables(base, variables.slice(0, at)).environment;
    const path = `spec.variables[${String(at)}]`;
    validateExpression(variable, 'expression', path, { environment: before, kinds: 'any' }, write);
  }
  return composeVariables(base, variables).environment;
}

export const validateValidatingPolicy: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  validateMatching(spec, write);
  const isEmpty =
    listAt(spec, 'validations').length === 0 && listAt(spec, 'auditAnnotations').length === 0;
  if (isEmpty) {
    const detail = 'validations or auditAnnotations must be defined';
    errors.required('spec.validations', detail);
  }
  const environment = environmentOf(spec, write, { isMutating: false });
  for (const [at, one] of recordsAt(spec, 'validations').entries()) {
    const path = `spec.validations[${String(at)}]`;
    validateExpression(one, 'expression', path, { environment, kinds: ['bool'] }, write);
    const message = textAt(one, 'message');
    validateMessage(message, `${path}.message`, write);
    const isLong = /[\n\r]/.test(textAt(one, 'expression').trim());
    if (isLong && message === '' && textAt(one, 'messageExpression') === '') {
      const detail = 'must be specified if expression contains line breaks';
      errors.required(`${path}.message`, detail);
    }
    const messages = { environment, kinds: ['string'] } as const;
    validateExpression(one, 'messageExpression', path, messages, write);
  }
  for (const [at, one] of recordsAt(spec, 'auditAnnotations').entries()) {
    const path = `spec.auditAnnotations[${String(at)}]`;
    const key = textAt(one, 'key');
    if (key !== '') {
      const name = textAt(recordAt(object, 'metadata'), 'name');
      errors.problems(`${path}.key`, key, qualifiedNameProblems(`${name || 'name'}/${key}`));
    }
    const values = { environment, kinds: ['string', 'null'] } as const;
    validateExpression(one, 'valueExpression', path, values, write);
  }
};

export const validateMutatingPolicy: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  validateMatching(spec, write);
  const rules = recordsAt(recordAt(spec, 'matchConstraints'), 'resourceRules');
  for (const [at, rule] of rules.entries()) {
    for (const [index, operation] of textsAt(rule, 'operations').entries()) {
      if (operation === 'CREATE' || operation === 'UPDATE') continue;
      const path = `spec.matchConstraints.resourceRules[${String(at)}].operations`;
      errors.notSupported(`${path}[${String(index)}]`, operation, ['CREATE', 'UPDATE']);
    }
  }
  const environment = environmentOf(spec, write, { isMutating: true });
  const parts = new Map([
    ['ApplyConfiguration', { member: 'applyConfiguration', kinds: ['struct'] }],
    ['JSONPatch', { member: 'jsonPatch', kinds: ['list'] }],
  ] as const);
  for (const [at, mutation] of recordsAt(spec, 'mutations').entries()) {
    const path = `spec.mutations[${String(at)}]`;
    const type = textAt(mutation, 'patchType');
    for (const [name, { member, kinds }] of parts) {
      const part = recordAt(mutation, member);
      if (name !== type) {
        if (part === undefined) continue;
        errors.invalid(`${path}.${member}`, part, `must not be set when patchType is ${type}`);
        continue;
      }
      if (part === undefined) {
        errors.required(`${path}.${member}`, `must be specified when patchType is ${type}`);
        continue;
      }
      const where = `${path}.${member}`;
      validateExpression(part, 'expression', where, { environment, kinds }, write);
    }
  }
};

/** What both kinds of policy match: resources, namespaces, conditions. */
function validateMatching(spec: JsonObject, write: ValidatedWrite): void {
  const { errors, naming } = write;
  const constraints = recordAt(spec, 'matchConstraints');
  if (constraints !== undefined) {
    const path = 'spec.matchConstraints';
    validateMatch(constraints, path, write);
    if (recordsAt(constraints, 'resourceRules').length === 0) {
      errors.required(`${path}.resourceRules`);
    }
  }
  const params = recordAt(spec, 'paramKind');
  const version = textAt(params, 'apiVersion');
  if (version !== '') {
    const problems = dns1035LabelProblems(version.split('/').at(-1) ?? '');
    if (problems.length > 0 || version.split('/').length > 2) {
      const detail = 'apiVersion must be of the form group/version, such as example.com/v1';
      errors.invalid('spec.paramKind.apiVersion', version, detail);
    }
  }
  const kind = textAt(params, 'kind');
  if (kind !== '') {
    errors.problems('spec.paramKind.kind', kind, dns1035LabelProblems(kind.toLowerCase()));
  }
  const hasParams = params !== undefined;
  const environment = policyEnvironment({ naming, hasParams, hasAuthorizer: true });
  for (const [at, condition] of recordsAt(spec, 'matchConditions').entries()) {
    const path = `spec.matchConditions[${String(at)}]`;
    validateExpression(condition, 'expression', path, { environment, kinds: ['bool'] }, write);
  }
}

function validateMatch(match: JsonObject, path: string, scope: Scope): void {
  for (const selector of ['namespaceSelector', 'objectSelector']) {
    validateLabelSelector(recordAt(match, selector), `${path}.${selector}`, scope.errors);
  }
  for (const list of ['resourceRules', 'excludeResourceRules']) {
    for (const [at, rule] of recordsAt(match, list).entries()) {
      validateRule(rule, `${path}.${list}[${String(at)}]`, scope);
    }
  }
}

export const validatePolicyBinding: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const params = recordAt(spec, 'paramRef');
  if (params !== undefined) {
    const [hasName, hasSelector] = [textAt(params, 'name') !== '', isSet(params, 'selector')];
    if (!hasName && !hasSelector) {
      errors.required('spec.paramRef.name', 'one of name or selector must be specified');
    } else if (hasName && hasSelector) {
      errors.forbidden('spec.paramRef.name', 'name and selector are mutually exclusive');
    }
    validateLabelSelector(recordAt(params, 'selector'), 'spec.paramRef.selector', errors);
  }
  const match = recordAt(spec, 'matchResources');
  if (match !== undefined) validateMatch(match, 'spec.matchResources', write);
  const actions = textsAt(spec, 'validationActions');
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const detail = 'must not contain both Deny and Warn (repeating the same information)';
    errors.invalid('spec.validationActions', actions, detail);
  }
};
