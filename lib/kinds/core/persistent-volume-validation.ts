// Persistent volumes: one source, a size, and what stays once it is set. Attachments may have such
// a spec of their own, inline, in which a volume of a driver is all that may be said.
import { posix } from 'node:path';
import {
  entriesAt,
  isSet,
  listAt,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { immutableDetail } from '../../api/field-errors.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { sameJson } from '../../api/json-equal.ts';
import { cloneJson, without } from '../../api/json-value.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Holder, Scope, ValidatedWrite, Validator } from '../validator.ts';
import { validateAccessModes, validateClassName, validateVolumeMode } from './claim-spec.ts';
import { stableLabelOf } from './node-labels.ts';
import { hasBadValues, validateNodeSelector } from './pod-scheduling.ts';
import { nanoOf } from './resource-lists.ts';
import { optionsAnnotation } from './volume-annotations.ts';
import { initiatorText, isInitiatorTooLong, persistentSources } from './volume-sources.ts';

/** Members of a volume's spec that are no source. */
const common = [
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
];

export const validatePersistentVolume: Validator = (write) => {
  const { object, old, subresource } = write;
  if (subresource === 'status') return;
  const spec = recordAt(object, 'spec') ?? {};
  const errors = write.errors;
  if (listAt(spec, 'accessModes').length === 0) errors.required('spec.accessModes');
  validateAccessModes(spec, 'spec', errors);
  validateCapacity(spec, write);
  validatePolicy(spec, write);
  validateAffinity(spec, write);
  validateSources(spec, 'spec', write);
  validateInitiator(spec, textAt(recordAt(object, 'metadata'), 'name'), write);
  validateClassName(spec, 'storageClassName', 'spec', errors);
  validateVolumeMode(spec, 'spec', errors);
  validateAttributesClass(spec, write);
  validateMountOptions(write);
  if (old !== undefined) validateUpdate(spec, recordAt(old, 'spec') ?? {}, write);
};

/** The spec that an attachment has instead of the name of a volume. */
export function validateInlineVolume(spec: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  const detail = 'may not be specified in the context of inline volumes';
  for (const name of ['claimRef', 'nodeAffinity']) {
    if (isSet(spec, name)) errors.forbidden(`${path}.${name}`, detail);
  }
  if (entriesAt(spec, 'capacity').length > 0) errors.forbidden(`${path}.capacity`, detail);
  if (textAt(spec, 'storageClassName') !== '') {
    errors.forbidden(`${path}.storageClassName`, detail);
  }
  if (!isSet(spec, 'csi')) {
    errors.required(`${path}.csi`, 'has to be specified in the context of inline volumes');
  }
  if (listAt(spec, 'accessModes').length === 0) errors.required(`${path}.accessModes`);
  validateAccessModes(spec, path, errors);
  const policy = textAt(spec, 'persistentVolumeReclaimPolicy');
  if (policy !== '' && policy !== 'Retain') {
    const only = 'may only be Retain in the context of inline volumes';
    errors.forbidden(`${path}.persistentVolumeReclaimPolicy`, only);
  }
  if ((valueAt(spec, 'volumeMode') ?? 'Filesystem') !== 'Filesystem') {
    const other =
      'may not specify volumeMode other than Filesystem in the context of inline volumes';
    errors.forbidden(`${path}.volumeMode`, other);
  }
  requireAffinity(spec, path, errors);
  validateSources(spec, path, scope);
}

function validateCapacity(spec: JsonObject, { errors }: ValidatedWrite): void {
  const capacity = entriesAt(spec, 'capacity');
  if (capacity.length === 0) errors.required('spec.capacity');
  if (capacity.length !== 1 || capacity[0]?.[0] !== 'storage') {
    errors.notSupported('spec.capacity', valueAt(spec, 'capacity') ?? {}, ['storage']);
  }
  for (const [name, amount] of capacity) {
    const at = `spec.capacity[${name}]`;
    if (nanoOf(amount) < 0n) errors.invalid(at, amount, 'must be a valid resource quantity');
    if (nanoOf(amount) <= 0n) errors.invalid(at, amount, 'must be greater than zero');
  }
}

const policies = ['Delete', 'Recycle', 'Retain'];

function validatePolicy(spec: JsonObject, { errors }: ValidatedWrite): void {
  const policy = textAt(spec, 'persistentVolumeReclaimPolicy');
  const at = 'spec.persistentVolumeReclaimPolicy';
  if (policy !== '' && !policies.includes(policy)) errors.notSupported(at, policy, policies);
  const host = recordAt(spec, 'hostPath');
  if (policy !== 'Recycle' || host === undefined || !isRoot(textAt(host, 'path'))) return;
  errors.forbidden(at, "may not be 'recycle' for a hostPath mount of '/'");
}

const isRoot = (path: string): boolean => posix.normalize(path) === '/';

function validateAffinity(spec: JsonObject, { old, errors }: ValidatedWrite): void {
  const affinity = recordAt(spec, 'nodeAffinity');
  if (affinity === undefined) {
    requireAffinity(spec, 'spec', errors);
    return;
  }
  const required = recordAt(affinity, 'required');
  if (required === undefined) {
    errors.required('spec.nodeAffinity.required', 'must specify required node constraints');
  } else {
    const takesBadValues = hasBadValues(recordIn(old, 'spec', 'nodeAffinity', 'required'));
    validateNodeSelector(required, 'spec.nodeAffinity.required', errors, { takesBadValues });
  }
}

function requireAffinity(spec: JsonObject, path: string, errors: FieldErrors): void {
  if (!isSet(spec, 'local') || errors.forbids(`${path}.local`)) return;
  errors.required(`${path}.nodeAffinity`, 'Local volume requires node affinity');
}

/** Of the source that counts: the others have been refused. */
function validateSources(spec: JsonObject, path: string, scope: Scope): void {
  for (const kind of Object.keys(spec)) {
    const validate = persistentSources.get(kind);
    const source = validate === undefined ? undefined : recordAt(spec, kind);
    if (source === undefined || scope.errors.forbids(`${path}.${kind}`)) continue;
    validate?.(source, `${path}.${kind}`, scope);
  }
}

function validateInitiator(spec: JsonObject, name: string, { errors }: ValidatedWrite): void {
  const iscsi = recordAt(spec, 'iscsi');
  if (errors.forbids('spec.iscsi') || !isInitiatorTooLong(name, iscsi)) return;
  errors.invalid('spec.iscsi.targetportal', textAt(iscsi, 'targetPortal'), initiatorText);
}

function validateAttributesClass(spec: JsonObject, { errors }: ValidatedWrite): void {
  const name = valueAt(spec, 'volumeAttributesClassName');
  if (typeof name !== 'string') return;
  const at = 'spec.volumeAttributesClassName';
  if (name === '') errors.required(at, 'an empty string is disallowed');
  else errors.problems(at, name, dns1123SubdomainProblems(name));
  if (isSet(spec, 'csi')) return;
  errors.required('spec.csi', 'has to be specified when using volumeAttributesClassName');
}

/** Types of volumes whose mounts take options. */
const mountable = [
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephfs',
  'cinder',
  'gcePersistentDisk',
  'glusterfs',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'quobyte',
  'rbd',
  'vsphereVolume',
];

/** The annotation that came before `spec.mountOptions` is for these types alone. */
function validateMountOptions({ object, errors, naming }: ValidatedWrite): void {
  const key = optionsAnnotation(naming);
  if (!isSet(recordIn(object, 'metadata', 'annotations'), key)) return;
  const spec = recordAt(object, 'spec');
  if (mountable.some((kind) => isSet(spec, kind))) return;
  const detail = 'may not specify mount options for this volume type';
  errors.forbidden(`metadata.annotations.${key}`, detail);
}

function validateUpdate(spec: JsonObject, old: JsonObject, write: ValidatedWrite): void {
  const { errors, isOn, naming } = write;
  if (!sameJson(sourceOf(spec, old), without(old, ...common))) {
    const detail = 'spec.persistentvolumesource is immutable after creation';
    errors.forbidden('spec.persistentvolumesource', detail);
  }
  if (valueAt(spec, 'volumeMode') !== valueAt(old, 'volumeMode')) {
    errors.invalid('volumeMode', valueAt(spec, 'volumeMode'), immutableDetail);
  }
  const [affinity, before] = [recordAt(spec, 'nodeAffinity'), recordAt(old, 'nodeAffinity')];
  const isFree = before === undefined || isOn('MutablePVNodeAffinity');
  if (!isFree && !sameJson(affinity, upgraded(before, affinity, naming))) {
    const detail = 'field is immutable, except for updating from beta label to GA';
    errors.invalid('nodeAffinity', affinity, detail);
  }
  if (isSet(old, 'volumeAttributesClassName') && !isSet(spec, 'volumeAttributesClassName')) {
    const detail = 'update from non-nil value to nil is forbidden';
    errors.forbidden('spec.volumeAttributesClassName', detail);
  }
}

/** The secret that an expansion needs may be added. */
function sourceOf(spec: JsonObject, old: JsonObject): JsonObject {
  const source = without(spec, ...common);
  const [csi, before] = [recordAt(spec, 'csi'), recordAt(old, 'csi')];
  if (csi !== undefined && before !== undefined && !isSet(before, 'controllerExpandSecretRef')) {
    source['csi'] = without(csi, 'controllerExpandSecretRef');
  }
  return source;
}

/** The stored affinity with the stable names of labels where the new one has them. */
function upgraded(stored: JsonObject, affinity: Holder, naming: NamingProfile): JsonObject {
  const changed = cloneJson(stored);
  const now = requirementsOf(affinity);
  for (const [at, requirement] of requirementsOf(changed).entries()) {
    const stable = stableLabelOf(textAt(requirement, 'key'), naming);
    if (textAt(now[at], 'key') === stable) requirement['key'] = stable;
  }
  return changed;
}

const requirementsOf = (affinity: Holder): readonly JsonObject[] =>
  recordsAt(recordAt(affinity, 'required'), 'nodeSelectorTerms').flatMap((term) =>
    recordsAt(term, 'matchExpressions'),
  );
