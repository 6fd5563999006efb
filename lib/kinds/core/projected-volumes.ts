// Projected volumes: files from several sources in one folder, whose paths must differ.
import { ownPathProblems } from '../../api/formats.ts';
import { isSet, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { Scope } from '../validator.ts';
import { podFiles } from './volume-sources.ts';
import type { SourceCheck } from './volume-sources.ts';

/** In the order in which their files are laid. */
const sourceKinds = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
] as const;
type SourceKind = (typeof sourceKinds)[number];

export const projected: SourceCheck = (volume, path, scope) => {
  const { errors } = scope;
  const paths = new Set<string>();
  for (const [at, source] of recordsAt(volume, 'sources').entries()) {
    const where = `${path}.sources[${String(at)}]`;
    let count = 0;
    for (const kind of sourceKinds) {
      const part = recordAt(source, kind);
      if (part === undefined) continue;
      count += 1;
      validatePart(kind, part, { path: `${where}.${kind}`, volume: path }, scope);
      for (const file of filesOf(kind, part)) {
        if (paths.has(file)) errors.invalid(path, file, 'conflicting duplicate paths');
        paths.add(file);
      }
    }
    if (count > 1) errors.forbidden(where, 'may not specify more than 1 volume type per source');
  }
};

interface PartPath {
  readonly path: string;
  /** Of the whole volume. */
  readonly volume: string;
}

function validatePart(kind: SourceKind, part: JsonObject, at: PartPath, scope: Scope): void {
  const { errors } = scope;
  switch (kind) {
    case 'secret':
    case 'configMap':
      if (textAt(part, 'name') === '') errors.required(`${at.path}.name`);
      return;
    case 'downwardAPI':
      podFiles(part, at.path, scope);
      return;
    case 'serviceAccountToken':
      validateTokenPath(textAt(part, 'path'), `${at.volume}.path`, scope);
      return;
    case 'clusterTrustBundle':
      validateBundle(part, at.path, scope);
      return;
    case 'podCertificate':
      validateCertificate(part, at.path, scope);
      return;
  }
}

function validateTokenPath(file: string, path: string, { errors }: Scope): void {
  if (file === '') errors.required(path);
  else errors.problems(path, file, ownPathProblems(file));
}

function validateBundle(part: JsonObject, path: string, { errors }: Scope): void {
  const hasName = isSet(part, 'name');
  if (hasName && isSet(part, 'signerName')) {
    errors.invalid(path, part, 'only one of name and signerName may be used');
  } else if (hasName) {
    if (textAt(part, 'name') === '') {
      errors.required(`${path}.name`, 'must be a valid object name');
    }
    if (isSet(part, 'labelSelector')) {
      const detail = 'labelSelector must be unset if name is specified';
      errors.invalid(`${path}.labelSelector`, valueAt(part, 'labelSelector'), detail);
    }
  } else if (isSet(part, 'signerName')) {
    if (textAt(part, 'signerName') === '') {
      errors.required(`${path}.signerName`, 'must be a valid signer name');
    }
    validateLabelSelector(recordAt(part, 'labelSelector'), `${path}.labelSelector`, errors);
  } else errors.required(path, 'either name or signerName must be specified');
}

const certificateFiles = ['credentialBundlePath', 'keyPath', 'certificateChainPath'];

function validateCertificate(part: JsonObject, path: string, { errors }: Scope): void {
  for (const name of certificateFiles) {
    const file = textAt(part, name);
    errors.problems(`${path}.${name}`, file, ownPathProblems(file));
  }
  if (filesOf('podCertificate', part).length > 0) return;
  const [bundle = '', key = '', chain = ''] = certificateFiles;
  errors.required(path, `specify at least one of ${bundle}, ${key}, and ${chain}`);
}

/** Paths of the files that the source makes, as far as they must differ from those of others. */
function filesOf(kind: SourceKind, part: JsonObject): readonly string[] {
  switch (kind) {
    case 'serviceAccountToken':
      return [];
    case 'clusterTrustBundle':
      return [textAt(part, 'path')];
    case 'podCertificate':
      return certificateFiles.map((name) => textAt(part, name)).filter((file) => file !== '');
    default:
      return recordsAt(part, 'items').flatMap((item) => textAt(item, 'path') || []);
  }
}
