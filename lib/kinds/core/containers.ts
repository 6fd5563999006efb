// Containers of a pod: names, ports, mounts, restart rules. Their environment, resources, probes
// and security have files of their own; rules of single fields are options of those.
import {
  flagAt,
  isSet,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { dns1123LabelProblems } from '../../api/name-rules.ts';
import { isEmpty } from '../../api/presence.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateEnvironment } from './container-env.ts';
import { validateContainerResources } from './container-resources.ts';
import { validateLifecycle, validateProbes } from './container-handlers.ts';
import type { PodScope } from './pod-scope.ts';

type ContainerKind = 'init' | 'main' | 'ephemeral';

export function validateContainers(scope: PodScope, path: string): void {
  const { spec, errors } = scope;
  const names = new Set<string>();
  const hostPorts = new Set<string>();
  const lists: readonly (readonly [string, ContainerKind])[] = [
    ['containers', 'main'],
    ['initContainers', 'init'],
    ['ephemeralContainers', 'ephemeral'],
  ];
  for (const [list, kind] of lists) {
    for (const [at, container] of recordsAt(spec, list).entries()) {
      const where = `${path}.${list}[${String(at)}]`;
      const name = textAt(container, 'name');
      if (name === '') errors.required(`${where}.name`);
      else {
        const problems = dns1123LabelProblems(name);
        errors.problems(`${where}.name`, name, problems);
        if (names.has(name)) errors.duplicate(`${where}.name`, name);
        names.add(name);
      }
      validateContainer(container, kind, where, scope, hostPorts);
    }
  }
  for (const [at, container] of recordsAt(spec, 'ephemeralContainers').entries()) {
    const target = textAt(container, 'targetContainerName');
    if (target === '') continue;
    const others = [...recordsAt(spec, 'containers'), ...recordsAt(spec, 'initContainers')];
    if (others.some((one) => textAt(one, 'name') === target)) continue;
    errors.notFound(`${path}.ephemeralContainers[${String(at)}].targetContainerName`, target);
  }
}

function validateContainer(
  container: JsonObject,
  kind: ContainerKind,
  path: string,
  scope: PodScope,
  hostPorts: Set<string>,
): void {
  const { errors } = scope;
  const image = textAt(container, 'image');
  if (image === '') errors.required(`${path}.image`);
  else if (scope.isPod && image.trim() !== image) {
    errors.invalid(`${path}.image`, image, 'must not have leading or trailing whitespace');
  }
  validateRestart(container, kind, path, scope);
  validatePorts(container, path, scope, hostPorts);
  validateEnvironment(container, path, scope);
  validateMounts(container, path, scope);
  validateContainerResources(container, path, scope);
  if (kind === 'ephemeral') {
    refuseForEphemeral(container, path, scope);
    return;
  }
  const isSidecar = kind === 'init' && textAt(container, 'restartPolicy') === 'Always';
  if (kind === 'main' || isSidecar) {
    validateLifecycle(container, path, scope);
    validateProbes(container, path, scope);
    return;
  }
  for (const name of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (!isSet(container, name)) continue;
    errors.forbidden(
      `${path}.${name}`,
      'may not be set for init containers without restartPolicy=Always',
    );
  }
}

function refuseForEphemeral(container: JsonObject, path: string, { errors }: PodScope): void {
  const names = ['ports', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'];
  for (const name of [...names, 'resources', 'resizePolicy']) {
    if (!isEmpty(valueAt(container, name)))
      errors.forbidden(`${path}.${name}`, 'cannot be set for an Ephemeral Container');
  }
  for (const [at, mount] of recordsAt(container, 'volumeMounts').entries()) {
    for (const name of ['subPath', 'subPathExpr']) {
      if (textAt(mount, name) === '') continue;
      const where = `${path}.volumeMounts[${String(at)}].${name}`;
      errors.forbidden(where, 'cannot be set for an Ephemeral Container');
    }
  }
}

function validateRestart(
  container: JsonObject,
  kind: ContainerKind,
  path: string,
  { errors, isOn }: PodScope,
): void {
  const policy = textAt(container, 'restartPolicy');
  const rules = recordsAt(container, 'restartPolicyRules');
  const at = `${path}.restartPolicy`;
  if (policy !== '') {
    const hasRules = isOn('ContainerRestartRules') && kind !== 'ephemeral';
    if (kind === 'ephemeral') errors.forbidden(at, 'cannot be set for an Ephemeral Container');
    else if (hasRules) {
      const supported = ['Always', 'Never', 'OnFailure'];
      if (!supported.includes(policy)) errors.notSupported(at, policy, supported);
    } else if (kind === 'main') errors.forbidden(at, 'may not be set for non-init containers');
    else if (policy !== 'Always') errors.notSupported(at, policy, ['Always']);
  }
  if (rules.length === 0) return;
  if (policy === '') errors.required(at, 'must specify restartPolicy when restart rules are used');
  if (kind === 'init' && policy === 'Always') {
    const detail = 'restartPolicyRules are not supported when restartPolicy is Always';
    errors.forbidden(`${path}.restartPolicyRules`, detail);
  }
  for (const [index, rule] of rules.entries()) {
    const where = `${path}.restartPolicyRules[${String(index)}]`;
    const action = textAt(rule, 'action');
    const supported = ['Restart'];
    if (isOn('RestartAllContainersOnContainerExits')) supported.push('RestartAllContainers');
    if (action !== '' && !supported.includes(action)) {
      errors.notSupported(`${where}.action`, action, supported);
    }
    if (!isSet(rule, 'exitCodes')) errors.required(`${where}.exitCodes`, 'must be specified');
  }
}

function validatePorts(
  container: JsonObject,
  path: string,
  { errors, hostNetwork }: PodScope,
  hostPorts: Set<string>,
): void {
  const names = new Set<string>();
  for (const [at, port] of recordsAt(container, 'ports').entries()) {
    const where = `${path}.ports[${String(at)}]`;
    const name = textAt(port, 'name');
    if (name !== '') {
      if (names.has(name)) errors.duplicate(`${where}.name`, name);
      names.add(name);
    }
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    if (hostPort === 0) continue;
    if (hostNetwork && hostPort !== numberAt(port, 'containerPort')) {
      const detail = 'must match `containerPort` when `hostNetwork` is true';
      errors.invalid(`${where}.hostPort`, hostPort, detail);
    }
    const ip = textAt(port, 'hostIP') || '0.0.0.0';
    const key = `${textAt(port, 'protocol')}/${ip}/${String(hostPort)}`;
    if (hostPorts.has(key)) errors.duplicate(`${where}.hostPort`, key);
    hostPorts.add(key);
  }
}

function validateMounts(container: JsonObject, path: string, scope: PodScope): void {
  const { errors, volumes } = scope;
  const paths = new Set<string>();
  const mounted = new Set<string>();
  const isPrivileged = flagAt(recordAt(container, 'securityContext'), 'privileged');
  for (const [at, mount] of recordsAt(container, 'volumeMounts').entries()) {
    const where = `${path}.volumeMounts[${String(at)}]`;
    const name = textAt(mount, 'name');
    if (name !== '' && !volumes.has(name)) errors.notFound(`${where}.name`, name);
    const mountPath = textAt(mount, 'mountPath');
    if (mountPath !== '' && paths.has(mountPath)) {
      errors.invalid(`${where}.mountPath`, mountPath, 'must be unique');
    }
    paths.add(mountPath);
    mounted.add(name);
    if (textAt(mount, 'subPath') !== '' && textAt(mount, 'subPathExpr') !== '') {
      const detail = 'subPathExpr and subPath are mutually exclusive';
      errors.invalid(`${where}.subPathExpr`, textAt(mount, 'subPathExpr'), detail);
    }
    validatePropagation(mount, where, isPrivileged, scope);
  }
  const devices = new Set<string>();
  const devicePaths = new Set<string>();
  for (const [at, device] of recordsAt(container, 'volumeDevices').entries()) {
    const where = `${path}.volumeDevices[${String(at)}]`;
    const name = textAt(device, 'name');
    const devicePath = textAt(device, 'devicePath');
    if (name !== '') {
      const volume = volumes.get(name);
      if (volume === undefined) errors.notFound(`${where}.name`, name);
      else if (!isSet(volume, 'persistentVolumeClaim') && !isSet(volume, 'ephemeral')) {
        const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral';
        errors.invalid(`${where}.name`, name, `${detail} for block mode`);
      }
      if (devices.has(name)) errors.invalid(`${where}.name`, name, 'must be unique');
      if (mounted.has(name)) {
        errors.invalid(`${where}.name`, name, 'must not already exist in volumeMounts');
      }
      devices.add(name);
    }
    if (devicePath === '') continue;
    if (devicePaths.has(devicePath)) {
      errors.invalid(`${where}.devicePath`, devicePath, 'must be unique');
    }
    if (paths.has(devicePath)) {
      const detail = 'must not already exist as a path in volumeMounts';
      errors.invalid(`${where}.devicePath`, devicePath, detail);
    }
    devicePaths.add(devicePath);
  }
}

function validatePropagation(
  mount: JsonObject,
  path: string,
  isPrivileged: boolean,
  { errors }: PodScope,
): void {
  const propagation = textAt(mount, 'mountPropagation');
  if (propagation === 'Bidirectional' && !isPrivileged) {
    const detail = 'Bidirectional mount propagation is available only to privileged containers';
    errors.forbidden(`${path}.mountPropagation`, detail);
  }
  const mode = textAt(mount, 'recursiveReadOnly');
  if (mode === '' || mode === 'Disabled') return;
  const at = `${path}.recursiveReadOnly`;
  if (!flagAt(mount, 'readOnly')) {
    errors.forbidden(at, 'may only be specified when readOnly is true');
  }
  if (propagation !== '' && propagation !== 'None') {
    errors.forbidden(at, 'may only be specified when mountPropagation is None or not specified');
  }
}
