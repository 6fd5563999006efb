// Priority classes: values and names that the product keeps for itself.
import { asText, flagAt, numberAt, recordAt, textAt, valueAt } from '../../api/json-access.ts';
import type { Holder, Validator } from '../validator.ts';
import { systemPriorityClasses } from './system-priority-classes.ts';

const userValueMax = 1_000_000_000;
const builtIn: ReadonlyMap<string, number> = new Map(
  systemPriorityClasses.map(({ name, value }) => [name, value]),
);

export const validatePriorityClass: Validator = ({ object, old, errors }) => {
  if (old !== undefined) {
    const isSame = (numberAt(object, 'value') ?? 0) === (numberAt(old, 'value') ?? 0);
    if (!isSame) errors.forbidden('value', 'may not be changed in an update.');
    return;
  }
  const name = textAt(recordAt(object, 'metadata'), 'name');
  const value = numberAt(object, 'value') ?? 0;
  if (name.startsWith('system-')) {
    const problem = builtInProblem(name, object);
    if (problem !== undefined) {
      const detail = "priority class names with 'system-' prefix are reserved for system use only";
      errors.forbidden('metadata.name', `${detail}. error: ${problem}`);
    }
  } else if (value > userValueMax) {
    const detail = `maximum allowed value of a user defined priority is ${String(userValueMax)}`;
    errors.forbidden('value', detail);
  }
  const policy = valueAt(object, 'preemptionPolicy');
  if (policy === '') errors.required('preemptionPolicy');
  else if (policy !== undefined && !policies.includes(asText(policy))) {
    errors.notSupported('preemptionPolicy', policy, policies);
  }
};

const policies = ['PreemptLowerPriority', 'Never'];

function builtInProblem(name: string, object: Holder): string | undefined {
  const value = builtIn.get(name);
  if (value === undefined) return `${name} is not a known system priority class`;
  if ((numberAt(object, 'value') ?? 0) !== value) {
    return `value of ${name} PriorityClass must be ${String(value)}`;
  }
  if (flagAt(object, 'globalDefault'))
    return `globalDefault of ${name} PriorityClass must be false`;
  return undefined;
}
