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
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject, ValueInfo } from '../../api/type-info.ts';
import { memberOf } from '../../api/value-info.ts';
import type { Steps } from '../../base/steps.ts';
import { FieldPathError, relativeFieldPath } from '../../cel/schema/field-path.ts';
import type { Holder } from '../validator.ts';
import { validateLabel } from './definition-names.ts';
import { schemaOf } from './definition-parts.ts';
import type { DefinitionSchemas } from './definition-schemas.ts';
import { shownVersions } from './internal-form.ts';
import { isShared, sharedPath } from './version-parts.ts';
import type { SharedPart } from './version-parts.ts';

/** Versions, each with what it does not have in common with all others. */
export function* validateVersions(
  spec: JsonObject,
  before: Holder,
  schemas: DefinitionSchemas,
  errors: FieldErrors,
): Steps<void> {
  const versions = recordsAt(spec, 'versions');
  const own = parts.filter((part) => !isShared(spec, part));
  for (const [at, version] of versions.entries()) {
    const path = `spec.versions[${String(at)}]`;
    validateLabel(textAt(version, 'name'), `${path}.name`, errors);
    validateWarning(version, path, errors);
    for (const part of own) {
      const place = { part, path: `${path}.${part}`, sharing: [version] };
      yield* validatePart(version, place, { before, schemas, errors });
    }
  }
  const names = versions.map((version) => textAt(version, 'name'));
  const prefix = schemas.naming.schemaExtensionPrefix;
  if (new Set(names).size < names.length) {
    const shown = shownVersions(spec, prefix);
    errors.invalid('spec.versions', shown, 'must contain unique version names');
  }
  if (versions.filter((version) => flagAt(version, 'storage')).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.invalid('spec.versions', shownVersions(spec, prefix), detail);
  }
  const [first = ''] = names;
  if (first !== '') validateLabel(first, 'spec.version', errors);
}

/** What all versions have in common, where it is reported. */
export function* validateParts(
  spec: JsonObject,
  before: Holder,
  schemas: DefinitionSchemas,
  errors: FieldErrors,
): Steps<void> {
  const sharing = recordsAt(spec, 'versions');
  const [version] = sharing;
  if (version === undefined) return;
  for (const part of parts) {
    if (!isShared(spec, part)) continue;
    const place = { part, path: sharedPath(part), sharing };
    yield* validatePart(version, place, { before, schemas, errors });
  }
}

const parts: readonly SharedPart[] = [
  ...(['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const),
];

interface PartPlace {
  readonly part: SharedPart;
  readonly path: string;
  /** The versions that have this very part. */
  readonly sharing: readonly JsonObject[];
}

interface PartContext {
  readonly before: Holder;
  readonly schemas: DefinitionSchemas;
  readonly errors: FieldErrors;
}

function* validatePart(
  version: JsonObject,
  { part, path, sharing }: PartPlace,
  { before, schemas, errors }: PartContext,
): Steps<void> {
  const schema = schemaOf(version);
  switch (part) {
    case 'schema': {
      if (schema === undefined) return;
      const hasStatus = sharing.some((one) => isSet(recordAt(one, 'subresources'), 'status'));
      const of = { hasStatus, version: textAt(version, 'name') };
      errors.add(yield* schemas.errors(schema, `${path}.openAPIV3Schema`, of));
      return;
    }
    case 'subresources': {
      const scale = recordIn(version, 'subresources', 'scale');
      if (scale !== undefined) validateScale(scale, `${path}.scale`, errors);
      return;
    }
    case 'additionalPrinterColumns': {
      for (const [at, column] of recordsAt(version, part).entries()) {
        validateColumn(column, `${path}[${String(at)}]`, errors);
      }
      return;
    }
    case 'selectableFields': {
      if (recordsAt(version, part).length === 0) return;
      if (schema === undefined) {
        errors.invalid(path, '', 'may only be set when a schema is');
        return;
      }
      const value = yield* schemas.value(schema);
      const mayBeMany = hasStoredMany(version, before);
      validateSelectableFields(version, { path, schema, value, mayBeMany }, errors);
      return;
    }
  }
}

const warningBytesMax = 256;

function validateWarning(version: JsonObject, path: string, errors: FieldErrors): void {
  if (!isSet(version, 'deprecationWarning')) return;
  const warning = textAt(version, 'deprecationWarning');
  const invalid = (detail: string): void => {
    errors.invalid(`${path}.deprecationWarning`, warning, detail);
  };
  if (!flagAt(version, 'deprecated')) {
    invalid('can only be set for deprecated versions');
    return;
  }
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

interface SelectablePlace {
  readonly path: string;
  readonly schema: JsonObject;
  /** What the schema describes. */
  readonly value: ValueInfo;
  readonly mayBeMany: boolean;
}

/** More than there may be is kept where it is stored just so. */
function hasStoredMany(version: JsonObject, before: Holder): boolean {
  const name = textAt(version, 'name');
  const old = recordsAt(before, 'versions').find((one) => textAt(one, 'name') === name);
  const fields = valueAt(old, 'selectableFields');
  return (
    recordsAt(old, 'selectableFields').length > selectableMax &&
    sameJson(fields, valueAt(version, 'selectableFields'))
  );
}

function validateSelectableFields(
  version: JsonObject,
  { path, schema, value, mayBeMany }: SelectablePlace,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [at, field] of recordsAt(version, 'selectableFields').entries()) {
    const jsonPath = textAt(field, 'jsonPath');
    const where = `${path}[${String(at)}].jsonPath`;
    if (jsonPath === '') {
      errors.required(where);
      continue;
    }
    const found = pathOf(jsonPath, value, schema);
    if ('problem' in found) {
      errors.invalid(where, jsonPath, `is an invalid path: ${found.problem}`);
      continue;
    }
    if (found.names[0] === 'metadata') {
      errors.invalid(where, jsonPath, 'must not point to fields in metadata');
    }
    if (!selectableTypes.includes(typeAt(value, found.names))) {
      errors.invalid(where, jsonPath, selectableTypesDetail);
    }
    if (seen.has(found.path)) errors.duplicate(where, jsonPath);
    seen.add(found.path);
  }
  if (seen.size > selectableMax && !mayBeMany) errors.tooMany(path, seen.size, selectableMax);
}

const selectableTypesDetail =
  'must point to a field of type string, boolean or integer. Enum string fields and strings ' +
  'with formats are allowed.';

function pathOf(
  jsonPath: string,
  root: ValueInfo,
  schema: Holder,
): { readonly path: string; readonly names: readonly string[] } | { readonly problem: string } {
  if (jsonPath.includes('[')) return { problem: 'array notation is not allowed' };
  const names = jsonPath.split('.').slice(1);
  const isListed = recordIn(schema, 'properties', 'metadata') !== undefined;
  if (names[0] === 'metadata' && !isListed) return { problem: 'does not refer to a valid field' };
  try {
    return { path: relativeFieldPath(jsonPath, root), names };
  } catch (error) {
    if (error instanceof FieldPathError) return { problem: error.message };
    throw error;
  }
}

function typeAt(root: ValueInfo, names: readonly string[]): string {
  let value: ValueInfo | undefined = root;
  for (const name of names) value = value && memberOf(value, name);
  return value?.schema?.type ?? '';
}
