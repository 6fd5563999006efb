// Versions of a definition: their names, columns, subresources, selectable fields and schemas.
import type { FieldErrors } from '../../api/field-errors.ts';
import {
  flagAt,
  isSet,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { loadResourceSchema } from '../../api/load-schema.ts';
import { dns1035LabelProblems } from '../../api/name-rules.ts';
import type { JsonObject, ValueInfo } from '../../api/type-info.ts';
import { memberOf, valueOf } from '../../api/value-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { FieldPathError, relativeFieldPath } from '../../cel/schema/field-path.ts';
import type { Holder, ValidatedWrite } from '../validator.ts';
import { validateSchemas } from './definition-schemas.ts';
import { schemaSource } from './schema-source.ts';
import { partsOf } from './version-parts.ts';

export function validateVersions(spec: JsonObject, write: ValidatedWrite): void {
  const { errors } = write;
  const versions = recordsAt(spec, 'versions');
  const names = versions.map((version) => textAt(version, 'name'));
  for (const [at, version] of versions.entries()) {
    const path = `spec.versions[${String(at)}]`;
    const name = textAt(version, 'name');
    errors.problems(`${path}.name`, name, dns1035LabelProblems(name));
    if (!isSet(recordAt(version, 'schema'), 'openAPIV3Schema')) {
      errors.required(`${path}.schema.openAPIV3Schema`);
    }
    validateWarning(version, path, errors);
  }
  const shown = valueAt(spec, 'versions') ?? null;
  if (new Set(names).size < names.length) {
    errors.invalid('spec.versions', shown, 'must contain unique version names');
  }
  if (versions.filter((version) => flagAt(version, 'storage')).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.invalid('spec.versions', shown, detail);
  }
  const [first = ''] = names;
  if (first !== '') errors.problems('spec.version', first, dns1035LabelProblems(first));
}

/** Parts of versions, each where it is reported. */
export function validateParts(spec: JsonObject, write: ValidatedWrite): void {
  const { errors, naming } = write;
  validateSchemas(spec, write);
  for (const { version, path } of partsOf(spec, 'subresources')) {
    const scale = recordIn(version, 'subresources', 'scale');
    if (scale !== undefined) validateScale(scale, `${path}.scale`, errors);
  }
  for (const { version, path } of partsOf(spec, 'additionalPrinterColumns')) {
    for (const [at, column] of recordsAt(version, 'additionalPrinterColumns').entries()) {
      validateColumn(column, `${path}[${String(at)}]`, errors);
    }
  }
  for (const { version, path } of partsOf(spec, 'selectableFields')) {
    validateSelectableFields(version, path, errors, naming);
  }
}

const warningBytesMax = 256;

function validateWarning(version: JsonObject, path: string, errors: FieldErrors): void {
  if (!isSet(version, 'deprecationWarning')) return;
  const warning = textAt(version, 'deprecationWarning');
  const invalid = (detail: string): void => {
    errors.invalid(`${path}.deprecationWarning`, warning, detail);
  };
  if (!flagAt(version, 'deprecated')) invalid('can only be set for deprecated versions');
  if (Buffer.byteLength(warning) > warningBytesMax) {
    invalid(`must be <= ${String(warningBytesMax)} characters long`);
  }
  if (warning === '') invalid('must not be an empty string');
  const at = [...warning].findIndex((one) => !/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(one));
  if (at < 0) return;
  const bytes = Buffer.byteLength([...warning].slice(0, at).join(''));
  invalid(
    'must only contain printable UTF-8 characters; non-printable character found at index ' +
      String(bytes),
  );
}

const simplePathDetail = 'must be a simple json path starting with .';
const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = [
  ...['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'],
];

function validateColumn(column: JsonObject, path: string, errors: FieldErrors): void {
  if (textAt(column, 'name') === '') errors.required(`${path}.name`);
  const type = textAt(column, 'type');
  const typeDetail = `must be one of ${columnTypes.join(',')}`;
  if (type === '') errors.required(`${path}.type`, typeDetail);
  else if (!columnTypes.includes(type)) errors.invalid(`${path}.type`, type, typeDetail);
  const format = textAt(column, 'format');
  if (format !== '' && !columnFormats.includes(format)) {
    errors.invalid(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`);
  }
  const jsonPath = textAt(column, 'jsonPath');
  if (jsonPath === '') errors.required(`${path}.JSONPath`);
  else if (!jsonPath.startsWith('.'))
    errors.invalid(`${path}.JSONPath`, jsonPath, simplePathDetail);
}

const scalePaths = [
  ['specReplicasPath', ['.spec.'], 'under .spec'],
  ['statusReplicasPath', ['.status.'], 'under .status'],
  ['labelSelectorPath', ['.spec.', '.status.'], 'under either .spec or .status'],
] as const;

function validateScale(scale: JsonObject, path: string, errors: FieldErrors): void {
  for (const [name, roots, place] of scalePaths) {
    const text = textAt(scale, name);
    const where = `${path}.${name}`;
    if (text === '') {
      if (name !== 'labelSelectorPath') errors.required(where);
    } else if (!text.startsWith('.')) errors.invalid(where, text, simplePathDetail);
    else if (!roots.some((root) => text.startsWith(root))) {
      errors.invalid(where, text, `should be a json path ${place}`);
    }
  }
}

const selectableMax = 8;
const selectableTypes = ['string', 'boolean', 'integer'];

function validateSelectableFields(
  version: JsonObject,
  path: string,
  errors: FieldErrors,
  naming: NamingProfile,
): void {
  const fields = recordsAt(version, 'selectableFields');
  const schema = recordIn(version, 'schema', 'openAPIV3Schema');
  if (fields.length === 0 || schema === undefined) return;
  const root = valueOf(loadResourceSchema(schema, schemaSource(naming)));
  const seen = new Set<string>();
  for (const [at, field] of fields.entries()) {
    const jsonPath = textAt(field, 'jsonPath');
    const where = `${path}[${String(at)}].jsonPath`;
    if (jsonPath === '') errors.required(where);
    else {
      const problem = selectableProblem(jsonPath, root, schema);
      if (problem !== undefined) errors.invalid(where, jsonPath, problem);
      else if (seen.has(jsonPath)) errors.duplicate(where, jsonPath);
    }
    seen.add(jsonPath);
  }
  if (fields.length > selectableMax) errors.tooMany(path, fields.length, selectableMax);
}

function selectableProblem(jsonPath: string, root: ValueInfo, schema: Holder): string | undefined {
  if (jsonPath.includes('[')) return 'is an invalid path: array notation is not allowed';
  const names = jsonPath.split('.').slice(1);
  const isListed = recordIn(schema, 'properties', 'metadata') !== undefined;
  if (names[0] === 'metadata' && !isListed) {
    return 'is an invalid path: does not refer to a valid field';
  }
  try {
    relativeFieldPath(jsonPath, root);
  } catch (error) {
    if (error instanceof FieldPathError) return `is an invalid path: ${error.message}`;
    throw error;
  }
  if (names[0] === 'metadata') return 'must not point to fields in metadata';
  let value: ValueInfo | undefined = root;
  for (const name of names) value = value && memberOf(value, name);
  if (selectableTypes.includes(value?.schema?.type ?? '')) return undefined;
  return (
    'must point to a field of type string, boolean or integer. Enum string fields and strings ' +
    'with formats are allowed.'
  );
}
