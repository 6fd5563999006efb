// Security contexts of pods and containers. What an operating system rules out has a file of its
// own; ranges of ids and sets of values are options of fields.
import {
  flagAt,
  isSet,
  listAt,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
} from '../../api/json-access.ts';
import { formatOf, localPathProblems } from '../../api/formats.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder } from '../validator.ts';
import { armorLengthMax } from './pod-armor.ts';
import type { PodScope } from './pod-scope.ts';
import {
  containerLists,
  validateHostProcesses,
  validateSystem,
  validateWindowsOptions,
} from './pod-systems.ts';

export function validatePodSecurity(scope: PodScope, path: string): void {
  const { spec, errors } = scope;
  const context = recordAt(spec, 'securityContext');
  const where = `${path}.securityContext`;
  if (context !== undefined) {
    for (const [at, id] of listAt(context, 'supplementalGroups').entries()) {
      const group = Number(id);
      if (group >= 0 && group <= 2_147_483_647) continue;
      const detail = 'must be between 0 and 2147483647, inclusive';
      errors.invalid(`${where}.supplementalGroups[${String(at)}]`, group, detail);
    }
    validateProfiles(context, where, scope);
    validateSysctls(context, where, scope);
    validateChangePolicy(context, where, scope);
  }
  if (flagAt(spec, 'hostPID') && flagAt(spec, 'shareProcessNamespace')) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.invalid(`${where}.shareProcessNamespace`, true, detail);
  }
  validateUserNamespace(scope, path);
  for (const list of containerLists) {
    for (const [at, container] of recordsAt(spec, list).entries()) {
      const own = recordAt(container, 'securityContext');
      if (own === undefined) continue;
      validateContainer(own, `${path}.${list}[${String(at)}].securityContext`, scope);
    }
  }
  validateSystem(scope, path);
  validateHostProcesses(scope, path);
}

/** What pods and containers may both say. */
function validateProfiles(context: JsonObject, path: string, { errors }: PodScope): void {
  const seccomp = recordAt(context, 'seccompProfile');
  if (seccomp !== undefined) validateSeccomp(seccomp, `${path}.seccompProfile`, errors);
  const armor = recordAt(context, 'appArmorProfile');
  if (armor !== undefined) validateArmor(armor, `${path}.appArmorProfile`, errors);
  const windows = recordAt(context, 'windowsOptions');
  if (windows !== undefined) validateWindowsOptions(windows, `${path}.windowsOptions`, errors);
}

/** The type is an option of the field. */
function validateSeccomp(profile: JsonObject, path: string, errors: PodScope['errors']): void {
  const at = `${path}.localhostProfile`;
  const isGiven = isSet(profile, 'localhostProfile');
  if (textAt(profile, 'type') !== 'Localhost') {
    if (!isGiven) return;
    errors.invalid(at, profile, 'can only be set when seccomp type is Localhost');
  } else if (isGiven) {
    const file = textAt(profile, 'localhostProfile');
    errors.problems(at, file, localPathProblems(file));
  } else errors.required(at, 'must be set when seccomp type is Localhost');
}

/** The type is an option of the field; with a wrong one the rest says nothing. */
function validateArmor(profile: JsonObject, path: string, errors: PodScope['errors']): void {
  const at = `${path}.localhostProfile`;
  const text = textAt(profile, 'localhostProfile');
  switch (textAt(profile, 'type')) {
    case 'Localhost':
      if (text !== text.trim()) {
        errors.invalid(at, text, 'must not be padded with whitespace');
      } else if (text === '') {
        errors.required(at, 'must be set when AppArmor type is Localhost');
      }
      if (Buffer.byteLength(text) > armorLengthMax) errors.tooLong(at, armorLengthMax);
      return;
    case 'RuntimeDefault':
    case 'Unconfined':
      if (!isSet(profile, 'localhostProfile')) return;
      errors.invalid(at, text, 'can only be set when AppArmor type is Localhost');
      return;
    default:
  }
}

const sysctlProblems = formatOf('sysctl');

function validateSysctls(context: JsonObject, path: string, { spec, errors }: PodScope): void {
  const names = new Set<string>();
  for (const [at, sysctl] of recordsAt(context, 'sysctls').entries()) {
    const where = `${path}.sysctls[${String(at)}].name`;
    const name = textAt(sysctl, 'name');
    const problems = name === '' ? [] : (sysctlProblems?.(name) ?? []);
    if (name === '') errors.required(where);
    else if (problems.length > 0) errors.problems(where, name, problems);
    else if (names.has(name)) errors.duplicate(where, name);
    names.add(name);
    const dotted = name.replaceAll('/', '.');
    const isIpc = /^(?:kernel\.sem$|kernel\.shm|kernel\.msg|fs\.mqueue\.)/.test(dotted);
    if (flagAt(spec, 'hostNetwork') && dotted.startsWith('net.')) {
      errors.invalid(where, name, "may not be specified when 'hostNetwork' is true");
    } else if (flagAt(spec, 'hostIPC') && isIpc) {
      errors.invalid(where, name, "may not be specified when 'hostIPC' is true");
    }
  }
}

/** Mounting with labels needs a feature of its own. */
function validateChangePolicy(context: JsonObject, path: string, scope: PodScope): void {
  const policy = textAt(context, 'seLinuxChangePolicy');
  if (policy !== 'MountOption' || scope.isOn('SELinuxMount')) return;
  scope.errors.notSupported(`${path}.seLinuxChangePolicy`, policy, ['Recursive']);
}

/** `hostUsers: false`: users of the pod are not users of the node. */
function validateUserNamespace({ spec, errors, isOn }: PodScope, path: string): void {
  if (spec['hostUsers'] !== false) return;
  const detail = 'when `hostUsers` is false';
  if (flagAt(spec, 'hostNetwork') && !isOn('UserNamespacesHostNetworkSupport')) {
    errors.forbidden(`${path}.hostNetwork`, detail);
  }
  if (flagAt(spec, 'hostPID')) errors.forbidden(`${path}.HostPID`, detail);
  if (flagAt(spec, 'hostIPC')) errors.forbidden(`${path}.HostIPC`, detail);
  for (const list of containerLists) {
    for (const [at, container] of recordsAt(spec, list).entries()) {
      if (recordsAt(container, 'volumeDevices').length === 0) continue;
      errors.forbidden(`${path}.${list}[${String(at)}].volumeDevices`, detail);
    }
  }
}

function validateContainer(context: JsonObject, path: string, scope: PodScope): void {
  const { errors, spec } = scope;
  if (textAt(context, 'procMount') === 'Unmasked' && spec['hostUsers'] !== false) {
    const detail = '`hostUsers` must be false to use `Unmasked`';
    errors.invalid(`${path}.procMount`, 'Unmasked', detail);
  }
  validateProfiles(context, path, scope);
  if (context['allowPrivilegeEscalation'] !== false) return;
  if (flagAt(context, 'privileged')) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true';
    errors.invalid(path, context, detail);
  }
  for (const capability of textsAt(recordAt(context, 'capabilities'), 'add')) {
    if (capability !== 'CAP_SYS_ADMIN') continue;
    const detail =
      'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
    errors.invalid(path, context, detail);
  }
}

export const graceSecondsOf = (spec: Holder): number =>
  numberAt(spec, 'terminationGracePeriodSeconds') ?? 30;
