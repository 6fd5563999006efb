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
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateValidatingPolicy,
  },
  {
    name: 'admissionregistration/ValidatingAdmissionPolicyBinding',
    columns: policyBindingColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validatePolicyBinding,
  },
  {
    name: 'admissionregistration/MutatingAdmissionPolicy',
    columns: mutatingPolicyColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateMutatingPolicy,
  },
  {
    name: 'admissionregistration/MutatingAdmissionPolicyBinding',
    columns: policyBindingColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validatePolicyBinding,
  },
  {
    name: 'admissionregistration/ValidatingWebhookConfiguration',
    columns: webhookColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateWebhooks,
  },
  {
    name: 'admissionregistration/MutatingWebhookConfiguration',
    columns: webhookColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateWebhooks,
  },
];
