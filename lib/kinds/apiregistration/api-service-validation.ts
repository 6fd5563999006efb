// API services: served locally, or by a service that is reached safely.
import { flagAt, recordAt, textAt } from '../../api/json-access.ts';
import type { Validator } from '../validator.ts';

export const validateApiService: Validator = ({ object, errors }) => {
  const spec = recordAt(object, 'spec') ?? {};
  const group = textAt(spec, 'group');
  if (group === '' && textAt(spec, 'version') !== 'v1') {
    errors.required('spec.group', 'only v1 may have an empty group');
  }
  const bundle = textAt(spec, 'caBundle');
  const isInsecure = flagAt(spec, 'insecureSkipTLSVerify');
  if (recordAt(spec, 'service') === undefined) {
    const detail = 'local APIServices may not have it';
    if (bundle !== '') errors.invalid('spec.caBundle', `${String(bundle.length)} bytes`, detail);
    if (isInsecure) errors.invalid('spec.insecureSkipTLSVerify', true, detail);
  } else if (isInsecure && bundle !== '') {
    errors.invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present');
  }
};
