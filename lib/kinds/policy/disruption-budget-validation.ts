// Disruption budgets: one way of saying how many pods must stay, or may go.
import { isSet, recordAt, valueAt } from '../../api/json-access.ts';
import { validateAmount, validateAtMostAll } from '../apps/amounts.ts';
import { validateConditions } from '../condition-validation.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { Validator } from '../validator.ts';

export const validateDisruptionBudget: Validator = ({ object, errors, subresource }) => {
  if (subresource === 'status') {
    validateConditions(recordAt(object, 'status'), 'status.conditions', errors);
  }
  const spec = recordAt(object, 'spec');
  if (isSet(spec, 'minAvailable') && isSet(spec, 'maxUnavailable')) {
    errors.invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set');
  }
  for (const name of ['minAvailable', 'maxUnavailable']) {
    const amount = valueAt(spec, name);
    validateAmount(amount, `spec.${name}`, errors);
    validateAtMostAll(amount, `spec.${name}`, errors);
  }
  validateLabelSelector(recordAt(spec, 'selector'), 'spec.selector', errors);
};
