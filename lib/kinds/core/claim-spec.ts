// The spec of a claim for a volume: of PersistentVolumeClaims and of templates in pods.
import { isSet, listAt, recordAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { Scope } from '../validator.ts';
import { nanoOf } from './resource-lists.ts';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

export function validateClaimSpec(spec: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  validateAccessModes(spec, path, scope);
  validateLabelSelector(recordAt(spec, 'selector'), `${path}.selector`, errors);
  const requests = recordAt(recordAt(spec, 'resources'), 'requests');
  const storage = requests?.['storage'];
  const where = `${path}.resources[storage]`;
  if (storage === undefined) errors.required(where);
  else if (nanoOf(storage) <= 0n) errors.invalid(where, storage, 'must be greater than zero');
  for (const name of ['storageClassName', 'volumeAttributesClassName']) {
    const text = textAt(spec, name);
    if (text !== '') errors.problems(`${path}.${name}`, text, dns1123SubdomainProblems(text));
  }
  const mode = textAt(spec, 'volumeMode');
  if (mode !== '' && mode !== 'Block' && mode !== 'Filesystem') {
    errors.notSupported(`${path}.volumeMode`, mode, ['Block', 'Filesystem']);
  }
  validateSources(spec, path, scope);
}

export function validateAccessModes(spec: JsonObject, path: string, { errors }: Scope): void {
  const modes = textsAt(spec, 'accessModes');
  if (listAt(spec, 'accessModes').length === 0) {
    errors.required(`${path}.accessModes`, 'at least 1 access mode is required');
  }
  for (const [at, mode] of modes.entries()) {
    if (accessModes.includes(mode)) continue;
    errors.notSupported(`${path}.accessModes[${String(at)}]`, mode, accessModes);
  }
  if (modes.includes('ReadWriteOncePod') && modes.length > 1) {
    const detail = 'may not use ReadWriteOncePod with other access modes';
    errors.forbidden(`${path}.accessModes`, detail);
  }
}

function validateSources(spec: JsonObject, path: string, { errors }: Scope): void {
  for (const name of ['dataSource', 'dataSourceRef']) {
    const source = recordAt(spec, name);
    if (source === undefined) continue;
    for (const member of ['name', 'kind']) {
      if (textAt(source, member) === '') errors.required(`${path}.${name}.${member}`);
    }
    const isCore = textAt(source, 'apiGroup') === '';
    if (isCore && textAt(source, 'kind') !== 'PersistentVolumeClaim') {
      const detail = 'must be PersistentVolumeClaim when referencing the default apiGroup';
      errors.invalid(`${path}.${name}`, textAt(source, 'kind'), detail);
    }
  }
  const source = recordAt(spec, 'dataSource');
  const reference = recordAt(spec, 'dataSourceRef');
  if (source === undefined || reference === undefined) return;
  if (textAt(reference, 'namespace') !== '') {
    errors.invalid(path, '', 'may not have dataSource when dataSourceRef has a namespace');
  } else if (!sameJson(source, reference) && isSet(spec, 'dataSource')) {
    errors.invalid(path, '', 'must match dataSourceRef');
  }
}
