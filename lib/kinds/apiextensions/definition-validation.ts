// Definitions of custom resources, without their schemas: names, versions, conversion, columns.
import { flagAt, isSet, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { validateClient } from '../webhook-client.ts';

export const validateDefinition: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const group = textAt(spec, 'group');
  if (group !== '') {
    errors.problems('spec.group', group, dns1123SubdomainProblems(group));
    if (!group.includes('.')) {
      errors.invalid('spec.group', group, 'should be a domain with at least one dot');
    }
  }
  validateNames(recordAt(spec, 'names') ?? {}, write);
  validateVersions(spec, write);
  validateConversion(spec, write);
  if (flagAt(spec, 'preserveUnknownFields')) {
    const detail =
      'must be false in order to use defaults in the schema: set the schema to keep unknown fields';
    errors.invalid('spec.preserveUnknownFields', true, detail);
  }
  validateApproval(write, group);
  validateUpdate(write, spec);
};

function validateNames(names: JsonObject, { errors }: ValidatedWrite): void {
  const path = 'spec.names';
  for (const name of ['plural', 'kind']) {
    if (textAt(names, name) === '') errors.required(`${path}.${name}`);
  }
  for (const name of ['kind', 'listKind']) {
    const text = textAt(names, name);
    if (text === '') continue;
    const problems = dns1035LabelProblems(text.toLowerCase());
    const detail = `may have mixed case, but should otherwise match: ${problems.join(', ')}`;
    if (problems.length > 0) errors.invalid(`${path}.${name}`, text, detail);
  }
  const kind = textAt(names, 'kind');
  if (kind !== '' && kind === textAt(names, 'listKind')) {
    errors.invalid(`${path}.listKind`, kind, 'kind and listKind may not be the same');
  }
}

function validateVersions(spec: JsonObject, write: ValidatedWrite): void {
  const { errors } = write;
  const versions = recordsAt(spec, 'versions');
  const names = new Set<string>();
  for (const [at, version] of versions.entries()) {
    const path = `spec.versions[${String(at)}]`;
    const name = textAt(version, 'name');
    if (name !== '' && names.has(name)) {
      errors.invalid('spec.versions', name, 'must contain unique version names');
    }
    names.add(name);
    if (!isSet(recordAt(version, 'schema'), 'openAPIV3Schema')) {
      errors.required(`${path}.schema.openAPIV3Schema`, 'schemas are required');
    }
    validateWarning(version, path, write);
    validateColumns(version, path, write);
    validateScale(version, path, write);
    for (const [index, field] of recordsAt(version, 'selectableFields').entries()) {
      const jsonPath = textAt(field, 'jsonPath');
      if (jsonPath === '') continue;
      const where = `${path}.selectableFields[${String(index)}].jsonPath`;
      if (!isSimplePath(jsonPath)) {
        errors.invalid(
          where,
          jsonPath,
          'is an invalid path: must be a simple json path, such as .spec.color',
        );
      } else if (/^\.metadata(\.|$)/.test(jsonPath)) {
        errors.invalid(where, jsonPath, 'must not point to fields in metadata');
      }
    }
  }
  if (versions.length === 0) return;
  const stored = versions.filter((version) => flagAt(version, 'storage'));
  if (stored.length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.invalid('spec.versions', [...names], detail);
  }
}

const warningLengthMax = 256;

function validateWarning(version: JsonObject, path: string, { errors }: ValidatedWrite): void {
  if (!isSet(version, 'deprecationWarning')) return;
  const warning = textAt(version, 'deprecationWarning');
  const at = `${path}.deprecationWarning`;
  if (!flagAt(version, 'deprecated')) {
    errors.invalid(at, warning, 'can only be set for deprecated versions');
  }
  if (Buffer.byteLength(warning) > warningLengthMax) errors.tooLong(at, warningLengthMax);
  if (warning === '') errors.invalid(at, warning, 'must not be empty');
  else if (/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(warning)) {
    errors.invalid(
      at,
      warning,
      'must only contain printable UTF-8 characters; non-printable characters are not allowed',
    );
  }
}

/** Names separated by dots: `.spec.replicas`. */
const isSimplePath = (text: string): boolean => /^(\.[A-Za-z_][A-Za-z0-9_-]*)+$/.test(text);

function validateColumns(version: JsonObject, path: string, { errors }: ValidatedWrite): void {
  for (const [at, column] of recordsAt(version, 'additionalPrinterColumns').entries()) {
    const jsonPath = textAt(column, 'jsonPath');
    if (jsonPath === '' || jsonPath.startsWith('.') || jsonPath.startsWith('{')) continue;
    const where = `${path}.additionalPrinterColumns[${String(at)}].jsonPath`;
    errors.invalid(where, jsonPath, 'must be a json path starting with a dot');
  }
}

function validateScale(version: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const scale = recordAt(recordAt(version, 'subresources'), 'scale');
  if (scale === undefined) return;
  const where = `${path}.subresources.scale`;
  for (const [name, roots] of [
    ['specReplicasPath', ['.spec.']],
    ['statusReplicasPath', ['.status.']],
    ['labelSelectorPath', ['.spec.', '.status.']],
  ] as const) {
    const text = textAt(scale, name);
    if (text === '') continue;
    if (!isSimplePath(text)) {
      errors.invalid(`${where}.${name}`, text, 'should be a simple json path');
    } else if (!roots.some((root) => text.startsWith(root))) {
      errors.invalid(`${where}.${name}`, text, `should be a json path under ${roots.join(' or ')}`);
    }
  }
}

function validateConversion(spec: JsonObject, write: ValidatedWrite): void {
  const { errors } = write;
  const conversion = recordAt(spec, 'conversion');
  const webhook = recordAt(conversion, 'webhook');
  const path = 'spec.conversion.webhook';
  if (textAt(conversion, 'strategy') !== 'Webhook') {
    if (webhook === undefined) return;
    errors.forbidden(path, 'should not be set when strategy is not set to Webhook');
    return;
  }
  if (webhook === undefined) {
    errors.required(path, 'required when strategy is set to Webhook');
    return;
  }
  const client = recordAt(webhook, 'clientConfig');
  if (client === undefined)
    errors.required(`${path}.clientConfig`, 'required when strategy is set to Webhook');
  else validateClient(client, `${path}.clientConfig`, errors);
  const versions = textsAt(webhook, 'conversionReviewVersions');
  if (versions.length > 0 && !versions.some((one) => one === 'v1' || one === 'v1beta1')) {
    const detail = 'must include at least one of v1, v1beta1';
    errors.invalid(`${path}.conversionReviewVersions`, versions, detail);
  }
}

/** Groups of the product's own domains need a word of who approved them. */
function validateApproval({ object, errors, naming }: ValidatedWrite, group: string): void {
  const own = [naming.resolve('{v}'), naming.metadataDomain];
  if (!own.some((domain) => group === domain || group.endsWith(`.${domain}`))) return;
  const key = naming.resolve('api-approved.{kubernetes}.io');
  const value = textAt(recordAt(recordAt(object, 'metadata'), 'annotations'), key);
  const path = `metadata.annotations[${key}]`;
  if (value === '') {
    errors.required(path, 'protected groups must have approval annotation');
  } else if (!value.startsWith('unapproved') && !/^https?:\/\/[^/]+\/./.test(value)) {
    errors.invalid(path, value, 'must be a link to the approval, or start with "unapproved, "');
  }
}

const fixedOnceEstablished = [
  ['scope', 'spec.scope'],
  ['group', 'spec.group'],
] as const;

function validateUpdate({ object, old, errors }: ValidatedWrite, spec: JsonObject): void {
  if (old === undefined) return;
  const before = recordAt(old, 'spec') ?? {};
  const isEstablished = recordsAt(recordAt(old, 'status'), 'conditions').some(
    (one) => textAt(one, 'type') === 'Established' && textAt(one, 'status') === 'True',
  );
  if (isEstablished) {
    for (const [name, path] of fixedOnceEstablished) {
      if (textAt(spec, name) === textAt(before, name)) continue;
      errors.invalid(path, textAt(spec, name), 'field is immutable');
    }
    for (const name of ['kind', 'plural']) {
      const now = textAt(recordAt(spec, 'names'), name);
      if (now === textAt(recordAt(before, 'names'), name)) continue;
      errors.invalid(`spec.names.${name}`, now, 'field is immutable');
    }
  }
  validateStoredVersions(object, spec, errors);
}

function validateStoredVersions(
  object: JsonObject,
  spec: JsonObject,
  errors: ValidatedWrite['errors'],
): void {
  const stored = textsAt(recordAt(object, 'status'), 'storedVersions');
  const path = 'status.storedVersions';
  if (stored.length === 0) {
    if (isSet(object, 'status'))
      errors.invalid(path, stored, 'must have at least one stored version');
    return;
  }
  const versions = recordsAt(spec, 'versions');
  const names = versions.map((version) => textAt(version, 'name'));
  const storage = versions.find((version) => flagAt(version, 'storage'));
  const name = textAt(storage, 'name');
  if (name !== '' && !stored.includes(name)) {
    errors.invalid(path, stored, `must have the storage version ${name}`);
  }
  for (const [at, version] of stored.entries()) {
    if (names.includes(version)) continue;
    errors.invalid(
      `${path}[${String(at)}]`,
      version,
      'missing from spec.versions; it was once a storage ' +
        'version, and objects may still be stored in it',
    );
  }
}
