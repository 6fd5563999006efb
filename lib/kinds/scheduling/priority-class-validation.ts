// Priority classes: values and names that the product keeps for itself.
import { numberAt, recordAt, textAt } from '../../api/json-access.ts';
import type { Validator } from '../validator.ts';

const userValueMax = 1_000_000_000;
const builtIn: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);

export const validatePriorityClass: Validator = ({ object, errors }) => {
  const name = textAt(recordAt(object, 'metadata'), 'name');
  const value = numberAt(object, 'value') ?? 0;
  if (name.startsWith('system-')) {
    if (builtIn.get(name) === value) return;
    const detail =
      "priority class names with 'system-' prefix are reserved for system use only: only the " +
      'built-in classes with their own values may have it';
    errors.forbidden('metadata.name', detail);
    return;
  }
  if (value <= userValueMax) return;
  errors.forbidden(
    'value',
    `maximum allowed value of a user defined priority is ${String(userValueMax)}`,
  );
};
