// Volumes of a pod. Exactly one source, required members and formats are options of the fields.
import {
  entriesAt,
  isSet,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
} from '../../api/json-access.ts';
import { localPathProblems } from '../../api/formats.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { validateLabels } from '../validator.ts';
import type { Scope } from '../validator.ts';
import { filePaths, validateFieldRef, validateResourceRef } from './container-env.ts';
import { validateClaimSpec } from './claim-spec.ts';
import type { PodVolumes } from './pod-scope.ts';
import { nanoOf } from './resource-lists.ts';

interface VolumesOptions {
  /** '' for templates: their pods have no name yet. */
  readonly podName: string;
  /** Names of volumes that claim templates make, besides those in the spec. */
  readonly claimed?: readonly string[] | undefined;
}

/** @returns those that may be mounted: nothing of them has failed. */
export function validateVolumes(
  spec: JsonObject,
  path: string,
  { podName, claimed = [] }: VolumesOptions,
  scope: Scope,
): PodVolumes {
  const { errors } = scope;
  const valid = new Map<string, JsonObject>();
  const volumes = recordsAt(spec, 'volumes');
  const generated = new Set(
    volumes
      .filter((volume) => podName !== '' && isSet(volume, 'ephemeral'))
      .map((volume) => `${podName}-${textAt(volume, 'name')}`),
  );
  for (const [at, volume] of volumes.entries()) {
    const where = `${path}.volumes[${String(at)}]`;
    const name = textAt(volume, 'name');
    validateSource(volume, where, podName, scope);
    if (valid.has(name)) errors.duplicate(`${where}.name`, name);
    else if (!errors.has(where)) valid.set(name, volume);
    const claim = textAt(recordAt(volume, 'persistentVolumeClaim'), 'claimName');
    if (claim === '' || !generated.has(claim)) continue;
    const detail = 'must not reference a PVC that gets created for an ephemeral volume';
    errors.invalid(`${where}.persistentVolumeClaim.claimName`, claim, detail);
  }
  for (const name of claimed) {
    if (!valid.has(name)) valid.set(name, { name, persistentVolumeClaim: {} });
  }
  return valid;
}

/** Names in paths of refused sources that are not their own. */
const refusedNames: ReadonlyMap<string, string> = new Map([['downwardAPI', 'downwarAPI']]);

/** The rules of the source that counts: the others have been refused. */
function validateSource(volume: JsonObject, path: string, podName: string, scope: Scope): void {
  const { errors } = scope;
  for (const kind of Object.keys(volume)) {
    const validate = sources.get(kind);
    const source = validate === undefined ? undefined : recordAt(volume, kind);
    if (source === undefined || errors.forbids(`${path}.${refusedNames.get(kind) ?? kind}`))
      continue;
    validate?.(source, `${path}.${kind}`, scope);
  }
  const name = textAt(volume, 'name');
  if (podName === '' || name === '' || !isSet(volume, 'ephemeral')) return;
  const claim = `${podName}-${name}`;
  for (const problem of dns1123SubdomainProblems(claim)) {
    errors.invalid(`${path}.name`, name, `PVC name "${claim}": ${problem}`);
  }
}

type SourceCheck = (source: JsonObject, path: string, scope: Scope) => void;

const emptyDir: SourceCheck = (source, path, { errors }) => {
  if (nanoOf(source['sizeLimit']) < 0n) {
    errors.forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity >= 0');
  }
};

const configMap: SourceCheck = (source, path, { errors }) => {
  if (textAt(source, 'name') === '') errors.required(`${path}.name`);
};

const fibreChannel: SourceCheck = (source, path, { errors }) => {
  const names = textsAt(source, 'targetWWNs');
  const ids = textsAt(source, 'wwids');
  if (names.length === 0 && ids.length === 0) {
    errors.required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both');
  }
  if (names.length > 0 && ids.length > 0) {
    errors.invalid(
      `${path}.targetWWNs`,
      names,
      'targetWWNs and wwids can not be specified simultaneously',
    );
  }
  if (names.length > 0 && numberAt(source, 'lun') === undefined) {
    errors.required(`${path}.lun`, 'lun is required if targetWWNs is specified');
  }
};

const iscsi: SourceCheck = (source, path, { errors }) => {
  const hasChap = source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true;
  if (hasChap && !isSet(source, 'secretRef')) {
    errors.required(`${path}.secretRef`, 'is needed for CHAP authentication');
  }
};

const secretReference: SourceCheck = (source, path, { errors }) => {
  const reference = recordAt(source, 'nodePublishSecretRef');
  if (reference !== undefined && textAt(reference, 'name') === '') {
    errors.required(`${path}.nodePublishSecretRef.name`);
  }
};

const flex: SourceCheck = (source, path, { errors, naming }) => {
  for (const [key] of entriesAt(source, 'options')) {
    const domain = key.toLowerCase().split('/')[0] ?? '';
    const isReserved = [naming.metadataDomain, naming.resolve('{v}')].some(
      (own) => key.includes('/') && (domain === own || domain.endsWith(`.${own}`)),
    );
    if (!isReserved) continue;
    const detail = `${naming.metadataDomain} and ${naming.resolve('{v}')} namespaces are reserved`;
    errors.invalid(`${path}.options[${key}]`, key, detail);
  }
};

const gitRepo: SourceCheck = (source, path, { errors }) => {
  const directory = textAt(source, 'directory');
  errors.problems(`${path}.directory`, directory, localPathProblems(directory));
};

const image: SourceCheck = (source, path, { errors }) => {
  if (textAt(source, 'reference') === '') errors.required(`${path}.reference`);
};

/** Files that show fields of the pod. */
const podFiles: SourceCheck = (source, path, scope) => {
  for (const [at, item] of recordsAt(source, 'items').entries()) {
    const where = `${path}.items[${String(at)}]`;
    const field = recordAt(item, 'fieldRef');
    const resource = recordAt(item, 'resourceFieldRef');
    if (field !== undefined) validateFieldRef(field, `${where}.fieldRef`, filePaths, scope);
    if (resource !== undefined) {
      validateResourceRef(
        resource,
        { path: `${where}.resourceFieldRef`, needsContainer: true },
        scope,
      );
    }
    if (field !== undefined && resource !== undefined) {
      const detail = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      scope.errors.invalid(where, 'resource', detail);
    } else if (field === undefined && resource === undefined) {
      scope.errors.required(
        `${where}.fieldRef`,
        'one of fieldRef and resourceFieldRef is required',
      );
    }
  }
};

const ephemeral: SourceCheck = (source, path, scope) => {
  const template = recordAt(source, 'volumeClaimTemplate');
  if (template === undefined) return;
  const where = `${path}.volumeClaimTemplate`;
  const meta = recordAt(template, 'metadata');
  validateLabels(recordAt(meta, 'labels'), `${where}.metadata.labels`, scope.errors);
  validateClaimSpec(recordAt(template, 'spec') ?? {}, `${where}.spec`, scope);
};

const projectedKinds = [
  'secret',
  'downwardAPI',
  'configMap',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
] as const;

const projected: SourceCheck = (source, path, scope) => {
  const { errors } = scope;
  const paths = new Set<string>();
  for (const [at, one] of recordsAt(source, 'sources').entries()) {
    const where = `${path}.sources[${String(at)}]`;
    const kinds = projectedKinds.filter((kind) => isSet(one, kind));
    if (kinds.length === 0) errors.required(where, 'must specify one of its sources');
    for (const kind of kinds.slice(1)) {
      errors.forbidden(`${where}.${kind}`, 'may not specify more than 1 volume type per source');
    }
    for (const kind of kinds) {
      const part = recordAt(one, kind) ?? {};
      validateProjection(kind, part, `${where}.${kind}`, scope);
      for (const [filePath, file] of filesOf(kind, part, `${where}.${kind}`)) {
        if (file === '') continue;
        if (paths.has(file))
          errors.invalid(filePath, file, 'conflicts with another path of the volume');
        paths.add(file);
      }
    }
  }
};

function validateProjection(kind: string, part: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  if ((kind === 'secret' || kind === 'configMap') && textAt(part, 'name') === '') {
    errors.required(`${path}.name`);
  }
  if (kind === 'downwardAPI') podFiles(part, path, scope);
  if (kind === 'clusterTrustBundle') {
    const [name, signer] = [textAt(part, 'name'), textAt(part, 'signerName')];
    if ((name === '') === (signer === '')) {
      errors.invalid(path, '', 'exactly one of `name` and `signerName` must be specified');
    }
    validateLabelSelector(recordAt(part, 'labelSelector'), `${path}.labelSelector`, errors);
  }
}

function filesOf(
  kind: string,
  part: JsonObject,
  path: string,
): readonly (readonly [string, string])[] {
  if (kind === 'serviceAccountToken' || kind === 'clusterTrustBundle') {
    return [[`${path}.path`, textAt(part, 'path')]];
  }
  if (kind === 'podCertificate') {
    const names = ['credentialBundlePath', 'keyPath', 'certificateChainPath'];
    return names.map((name) => [`${path}.${name}`, textAt(part, name)]);
  }
  return recordsAt(part, 'items').map((item, at) => [
    `${path}.items[${String(at)}].path`,
    textAt(item, 'path'),
  ]);
}

const sources: ReadonlyMap<string, SourceCheck> = new Map<string, SourceCheck>([
  ['configMap', configMap],
  ['csi', secretReference],
  ['downwardAPI', podFiles],
  ['emptyDir', emptyDir],
  ['ephemeral', ephemeral],
  ['fc', fibreChannel],
  ['flexVolume', flex],
  ['gitRepo', gitRepo],
  ['image', image],
  ['iscsi', iscsi],
  ['projected', projected],
]);

/** The same kinds of source in a persistent volume. */
export function validateVolumeSource(volume: JsonObject, path: string, scope: Scope): void {
  for (const kind of ['fc', 'iscsi', 'flexVolume']) {
    const source = recordAt(volume, kind);
    if (source !== undefined) sources.get(kind)?.(source, `${path}.${kind}`, scope);
  }
}
