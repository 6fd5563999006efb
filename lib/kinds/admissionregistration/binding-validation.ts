// Bindings of admission policies: where the parameters are, and what is matched beyond the policy.
import type { FieldErrors } from '../../api/field-errors.ts';
import { recordAt, textAt, textsAt } from '../../api/json-access.ts';
import { pathSegmentProblems } from '../../api/name-rules.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { Holder, Validator } from '../validator.ts';
import { validateConstraints, validateMutableOperations } from './policy-match.ts';

export const validateValidatingBinding: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec');
  validateParamRef(recordAt(spec, 'paramRef'), 'spec.paramRef', errors);
  validateConstraints(recordAt(spec, 'matchResources'), 'spec.matchResources', write);
  const actions = textsAt(spec, 'validationActions');
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information ' +
      'in the API response and headers serves no purpose)';
    errors.invalid('spec.validationActions', actions, detail);
  }
};

export const validateMutatingBinding: Validator = (write) => {
  const spec = recordAt(write.object, 'spec');
  validateParamRef(recordAt(spec, 'paramRef'), 'spec.paramRef', write.errors);
  const match = recordAt(spec, 'matchResources');
  validateConstraints(match, 'spec.matchResources', write);
  validateMutableOperations(match, 'spec.matchResources', write.errors);
};

const actionsWithoutParams = ['Deny', 'Allow'];

/** By name or by labels, not by both. */
function validateParamRef(params: Holder, path: string, errors: FieldErrors): void {
  if (params === undefined) return;
  const name = textAt(params, 'name');
  const selector = recordAt(params, 'selector');
  const isTwofold = name !== '' && selector !== undefined;
  const exclusive = 'name and selector are mutually exclusive';
  if (name !== '') errors.problems(`${path}.name`, name, pathSegmentProblems(name));
  if (isTwofold) errors.forbidden(`${path}.name`, exclusive);
  validateLabelSelector(selector, `${path}.selector`, errors);
  if (isTwofold) errors.forbidden(`${path}.selector`, exclusive);
  if (name === '' && selector === undefined) {
    errors.required(path, 'one of name or selector must be specified');
  }
  const action = textAt(params, 'parameterNotFoundAction');
  const where = `${path}.parameterNotFoundAction`;
  if (action === '') errors.required(where);
  else if (!actionsWithoutParams.includes(action)) {
    errors.notListed(where, action, actionsWithoutParams);
  }
}
