// Classes of ingresses: their controller, and the object with their settings.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, recordIn, textAt } from '../../api/json-access.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  pathSegmentProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Validator } from '../validator.ts';

export const validateIngressClass: Validator = ({ object, errors }) => {
  const path = 'spec.parameters';
  const parameters = recordIn(object, 'spec', 'parameters');
  if (parameters === undefined) return;
  validateGroup(parameters, path, errors);
  for (const name of ['kind', 'name']) {
    const value = textAt(parameters, name);
    if (value !== '') errors.problems(`${path}.${name}`, value, pathSegmentProblems(value));
  }
  const scope = textAt(parameters, 'scope');
  const namespace = textAt(parameters, 'namespace');
  const where = `${path}.namespace`;
  if (scope === 'Cluster' && isSet(parameters, 'namespace')) {
    errors.forbidden(where, "`parameters.scope` is set to 'Cluster'");
  }
  if (scope !== 'Namespace') return;
  if (isSet(parameters, 'namespace')) {
    errors.problems(where, namespace, dns1123LabelProblems(namespace));
  } else errors.required(where, "`parameters.scope` is set to 'Namespace'");
};

/** The group of a reference, which is that of the core only where it is absent. */
export function validateGroup(reference: JsonObject, path: string, errors: FieldErrors): void {
  if (!isSet(reference, 'apiGroup')) return;
  const group = textAt(reference, 'apiGroup');
  errors.problems(`${path}.apiGroup`, group, dns1123SubdomainProblems(group));
}
