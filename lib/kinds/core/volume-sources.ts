// Sources of volumes, in pods and in persistent volumes: the rules that options of their fields
// cannot express. Which one of several sources counts is decided before these are asked.
import { localPathProblems } from '../../api/formats.ts';
import {
  entriesAt,
  isSet,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
} from '../../api/json-access.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Scope } from '../validator.ts';
import { filePaths, validateFieldRef, validateResourceRef } from './container-env.ts';
import { nanoOf } from './resource-lists.ts';

export type SourceCheck = (source: JsonObject, path: string, scope: Scope) => void;

/** A reference that is set has these members. */
const referenceNames =
  (member: string, ...names: readonly string[]): SourceCheck =>
  (source, path, { errors }) => {
    const reference = recordAt(source, member);
    if (reference === undefined) return;
    for (const name of names) {
      if (textAt(reference, name) === '') errors.required(`${path}.${member}.${name}`);
    }
  };

const all =
  (...checks: readonly SourceCheck[]): SourceCheck =>
  (source, path, scope) => {
    for (const check of checks) check(source, path, scope);
  };

const emptyDir: SourceCheck = (source, path, { errors }) => {
  if (nanoOf(source['sizeLimit']) < 0n) {
    errors.forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity');
  }
};

const configMap: SourceCheck = (source, path, { errors }) => {
  if (textAt(source, 'name') === '') errors.required(`${path}.name`);
};

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

const hostPath: SourceCheck = (source, path, { errors }) => {
  const type = textAt(source, 'type');
  if (textAt(source, 'path') === '' || hostPathTypes.includes(type)) return;
  errors.notSupported(`${path}.type`, type, hostPathTypes);
};

const nfs: SourceCheck = (source, path, { errors }) => {
  const folder = textAt(source, 'path');
  if (!folder.startsWith('/')) {
    errors.invalid(`${path}.path`, folder, 'must be an absolute path');
  }
};

const fibreChannel: SourceCheck = (source, path, { errors }) => {
  const names = textsAt(source, 'targetWWNs');
  const ids = textsAt(source, 'wwids');
  if (names.length === 0 && ids.length === 0) {
    errors.required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both');
  }
  if (names.length === 0) return;
  if (ids.length > 0) {
    const detail = 'targetWWNs and wwids can not be specified simultaneously';
    errors.invalid(`${path}.targetWWNs`, names, detail);
  }
  const lun = numberAt(source, 'lun');
  if (lun === undefined) {
    errors.required(`${path}.lun`, 'lun is required if targetWWNs is specified');
  } else if (lun < 0 || lun > 255) {
    errors.invalid(`${path}.lun`, lun, 'must be between 0 and 255, inclusive');
  }
};

const chap: SourceCheck = (source, path, { errors }) => {
  const hasChap = source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true;
  if (hasChap && !isSet(source, 'secretRef')) errors.required(`${path}.secretRef`);
};

const initiatorBytesMax = 64;
export const initiatorText =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if ' +
  'iscsi.initiatorName is specified.';

export const isInitiatorTooLong = (name: string, iscsi: JsonObject | undefined): boolean =>
  isSet(iscsi, 'initiatorName') &&
  Buffer.byteLength(`${name}:${textAt(iscsi, 'targetPortal')}`) > initiatorBytesMax;

const quobyteTenantMax = 64;
const quobyteText = 'must be a host:port pair or multiple pairs separated by commas';
const hostPort = /^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/;

const quobyte: SourceCheck = (source, path, { errors }) => {
  const registry = textAt(source, 'registry');
  if (registry === '') errors.required(`${path}.registry`, quobyteText);
  else if (Buffer.byteLength(textAt(source, 'tenant')) > quobyteTenantMax) {
    const detail = 'must be a UUID and may not exceed a length of 64 characters';
    errors.required(`${path}.tenant`, detail);
  } else {
    for (const pair of registry.split(',')) {
      if (!hostPort.test(pair)) errors.invalid(`${path}.registry`, registry, quobyteText);
    }
  }
};

const flocker: SourceCheck = (source, path, { errors }) => {
  const [name, uuid] = [textAt(source, 'datasetName'), textAt(source, 'datasetUUID')];
  if (name === '' && uuid === '') {
    errors.required(path, 'one of datasetName and datasetUUID is required');
  }
  if (name !== '' && uuid !== '') {
    const detail = 'datasetName and datasetUUID can not be specified simultaneously';
    errors.invalid(path, 'resource', detail);
  }
  if (name.includes('/')) errors.invalid(`${path}.datasetName`, name, "must not contain '/'");
};

const managedUri =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobUri = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

const azureDisk: SourceCheck = (source, path, { errors }) => {
  const kind = valueAt(source, 'kind');
  if (kind === undefined) return;
  const uri = textAt(source, 'diskURI');
  const [start, form] =
    kind === 'Managed'
      ? (['/subscriptions/', managedUri] as const)
      : (['https://', blobUri] as const);
  if (!uri.startsWith(start)) errors.notSupported(`${path}.diskURI`, uri, [form]);
};

const flexVolume: SourceCheck = (source, path, { errors, naming }) => {
  const reserved = [naming.metadataDomain, naming.resolve('{v}')];
  for (const [key] of entriesAt(source, 'options')) {
    const domain = `.${(key.split('/')[0] ?? '').toLowerCase()}`;
    if (!reserved.some((own) => domain.endsWith(`.${own}`))) continue;
    const detail = `${[...new Set(reserved)].join(' and ')} namespaces are reserved`;
    errors.invalid(`${path}.options[${key}]`, key, detail);
  }
};

const gitRepo: SourceCheck = (source, path, { errors }) => {
  const directory = textAt(source, 'directory');
  errors.problems(`${path}.directory`, directory, localPathProblems(directory));
};

const publishSecret: SourceCheck = (source, path, { errors }) => {
  const reference = recordAt(source, 'nodePublishSecretRef');
  if (reference === undefined) return;
  const name = textAt(reference, 'name');
  if (name === '') errors.required(`${path}.nodePublishSecretRef.name`);
  else errors.problems(`${path}.name`, name, dns1123SubdomainProblems(name));
};

/** Files that show fields of the pod; all are reported at their list's holder. */
export const podFiles: SourceCheck = (source, path, scope) => {
  const { errors } = scope;
  for (const item of recordsAt(source, 'items')) {
    const field = recordAt(item, 'fieldRef');
    const resource = recordAt(item, 'resourceFieldRef');
    if (field !== undefined) {
      validateFieldRef(field, `${path}.fieldRef`, filePaths, scope);
      if (resource === undefined) continue;
      const detail = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      errors.invalid(path, 'resource', detail);
    } else if (resource !== undefined) {
      const at = { path: `${path}.resourceFieldRef`, needsContainer: true };
      validateResourceRef(resource, at, scope);
    } else errors.required(path, 'one of fieldRef and resourceFieldRef is required');
  }
};

const shared: readonly (readonly [string, SourceCheck])[] = [
  ['azureDisk', azureDisk],
  ['fc', fibreChannel],
  ['flexVolume', flexVolume],
  ['flocker', flocker],
  ['hostPath', hostPath],
  ['nfs', nfs],
  ['quobyte', quobyte],
];

/** Of volumes in pods, by member. */
export const podSources: ReadonlyMap<string, SourceCheck> = new Map([
  ...shared,
  ['cinder', referenceNames('secretRef', 'name')],
  ['configMap', configMap],
  ['csi', publishSecret],
  ['downwardAPI', podFiles],
  ['emptyDir', emptyDir],
  ['gitRepo', gitRepo],
  ['iscsi', chap],
  ['storageos', referenceNames('secretRef', 'name')],
]);

const driverSecrets: SourceCheck = (source, path, { errors }) => {
  for (const member of [
    'controllerPublishSecretRef',
    'controllerExpandSecretRef',
    'nodePublishSecretRef',
    'nodeExpandSecretRef',
  ]) {
    const reference = recordAt(source, member);
    if (reference === undefined) continue;
    for (const [name, problemsOf] of [
      ['name', dns1123SubdomainProblems],
      ['namespace', dns1123LabelProblems],
    ] as const) {
      const at = `${path}.${member}.${name}`;
      const text = textAt(reference, name);
      if (text === '') errors.required(at);
      else errors.problems(at, text, problemsOf(text));
    }
  }
};

const azureFile: SourceCheck = (source, path, { errors }) => {
  if (valueAt(source, 'secretNamespace') === '') errors.required(`${path}.secretNamespace`);
};

const glusterfs: SourceCheck = (source, path, { errors }) => {
  const namespace = valueAt(source, 'endpointsNamespace');
  if (typeof namespace !== 'string') return;
  const problems =
    namespace === ''
      ? ['if the endpointnamespace is set, it must be a valid namespace name']
      : dns1123LabelProblems(namespace);
  errors.problems(`${path}.endpointsNamespace`, namespace, problems);
};

/** Of persistent volumes, by member. */
export const persistentSources: ReadonlyMap<string, SourceCheck> = new Map([
  ...shared,
  ['azureFile', azureFile],
  ['cinder', referenceNames('secretRef', 'name', 'namespace')],
  ['csi', driverSecrets],
  ['glusterfs', glusterfs],
  ['iscsi', all(chap, referenceNames('secretRef', 'name'))],
  ['storageos', referenceNames('secretRef', 'name', 'namespace')],
]);
