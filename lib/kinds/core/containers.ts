// Containers of a pod: names, images, ports, restart rules. Their environment, mounts, resources,
// probes and security have files of their own; what single fields say is an option of those.
import { isSet, listAt, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { dns1123LabelProblems } from '../../api/name-rules.ts';
import { portNameProblems } from '../../api/formats.ts';
import { isEmpty } from '../../api/presence.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateEnvironment } from './container-env.ts';
import { validateContainerResources } from './container-resources.ts';
import { validateLifecycle, validateProbes } from './container-handlers.ts';
import { validateMounts } from './container-mounts.ts';
import type { PodScope } from './pod-scope.ts';

export function validateContainers(scope: PodScope, path: string): void {
  const { spec } = scope;
  const names = new Set<string>();
  const hostPorts = new Set<string>();
  const main = `${path}.containers`;
  for (const [at, container] of recordsAt(spec, 'containers').entries()) {
    const where = `${main}[${String(at)}]`;
    validateCommon(container, where, scope);
    addName(container, where, names, scope);
    names.add(textAt(container, 'name'));
    validateLifecycle(container, where, scope);
    validateProbes(container, where, scope);
    if (scope.isOn('ContainerRestartRules')) validateRestartRules(container, where, scope);
    else if (isSet(container, 'restartPolicy')) {
      const detail = 'may not be set for non-init containers';
      scope.errors.forbidden(`${where}.restartPolicy`, detail);
    }
    takeHostPorts(container, where, hostPorts, scope);
    if (scope.hostNetwork) validatePortsOfHost(container, where, scope);
  }
  const init = `${path}.initContainers`;
  for (const [at, container] of recordsAt(spec, 'initContainers').entries()) {
    validateInit(container, init, at, scope);
    addName(container, `${init}[${String(at)}]`, names, scope);
  }
  validateEphemeral(path, names, scope);
}

function addName(
  container: JsonObject,
  path: string,
  names: Set<string>,
  { errors }: PodScope,
): void {
  const name = textAt(container, 'name');
  if (names.has(name)) errors.duplicate(`${path}.name`, name);
  else if (name !== '') names.add(name);
}

/** What holds for containers of every kind. */
function validateCommon(container: JsonObject, path: string, scope: PodScope): void {
  const { errors } = scope;
  const name = textAt(container, 'name');
  if (name === '') errors.required(`${path}.name`);
  else errors.problems(`${path}.name`, name, dns1123LabelProblems(name));
  const image = textAt(container, 'image');
  if (image === '') errors.required(`${path}.image`);
  else if (scope.isPod) validateImageBlanks(image, path, scope);
  validatePorts(container, path, scope);
  validateEnvironment(container, path, scope);
  validateMounts(container, path, scope);
  validateContainerResources(container, path, scope);
}

function validateImageBlanks(image: string, path: string, { errors }: PodScope): void {
  if (image.trim() === image) return;
  errors.invalid(`${path}.image`, image, 'must not have leading or trailing whitespace');
}

function validateInit(container: JsonObject, list: string, at: number, scope: PodScope): void {
  const { errors, isOn } = scope;
  const path = `${list}[${String(at)}]`;
  validateCommon(container, path, scope);
  const staysOn = textAt(container, 'restartPolicy') === 'Always';
  if (isOn('ContainerRestartRules')) {
    const hasRules = listAt(container, 'restartPolicyRules').length > 0;
    if (!staysOn || isOn('RestartAllContainersOnContainerExits')) {
      validateRestartRules(container, path, scope);
    } else if (hasRules) {
      const detail =
        'restartPolicyRules are not allowed for init containers with restart policy Always';
      errors.forbidden(`${path}.restartPolicyRules`, detail);
    }
  } else if (isSet(container, 'restartPolicy') && !staysOn) {
    const policy = textAt(container, 'restartPolicy');
    errors.notSupported(`${path}.restartPolicy`, policy, ['Always']);
  }
  // They run one by one: each is asked alone, as if it were the first.
  takeHostPorts(container, `${list}[0]`, new Set(), scope);
  if (staysOn) {
    validateLifecycle(container, path, scope);
    validateProbes(container, path, scope);
    return;
  }
  for (const name of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (!isSet(container, name)) continue;
    const detail = 'may not be set for init containers without restartPolicy=Always';
    errors.forbidden(`${path}.${name}`, detail);
  }
  for (const [index, policy] of recordsAt(container, 'resizePolicy').entries()) {
    if (textAt(policy, 'restartPolicy') !== 'RestartContainer') continue;
    errors.invalid(
      `${path}.resizePolicy[${String(index)}].restartPolicy`,
      'RestartContainer',
      "must not be set to 'RestartContainer' for non-sidecar initContainers",
    );
  }
}

const notEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
];

function validateEphemeral(path: string, names: Set<string>, scope: PodScope): void {
  const { spec, errors } = scope;
  const containers = recordsAt(spec, 'ephemeralContainers');
  const others = new Set(names);
  for (const [at, container] of containers.entries()) {
    const where = `${path}.ephemeralContainers[${String(at)}]`;
    validateCommon(container, where, scope);
    if (!scope.isPod) validateImageBlanks(textAt(container, 'image'), where, scope);
    addName(container, where, names, scope);
    const target = textAt(container, 'targetContainerName');
    if (target !== '' && !others.has(target)) {
      errors.notFound(`${where}.targetContainerName`, target);
    }
    const refuse = (name: string): void => {
      errors.forbidden(`${where}.${name}`, 'cannot be set for an Ephemeral Container');
    };
    for (const name of notEphemeral) {
      const isUsed = name === 'resources' || name === 'ports' || name === 'resizePolicy';
      const value = container[name];
      if (isUsed ? !isEmpty(value) : isSet(container, name)) refuse(name);
    }
    for (const [index, mount] of recordsAt(container, 'volumeMounts').entries()) {
      for (const name of ['subPath', 'subPathExpr']) {
        if (textAt(mount, name) !== '') refuse(`volumeMounts[${String(index)}].${name}`);
      }
    }
  }
}

const restartPolicies = ['Always', 'Never', 'OnFailure'];
const exitOperators = ['In', 'NotIn'];
const exitCodesMax = 255;

function validateRestartRules(container: JsonObject, path: string, scope: PodScope): void {
  const { errors, isOn } = scope;
  const rules = recordsAt(container, 'restartPolicyRules');
  const at = `${path}.restartPolicy`;
  if (isSet(container, 'restartPolicy')) {
    const policy = textAt(container, 'restartPolicy');
    if (!restartPolicies.includes(policy)) errors.notSupported(at, policy, restartPolicies);
  } else if (rules.length > 0) {
    errors.required(at, 'must specify restartPolicy when restart rules are used');
  }
  const actions = ['Restart'];
  if (isOn('RestartAllContainersOnContainerExits')) actions.push('RestartAllContainers');
  for (const [index, rule] of rules.entries()) {
    const where = `${path}.restartPolicyRules[${String(index)}]`;
    const action = textAt(rule, 'action');
    if (!actions.includes(action)) errors.notSupported(`${where}.action`, action, actions);
    const codes = recordAt(rule, 'exitCodes');
    if (codes === undefined) {
      errors.required(`${where}.exitCodes`, 'must be specified');
      continue;
    }
    const operator = textAt(codes, 'operator');
    if (!exitOperators.includes(operator)) {
      errors.notSupported(`${where}.exitCodes.operator`, operator, exitOperators);
    }
    const count = listAt(codes, 'values').length;
    if (count > exitCodesMax) errors.tooMany(`${where}.exitCodes.values`, count, exitCodesMax);
  }
}

/** What each port says is an option of its fields. */
function validatePorts(container: JsonObject, path: string, { errors }: PodScope): void {
  const names = new Set<string>();
  for (const [at, port] of recordsAt(container, 'ports').entries()) {
    const name = textAt(port, 'name');
    if (name === '' || portNameProblems(name).length > 0) continue;
    if (names.has(name)) errors.duplicate(`${path}.ports[${String(at)}].name`, name);
    names.add(name);
  }
}

/** No two containers that run at once have a port of the host. */
function takeHostPorts(
  container: JsonObject,
  path: string,
  taken: Set<string>,
  { errors }: PodScope,
): void {
  for (const [at, port] of recordsAt(container, 'ports').entries()) {
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    if (hostPort === 0) continue;
    const key = `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${String(hostPort)}`;
    if (taken.has(key)) errors.duplicate(`${path}.ports[${String(at)}].hostPort`, key);
    taken.add(key);
  }
}

/** In the network of the host a port is the host's. A template may leave that to its pods. */
function validatePortsOfHost(
  container: JsonObject,
  path: string,
  { errors, isPod }: PodScope,
): void {
  for (const [at, port] of recordsAt(container, 'ports').entries()) {
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    if (hostPort === (numberAt(port, 'containerPort') ?? 0)) continue;
    if (hostPort === 0 && !isPod) continue;
    const detail = 'must match `containerPort` when `hostNetwork` is true';
    errors.invalid(`${path}.ports[${String(at)}].hostPort`, hostPort, detail);
  }
}
