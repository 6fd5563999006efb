// What an access review must say: one thing that is to be done, who would do it, and nothing else.
import { FieldErrors } from '../../api/field-errors.ts';
import { isSet, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { FieldError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { validateRequirement } from '../../kinds/label-selectors.ts';

/** Kubernetes' failures in their order. */
export function validateAccessReview(kind: string, review: Readonly<ApiObject>): FieldError[] {
  const errors = new FieldErrors();
  const spec = recordAt(review, 'spec');
  const resource = recordAt(spec, 'resourceAttributes');
  const path = recordAt(spec, 'nonResourceAttributes');
  if (resource !== undefined && path !== undefined) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    errors.invalid('spec.nonResourceAttributes', shownPath(path), detail);
  }
  if (resource === undefined && path === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    errors.invalid('spec.resourceAttributes', null, detail);
  }
  if (kind !== 'SelfSubjectAccessReview') validateSubject(spec, errors);
  if (resource !== undefined) {
    const at = 'spec.resourceAttributes';
    validateSelector(resource, `${at}.fieldSelector`, errors, validateFieldRequirement);
    validateSelector(resource, `${at}.labelSelector`, errors, validateLabelRequirement);
  }
  const isLocal = kind === 'LocalSubjectAccessReview';
  validateMetadata(review, isLocal, errors);
  if (isLocal) validateNamespaced(review, errors);
  return errors.list;
}

function validateSubject(spec: JsonObject | undefined, errors: FieldErrors): void {
  const user = textAt(spec, 'user');
  if (user !== '' || textsAt(spec, 'groups').length > 0) return;
  errors.invalid('spec.user', user, 'at least one of user or group must be specified');
}

/** Who owns its fields is the server's to say. */
function validateMetadata(
  { metadata = {} }: Readonly<ApiObject>,
  isLocal: boolean,
  errors: FieldErrors,
): void {
  const others = Object.keys(metadata).filter(
    (name) =>
      isFilled(metadata, name) && name !== 'managedFields' && !(isLocal && name === 'namespace'),
  );
  if (others.length === 0) return;
  const detail = isLocal ? 'must be empty except for namespace' : 'must be empty';
  errors.invalid('metadata', metadata, detail);
}

/** Empty texts, lists and maps are as good as absent. */
function isFilled(metadata: Readonly<JsonObject>, name: string): boolean {
  const value = metadata[name];
  if (!isSet(metadata, name) || value === '' || value === 0) return false;
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0;
}

function validateNamespaced(review: Readonly<ApiObject>, errors: FieldErrors): void {
  const spec = recordAt(review, 'spec');
  const resource = recordAt(spec, 'resourceAttributes');
  const path = recordAt(spec, 'nonResourceAttributes');
  const namespace = textAt(resource, 'namespace');
  if (resource !== undefined && namespace !== (review.metadata?.namespace ?? '')) {
    const field = 'spec.resourceAttributes.namespace';
    errors.invalid(field, namespace, 'must match metadata.namespace');
  }
  if (path !== undefined) {
    const detail = 'disallowed on this kind of request';
    errors.invalid('spec.nonResourceAttributes', shownPath(path), detail);
  }
}

/** As Kubernetes shows it, whose clients know these texts. */
const shownPath = (attributes: JsonObject): JsonObject => ({
  Path: textAt(attributes, 'path'),
  Verb: textAt(attributes, 'verb'),
});

type ValidateRequirement = (requirement: JsonObject, path: string, errors: FieldErrors) => void;

function validateSelector(
  resource: JsonObject,
  path: string,
  errors: FieldErrors,
  validate: ValidateRequirement,
): void {
  const selector = recordAt(resource, path.slice(path.lastIndexOf('.') + 1));
  if (selector === undefined) return;
  const raw = textAt(selector, 'rawSelector');
  const requirements = recordsAt(selector, 'requirements');
  if (raw !== '' && requirements.length > 0) {
    const detail = 'may not specified at the same time as requirements';
    errors.invalid(`${path}.rawSelector`, raw, detail);
  }
  if (raw === '' && requirements.length === 0) {
    const detail = `when ${path} is specified, requirements or rawSelector is required`;
    errors.required(`${path}.requirements`, detail);
  }
  for (const [index, requirement] of requirements.entries()) {
    validate(requirement, `${path}.requirements[${String(index)}]`, errors);
  }
}

/** Newer clients may know more operators: what they say limits nothing. */
const validateLabelRequirement: ValidateRequirement = (requirement, path, errors) => {
  validateRequirement(requirement, path, errors, { takesUnknown: true });
};

const validateFieldRequirement: ValidateRequirement = (requirement, path, errors) => {
  const operator = textAt(requirement, 'operator');
  const { length } = textsAt(requirement, 'values');
  if (textAt(requirement, 'key') === '') errors.required(`${path}.key`, 'must be specified');
  if ((operator === 'In' || operator === 'NotIn') && length === 0) {
    const detail = "must be specified when `operator` is 'In' or 'NotIn'";
    errors.required(`${path}.values`, detail);
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && length > 0) {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    errors.forbidden(`${path}.values`, detail);
  }
};
