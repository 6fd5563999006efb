// Definitions of custom resources: names, conversion, approval, and what never changes.
import { immutableDetail } from '../../api/field-errors.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import {
  flagAt,
  isSet,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
  valueIn,
} from '../../api/json-access.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder, ValidatedWrite, Validator } from '../validator.ts';
import { validateClient, validateReviewVersions } from '../webhook-client.ts';
import { validateParts, validateVersions } from './definition-versions.ts';
import { nodesOf } from './schema-formats.ts';

export const validateDefinition: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const group = textAt(spec, 'group');
  const groupProblems = group === '' ? [] : dns1123SubdomainProblems(group);
  errors.problems('spec.group', group, groupProblems);
  if (group !== '' && groupProblems.length === 0 && !group.includes('.')) {
    errors.invalid('spec.group', group, 'should be a domain with at least one dot');
  }
  validatePreserving(spec, write);
  validateVersions(spec, write);
  validateNames(recordAt(spec, 'names') ?? {}, errors);
  validateParts(spec, write);
  validateConversion(spec, errors);
  validateApproval(write, group);
  if (write.old !== undefined) validateUpdate(write, spec);
  if (write.subresource === '') validateStoredVersions(object, spec, errors);
};

/** Unknown fields are kept by the schema, not by a word for all of them. */
function validatePreserving(spec: JsonObject, { old, errors, naming }: ValidatedWrite): void {
  if (!flagAt(spec, 'preserveUnknownFields')) return;
  const prefix = naming.schemaExtensionPrefix;
  const invalid = (detail: string): void => {
    errors.invalid('spec.preserveUnknownFields', true, detail);
  };
  if (!flagAt(recordAt(old, 'spec'), 'preserveUnknownFields')) {
    invalid(
      `cannot set to true, set ${prefix}preserve-unknown-fields to true in ` +
        'spec.versions[*].schema instead',
    );
  }
  const schemas = recordsAt(spec, 'versions').map((version) => recordAt(version, 'schema'));
  const hasDefault = schemas.some((schema) =>
    [...nodesOf(recordAt(schema, 'openAPIV3Schema') ?? {})].some((node) => isSet(node, 'default')),
  );
  if (hasDefault) invalid('must be false in order to use defaults in the schema');
}

function validateNames(names: JsonObject, errors: FieldErrors): void {
  const path = 'spec.names';
  for (const name of ['plural', 'singular', 'kind', 'listKind']) {
    if (textAt(names, name) === '') errors.required(`${path}.${name}`);
  }
  for (const name of ['kind', 'listKind']) {
    const text = textAt(names, name);
    const problems = text === '' ? [] : dns1035LabelProblems(text.toLowerCase());
    if (problems.length === 0) continue;
    const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    errors.invalid(`${path}.${name}`, text, detail);
  }
  const kind = textAt(names, 'kind');
  if (kind !== '' && kind === textAt(names, 'listKind')) {
    errors.invalid(`${path}.listKind`, kind, 'kind and listKind may not be the same');
  }
}

function validateConversion(spec: JsonObject, errors: FieldErrors): void {
  const conversion = recordAt(spec, 'conversion');
  const webhook = recordAt(conversion, 'webhook');
  const client = recordAt(webhook, 'clientConfig');
  const versions = textsAt(webhook, 'conversionReviewVersions');
  const clientPath = 'spec.conversion.webhookClientConfig';
  const versionsPath = 'spec.conversion.conversionReviewVersions';
  const strategy = textAt(conversion, 'strategy');
  if (flagAt(spec, 'preserveUnknownFields') && strategy !== 'None') {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    errors.invalid('spec.conversion.strategy', strategy, detail);
  }
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (client !== undefined) errors.forbidden(clientPath, detail);
    if (versions.length > 0) errors.forbidden(versionsPath, detail);
    return;
  }
  if (client === undefined) {
    errors.required(clientPath, 'required when strategy is set to Webhook');
  } else validateClient(client, clientPath, errors);
  validateReviewVersions(versions, versionsPath, errors);
}

/** Groups of the product's own domains need a word of who approved them. */
function validateApproval({ object, old, errors, naming }: ValidatedWrite, group: string): void {
  const own = [naming.resolve('{v}'), naming.metadataDomain];
  if (!own.some((domain) => group === domain || group.endsWith(`.${domain}`))) return;
  const key = naming.resolve('api-approved.{kubernetes}.io');
  const approvalOf = (of: Holder): string =>
    textAt(recordAt(recordAt(of, 'metadata'), 'annotations'), key);
  const value = approvalOf(object);
  if (old !== undefined && value === approvalOf(old)) return;
  const path = `metadata.annotations[${key}]`;
  const wanted = `protected groups must have approval annotation "${key}"`;
  const reading = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (value === '') errors.required(path, `${wanted}, ${reading}`);
  else if (!value.startsWith('unapproved') && !/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]+/.test(value)) {
    const detail = `${wanted} with either a URL or a reason starting with "unapproved", ${reading}`;
    errors.invalid(path, value, detail);
  }
}

/** Fields of the spec, and whether they may change until the definition is established. */
const fixedFields = [
  [['scope'], true],
  [['names', 'kind'], true],
  [['group'], false],
  [['names', 'plural'], false],
] as const;

function validateUpdate({ old, errors }: ValidatedWrite, spec: JsonObject): void {
  const isEstablished = recordsAt(recordAt(old, 'status'), 'conditions').some(
    (one) => textAt(one, 'type') === 'Established' && textAt(one, 'status') === 'True',
  );
  const before = recordAt(old, 'spec');
  for (const [path, onceEstablished] of fixedFields) {
    if (onceEstablished && !isEstablished) continue;
    const now = valueIn(spec, path) ?? '';
    if (now !== (valueIn(before, path) ?? '')) {
      errors.invalid(`spec.${path.join('.')}`, now, immutableDetail);
    }
  }
}

function validateStoredVersions(object: JsonObject, spec: JsonObject, errors: FieldErrors): void {
  const status = recordAt(object, 'status');
  const stored = textsAt(status, 'storedVersions');
  const path = 'status.storedVersions';
  if (stored.length === 0) {
    const given = valueAt(status, 'storedVersions') ?? null;
    errors.invalid(path, given, 'must have at least one stored version');
    return;
  }
  const versions = recordsAt(spec, 'versions');
  for (const version of versions) {
    const name = textAt(version, 'name');
    if (!flagAt(version, 'storage') || stored.includes(name)) continue;
    errors.invalid(path, version, `must have the storage version ${name}`);
  }
  const names = versions.map((version) => textAt(version, 'name'));
  for (const [at, version] of stored.entries()) {
    if (names.includes(version)) continue;
    const detail =
      `missing from spec.versions; ${version} was previously a storage version, and must remain ` +
      'in spec.versions until a storage migration ensures no data remains persisted in ' +
      `${version} and removes ${version} from status.storedVersions`;
    errors.invalid(`${path}[${String(at)}]`, version, detail);
  }
}
