// Definitions of custom resources, in the order in which clients know the failures: what is asked
// for, what was given, what never changes. Large definitions take as many steps as they have nodes.
import type { FieldErrors } from '../../api/field-errors.ts';
import { immutableDetail } from '../../api/field-errors.ts';
import { flagAt, recordAt, recordsAt, textAt, valueIn } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Steps } from '../../base/steps.ts';
import type { Holder, ValidatedWrite } from '../validator.ts';
import { approvalOf, isProtectedGroup } from './approval.ts';
import { isEstablished } from './conditions.ts';
import { validateConversion } from './definition-conversion.ts';
import { requireNames, validateNames } from './definition-names.ts';
import { acceptedNamesOf, schemaOf, storedVersionsOf } from './definition-parts.ts';
import { DefinitionSchemas } from './definition-schemas.ts';
import { validateParts, validateVersions } from './definition-versions.ts';

/** What is wrong goes to the write's errors. The result: texts that a valid write is told. */
export function* validateDefinition(write: ValidatedWrite): Steps<readonly string[]> {
  const { object, old, errors, naming, subresource } = write;
  const accepted = acceptedNamesOf(object);
  if (subresource === 'status') {
    validateNames(accepted, 'status.acceptedNames', errors);
    return [];
  }
  const spec = recordAt(object, 'spec') ?? {};
  const before = recordAt(old, 'spec');
  const schemas = new DefinitionSchemas({ naming, spec, before });
  // What is stored just so was accepted as it is.
  const isStored = before !== undefined && sameJson(spec, before);
  if (!isStored) yield* validateSpec(spec, schemas, write);
  validateNames(accepted, 'status.acceptedNames', errors);
  validateStoredVersions(object, spec, errors);
  validateApproval(write);
  if (isStored || errors.list.length > 0) return [];
  const formats = yield* schemas.newFormats();
  return formats.map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function* validateSpec(
  spec: JsonObject,
  schemas: DefinitionSchemas,
  { old, errors, naming }: ValidatedWrite,
): Steps<void> {
  const before = recordAt(old, 'spec');
  validateGroup(textAt(spec, 'group'), errors);
  const scope = textAt(spec, 'scope');
  if (scope === '') errors.required('spec.scope');
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    errors.notSupported('spec.scope', scope, ['Cluster', 'Namespaced']);
  }
  requireSchemas(spec, before, errors);
  const preserves = flagAt(spec, 'preserveUnknownFields');
  if (preserves && (yield* schemas.some(({ hasDefaults }) => hasDefaults))) {
    const detail = 'must be false in order to use defaults in the schema';
    errors.invalid('spec.preserveUnknownFields', true, detail);
  }
  yield* validateVersions(spec, before, schemas, errors);
  const names = recordAt(spec, 'names');
  requireNames(names, 'spec.names', errors);
  validateNames(names, 'spec.names', errors);
  yield* validateParts(spec, before, schemas, errors);
  validateConversion(spec, old, errors);
  if (old !== undefined) validateFixed(spec, old, errors);
  if (preserves && !flagAt(before, 'preserveUnknownFields')) {
    const detail =
      `cannot set to true, set ${naming.schemaExtensionPrefix}preserve-unknown-fields to true in ` +
      'spec.versions[*].schema instead';
    errors.invalid('spec.preserveUnknownFields', true, detail);
  }
}

function validateGroup(group: string, errors: FieldErrors): void {
  const problems = group === '' ? [] : dns1123SubdomainProblems(group);
  if (group === '') errors.required('spec.group');
  else if (problems.length > 0) errors.invalid('spec.group', group, problems.join(','));
  else if (!group.includes('.')) {
    errors.invalid('spec.group', group, 'should be a domain with at least one dot');
  }
}

const hasSchema = (version: JsonObject): boolean => schemaOf(version) !== undefined;

/** In all versions; in those that are served, where some stored one has none. */
function requireSchemas(spec: JsonObject, before: Holder, errors: FieldErrors): void {
  const areRequired = recordsAt(before, 'versions').every(hasSchema);
  if (!areRequired && flagAt(spec, 'preserveUnknownFields')) return;
  for (const [at, version] of recordsAt(spec, 'versions').entries()) {
    if (hasSchema(version)) continue;
    const path = `spec.versions[${String(at)}].schema.openAPIV3Schema`;
    if (areRequired) errors.required(path);
    else if (flagAt(version, 'served')) {
      errors.required(path, 'because otherwise all fields are pruned');
    }
  }
}

/** Fields of the spec, and whether they may change until the definition is established. */
const fixedFields = [
  [['scope'], true],
  [['names', 'kind'], true],
  [['group'], false],
  [['names', 'plural'], false],
] as const;

function validateFixed(spec: JsonObject, old: JsonObject, errors: FieldErrors): void {
  const before = recordAt(old, 'spec');
  for (const [path, onceEstablished] of fixedFields) {
    if (onceEstablished && !isEstablished(old)) continue;
    const now = valueIn(spec, path) ?? '';
    if (now !== (valueIn(before, path) ?? '')) {
      errors.invalid(`spec.${path.join('.')}`, now, immutableDetail);
    }
  }
}

function validateStoredVersions(object: Holder, spec: JsonObject, errors: FieldErrors): void {
  const stored = storedVersionsOf(object);
  const path = 'status.storedVersions';
  if (stored.length === 0) {
    errors.invalid(path, null, 'must have at least one stored version');
    return;
  }
  const left = new Set(stored);
  for (const version of recordsAt(spec, 'versions')) {
    const name = textAt(version, 'name');
    if (left.delete(name) || !flagAt(version, 'storage')) continue;
    errors.invalid(path, stored, `must have the storage version ${name}`);
  }
  for (const version of left) {
    const at = stored.lastIndexOf(version);
    const detail =
      `missing from spec.versions; ${version} was previously a storage version, and must remain ` +
      'in spec.versions until a storage migration ensures no data remains persisted in ' +
      `${version} and removes ${version} from status.storedVersions`;
    errors.invalid(`${path}[${String(at)}]`, version, detail);
  }
}

/** Groups of the product's own domains need a word of who approved them. */
function validateApproval({ object, old, errors, naming }: ValidatedWrite): void {
  if (!isProtectedGroup(textAt(recordAt(object, 'spec'), 'group'), naming)) return;
  const { state, key, value, problem } = approvalOf(object, naming);
  if (old !== undefined && approvalOf(old, naming).state === state) return;
  const path = `metadata.annotations[${key}]`;
  if (state === 'missing') errors.required(path, problem);
  else if (state === 'invalid') errors.invalid(path, value, problem);
}
