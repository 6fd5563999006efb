// The kinds of admissionregistration: one record each.
import type { Kind } from '../kind.ts';
import {
  mutatingPolicyColumns,
  policyBindingColumns,
  validatingPolicyColumns,
  webhookColumns,
} from './columns.ts';
import {
  validateMutatingPolicy,
  validatePolicyBinding,
  validateValidatingPolicy,
} from './policy-validation.ts';
import { validateWebhooks } from './webhook-validation.ts';

export const admissionregistrationKinds: readonly Kind[] = [
  {
    name: 'admissionregistration/ValidatingAdmissionPolicy',
    columns: validatingPolicyColumns,
    validate: validateValidatingPolicy,
  },
  {
    name: 'admissionregistration/ValidatingAdmissionPolicyBinding',
    columns: policyBindingColumns,
    validate: validatePolicyBinding,
  },
  {
    name: 'admissionregistration/MutatingAdmissionPolicy',
    columns: mutatingPolicyColumns,
    validate: validateMutatingPolicy,
  },
  {
    name: 'admissionregistration/MutatingAdmissionPolicyBinding',
    columns: policyBindingColumns,
    validate: validatePolicyBinding,
  },
  {
    name: 'admissionregistration/ValidatingWebhookConfiguration',
    columns: webhookColumns,
    validate: validateWebhooks,
  },
  {
    name: 'admissionregistration/MutatingWebhookConfiguration',
    columns: webhookColumns,
    validate: validateWebhooks,
  },
];
