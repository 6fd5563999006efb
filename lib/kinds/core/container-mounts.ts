// Where a container finds the volumes of its pod: mounted as files, or as devices.
import { flagAt, isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { localPathProblems } from '../../api/formats.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { PodScope } from './pod-scope.ts';

export function validateMounts(container: JsonObject, path: string, scope: PodScope): void {
  const mounts = recordsAt(container, 'volumeMounts');
  const devices = recordsAt(container, 'volumeDevices');
  if (mounts.length > 0) validateVolumeMounts(container, mounts, devices, path, scope);
  if (devices.length > 0) validateVolumeDevices(devices, mounts, path, scope);
}

function validateVolumeMounts(
  container: JsonObject,
  mounts: readonly JsonObject[],
  devices: readonly JsonObject[],
  path: string,
  { errors, volumes }: PodScope,
): void {
  const all = `${path}.volumeMounts`;
  const isPrivileged = flagAt(recordAt(container, 'securityContext'), 'privileged');
  const deviceNames = new Set(devices.map((device) => textAt(device, 'name')));
  const devicePaths = new Set(devices.map((device) => textAt(device, 'devicePath')));
  const paths = new Set<string>();
  for (const [at, mount] of mounts.entries()) {
    const where = `${all}[${String(at)}]`;
    const name = textAt(mount, 'name');
    const mountPath = textAt(mount, 'mountPath');
    if (name === '') errors.required(`${where}.name`);
    if (!volumes.has(name)) errors.notFound(`${where}.name`, name);
    if (mountPath === '') errors.required(`${where}.mountPath`);
    if (paths.has(mountPath)) errors.invalid(`${where}.mountPath`, mountPath, 'must be unique');
    paths.add(mountPath);
    if (deviceNames.has(name)) {
      errors.invalid(`${where}.name`, name, 'must not already exist in volumeDevices');
    }
    if (devicePaths.has(mountPath)) {
      const detail = 'must not already exist as a path in volumeDevices';
      errors.invalid(`${where}.mountPath`, mountPath, detail);
    }
    validateSubPaths(mount, all, where, errors);
    validatePropagation(mount, all, isPrivileged, errors);
    validateRecursion(mount, all, errors);
  }
}

type Errors = PodScope['errors'];

/** Both paths are below the volume; of which mount they are is not reported. */
function validateSubPaths(mount: JsonObject, all: string, where: string, errors: Errors): void {
  const subPath = textAt(mount, 'subPath');
  const expression = textAt(mount, 'subPathExpr');
  if (subPath !== '') errors.problems(`${all}.subPath`, subPath, localPathProblems(subPath));
  if (expression === '') return;
  if (subPath !== '') {
    const detail = 'subPathExpr and subPath are mutually exclusive';
    errors.invalid(`${where}.subPathExpr`, expression, detail);
  }
  errors.problems(`${all}.subPathExpr`, expression, localPathProblems(expression));
}

const propagations = ['Bidirectional', 'HostToContainer', 'None'];

function validatePropagation(
  mount: JsonObject,
  all: string,
  isPrivileged: boolean,
  errors: Errors,
): void {
  if (!isSet(mount, 'mountPropagation')) return;
  const propagation = textAt(mount, 'mountPropagation');
  const at = `${all}.mountPropagation`;
  if (!propagations.includes(propagation)) errors.notSupported(at, propagation, propagations);
  else if (propagation === 'Bidirectional' && !isPrivileged) {
    const detail = 'Bidirectional mount propagation is available only to privileged containers';
    errors.forbidden(at, detail);
  }
}

const recursions = ['Disabled', 'Enabled', 'IfPossible'];

function validateRecursion(mount: JsonObject, all: string, errors: Errors): void {
  if (!isSet(mount, 'recursiveReadOnly')) return;
  const mode = textAt(mount, 'recursiveReadOnly');
  const at = `${all}.recursiveReadOnly`;
  if (mode === 'Disabled') return;
  if (!recursions.includes(mode)) {
    errors.notSupported(at, mode, recursions);
    return;
  }
  if (!flagAt(mount, 'readOnly')) {
    errors.forbidden(at, 'may only be specified when readOnly is true');
  }
  if (isSet(mount, 'mountPropagation') && textAt(mount, 'mountPropagation') !== 'None') {
    errors.forbidden(at, 'may only be specified when mountPropagation is None or not specified');
  }
}

function validateVolumeDevices(
  devices: readonly JsonObject[],
  mounts: readonly JsonObject[],
  path: string,
  { errors, volumes }: PodScope,
): void {
  const mountNames = new Set(mounts.map((mount) => textAt(mount, 'name')));
  const mountPaths = new Set(mounts.map((mount) => textAt(mount, 'mountPath')));
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [at, device] of devices.entries()) {
    const where = `${path}.volumeDevices[${String(at)}]`;
    const name = textAt(device, 'name');
    const devicePath = textAt(device, 'devicePath');
    const badName = (detail: string): void => {
      errors.invalid(`${where}.name`, name, detail);
    };
    const badPath = (detail: string): void => {
      errors.invalid(`${where}.devicePath`, devicePath, detail);
    };
    if (name === '') errors.required(`${where}.name`);
    if (names.has(name)) badName('must be unique');
    const volume = volumes.get(name);
    if (volume === undefined) errors.notFound(`${where}.name`, name);
    else if (!isSet(volume, 'persistentVolumeClaim') && !isSet(volume, 'ephemeral')) {
      badName(
        'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      );
    }
    if (devicePath === '') errors.required(`${where}.devicePath`);
    if (paths.has(devicePath)) badPath('must be unique');
    if (devicePath.split('/').includes('..')) badPath("can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mountNames.has(name)) badName('must not already exist in volumeMounts');
    if (mountPaths.has(devicePath)) badPath('must not already exist as a path in volumeMounts');
    if (name !== '') names.add(name);
  }
}
