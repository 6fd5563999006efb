// The spec of a claim for a volume: of PersistentVolumeClaims and of templates in pods.
import { isSet, recordAt, textAt, textsAt, valueAt } from '../../api/json-access.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { validateLabels } from '../validator.ts';
import type { Holder, Scope } from '../validator.ts';
import { nanoOf } from './resource-lists.ts';

/** What the stored claim has. */
interface ClaimOptions {
  /** A group of a source: groups are free. */
  readonly anyGroup?: boolean;
  /** Its selector has values that no label can have. */
  readonly takesBadValues?: boolean;
}

export function validateClaimSpec(
  spec: JsonObject,
  path: string,
  scope: Scope,
  { anyGroup = false, takesBadValues = false }: ClaimOptions = {},
): void {
  const { errors } = scope;
  if (textsAt(spec, 'accessModes').length === 0) {
    errors.required(`${path}.accessModes`, 'at least 1 access mode is required');
  }
  const selector = recordAt(spec, 'selector');
  validateLabelSelector(selector, `${path}.selector`, errors, { takesBadValues });
  validateAccessModes(spec, path, errors);
  const requests = recordAt(recordAt(spec, 'resources'), 'requests');
  const storage = valueAt(requests, 'storage');
  const where = `${path}.resources[storage]`;
  if (storage === undefined) errors.required(where);
  else if (nanoOf(storage) <= 0n) errors.invalid(where, storage, 'must be greater than zero');
  validateClassName(spec, 'storageClassName', path, errors);
  validateVolumeMode(spec, path, errors);
  validateSources(spec, path, anyGroup, scope);
  validateClassName(spec, 'volumeAttributesClassName', path, errors);
}

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** Reported at the list, without an index. */
export function validateAccessModes(spec: Holder, path: string, errors: FieldErrors): void {
  const modes = textsAt(spec, 'accessModes');
  const at = `${path}.accessModes`;
  for (const mode of modes) {
    if (!accessModes.includes(mode)) errors.notSupported(at, mode, accessModes);
  }
  const isMixed = modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode));
  if (!isMixed || !modes.includes('ReadWriteOncePod')) return;
  errors.forbidden(at, 'may not use ReadWriteOncePod with other access modes');
}

/** An empty name is none. */
export function validateClassName(
  spec: JsonObject,
  name: string,
  path: string,
  errors: FieldErrors,
): void {
  const text = textAt(spec, name);
  if (text !== '') errors.problems(`${path}.${name}`, text, dns1123SubdomainProblems(text));
}

export function validateVolumeMode(spec: JsonObject, path: string, errors: FieldErrors): void {
  const mode = valueAt(spec, 'volumeMode');
  if (mode === undefined || mode === 'Block' || mode === 'Filesystem') return;
  errors.notSupported(`${path}.volumeMode`, mode, ['Block', 'Filesystem']);
}

function validateSources(
  spec: JsonObject,
  path: string,
  anyGroup: boolean,
  { errors }: Scope,
): void {
  const source = recordAt(spec, 'dataSource');
  const reference = recordAt(spec, 'dataSourceRef');
  if (source !== undefined) validateSource(source, `${path}.dataSource`, anyGroup, errors);
  if (reference === undefined) return;
  validateSource(reference, `${path}.dataSourceRef`, anyGroup, errors);
  const namespace = textAt(reference, 'namespace');
  if (namespace !== '') {
    const problems = dns1123LabelProblems(namespace);
    errors.problems(`${path}.dataSourceRef.namespace`, namespace, problems);
  }
  if (source === undefined) return;
  if (namespace !== '') {
    const detail = 'may not be specified when dataSourceRef.namespace is specified';
    errors.invalid(path, `${path}.dataSource`, detail);
  } else if (
    ['apiGroup', 'kind', 'name'].some((name) => valueAt(source, name) !== valueAt(reference, name))
  ) {
    errors.invalid(path, `${path}.dataSource`, 'must match dataSourceRef');
  }
}

function validateSource(
  source: JsonObject,
  path: string,
  anyGroup: boolean,
  errors: FieldErrors,
): void {
  for (const member of ['name', 'kind']) {
    if (textAt(source, member) === '') errors.required(`${path}.${member}`);
  }
  const [group, kind] = [textAt(source, 'apiGroup'), textAt(source, 'kind')];
  if (group !== '') {
    if (anyGroup) return;
    errors.problems(`${path}.apiGroup`, group, dns1123SubdomainProblems(group));
  } else if (kind !== 'PersistentVolumeClaim') {
    const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.invalid(path, kind, detail);
  }
}

/** Of the metadata of a template for claims only these exist. */
const templateMeta: ReadonlySet<string> = new Set(['annotations', 'labels']);

export function validateClaimTemplate(template: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  const meta = recordAt(template, 'metadata');
  for (const key of Object.keys(recordAt(meta, 'annotations') ?? {})) {
    errors.problems(`${path}.metadata.annotations`, key, qualifiedNameProblems(key.toLowerCase()));
  }
  validateLabels(recordAt(meta, 'labels'), `${path}.metadata.labels`, errors);
  for (const name of Object.keys(meta ?? {})) {
    if (templateMeta.has(name) || !isGiven(meta, name)) continue;
    errors.forbidden(`${path}.metadata.${name === 'uid' ? 'uID' : name}`, 'cannot be set');
  }
  validateClaimSpec(recordAt(template, 'spec') ?? {}, `${path}.spec`, scope);
}

/** An empty list counts, an empty text or 0 does not. */
const isGiven = (meta: Holder, name: string): boolean => {
  const value = valueAt(meta, name);
  return isSet(meta, name) && value !== '' && value !== 0;
};
