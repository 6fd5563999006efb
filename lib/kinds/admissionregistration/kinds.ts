// The kinds of admissionregistration: one record each.
import type { Kind } from '../kind.ts';
import { validateMutatingBinding, validateValidatingBinding } from './binding-validation.ts';
import {
  mutatingBindingColumns,
  mutatingPolicyColumns,
  validatingBindingColumns,
  validatingPolicyColumns,
  webhookColumns,
} from './columns.ts';
import { bindingStrategy, policyStrategy } from './param-permissions.ts';
import { validateMutatingPolicy, validateValidatingPolicy } from './policy-validation.ts';
import { withReservedNames } from './static-names.ts';
import { validateWebhooks } from './webhook-validation.ts';

const kinds: readonly Kind[] = [
  {
    name: 'admissionregistration/ValidatingAdmissionPolicy',
    columns: validatingPolicyColumns,
    strategy: policyStrategy,
    validateInSteps: validateValidatingPolicy,
  },
  {
    name: 'admissionregistration/ValidatingAdmissionPolicyBinding',
    columns: validatingBindingColumns,
    strategy: bindingStrategy('validatingadmissionpolicies'),
    validate: validateValidatingBinding,
  },
  {
    name: 'admissionregistration/MutatingAdmissionPolicy',
    columns: mutatingPolicyColumns,
    strategy: policyStrategy,
    validateInSteps: validateMutatingPolicy,
  },
  {
    name: 'admissionregistration/MutatingAdmissionPolicyBinding',
    columns: mutatingBindingColumns,
    strategy: bindingStrategy('mutatingadmissionpolicies'),
    validate: validateMutatingBinding,
  },
  {
    name: 'admissionregistration/ValidatingWebhookConfiguration',
    columns: webhookColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validateInSteps: validateWebhooks,
  },
  {
    name: 'admissionregistration/MutatingWebhookConfiguration',
    columns: webhookColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validateInSteps: validateWebhooks,
  },
];

export const admissionregistrationKinds: readonly Kind[] = kinds.map(withReservedNames);
