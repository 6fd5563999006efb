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
import { validateMutatingPolicy, validateValidatingPolicy } from './policy-validation.ts';
import { selfBlockWarnings } from './self-block.ts';
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
    columns: validatingBindingColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateValidatingBinding,
  },
  {
    name: 'admissionregistration/MutatingAdmissionPolicy',
    columns: mutatingPolicyColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateMutatingPolicy,
  },
  {
    name: 'admissionregistration/MutatingAdmissionPolicyBinding',
    columns: mutatingBindingColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateMutatingBinding,
  },
  {
    name: 'admissionregistration/ValidatingWebhookConfiguration',
    columns: webhookColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateWebhooks,
    warnings: selfBlockWarnings,
  },
  {
    name: 'admissionregistration/MutatingWebhookConfiguration',
    columns: webhookColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateWebhooks,
    warnings: selfBlockWarnings,
  },
];
