// Security contexts of pods and containers, and what an operating system rules out.
import {
  flagAt,
  isSet,
  listAt,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
} from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder } from '../validator.ts';
import type { PodScope } from './pod-scope.ts';

const containerLists = ['containers', 'initContainers', 'ephemeralContainers'] as const;

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
  }
  if (flagAt(spec, 'hostPID') && flagAt(spec, 'shareProcessNamespace')) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.invalid(`${path}.shareProcessNamespace`, true, detail);
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
  validateWindows(scope, path);
}

function validateProfiles(context: JsonObject, path: string, { errors }: PodScope): void {
  const seccomp = recordAt(context, 'seccompProfile');
  if (seccomp !== undefined) {
    const file = textAt(seccomp, 'localhostProfile');
    const at = `${path}.seccompProfile.localhostProfile`;
    if (textAt(seccomp, 'type') === 'Localhost') {
      if (file === '') errors.required(at, 'must be set when seccomp type is Localhost');
      else if (file.startsWith('/')) errors.invalid(at, file, 'must be a relative path');
      else if (file.split('/').includes('..')) errors.invalid(at, file, "must not contain '..'");
    } else if (file !== '') {
      errors.invalid(at, file, 'can only be set when seccomp type is Localhost');
    }
  }
  const armor = recordAt(context, 'appArmorProfile');
  if (armor === undefined) return;
  const profile = textAt(armor, 'localhostProfile');
  const at = `${path}.appArmorProfile.localhostProfile`;
  if (textAt(armor, 'type') === 'Localhost') {
    if (profile.trim() === '') {
      errors.required(at, 'must be set when AppArmor type is Localhost');
    } else if (profile.trim() !== profile) {
      errors.invalid(at, profile, 'must not be padded with whitespace');
    } else if (profile.length > 4095) errors.tooLong(at, 4095);
  } else if (isSet(armor, 'localhostProfile')) {
    errors.invalid(at, profile, 'can only be set when AppArmor type is Localhost');
  }
}

function validateSysctls(context: JsonObject, path: string, { spec, errors }: PodScope): void {
  for (const [at, sysctl] of recordsAt(context, 'sysctls').entries()) {
    const where = `${path}.sysctls[${String(at)}].name`;
    const name = textAt(sysctl, 'name').replaceAll('/', '.');
    const isIpc = /^kernel\.(shm|msg|sem)|^fs\.mqueue\./.test(name);
    if (flagAt(spec, 'hostNetwork') && name.startsWith('net.')) {
      errors.invalid(where, name, "may not be specified when 'hostNetwork' is set to true");
    }
    if (flagAt(spec, 'hostIPC') && isIpc) {
      errors.invalid(where, name, "may not be specified when 'hostIPC' is set to true");
    }
  }
}

/** `hostUsers: false`: users of the pod are not users of the node. */
function validateUserNamespace({ spec, errors }: PodScope, path: string): void {
  if (spec['hostUsers'] !== false) return;
  for (const name of ['hostNetwork', 'hostPID', 'hostIPC']) {
    if (flagAt(spec, name)) errors.forbidden(`${path}.${name}`, 'when `hostUsers` is false');
  }
  for (const list of containerLists) {
    for (const [at, container] of recordsAt(spec, list).entries()) {
      if (recordsAt(container, 'volumeDevices').length === 0) continue;
      const where = `${path}.${list}[${String(at)}].volumeDevices`;
      errors.forbidden(where, 'when `hostUsers` is false');
    }
  }
}

function validateContainer(context: JsonObject, path: string, scope: PodScope): void {
  const { errors, spec } = scope;
  validateProfiles(context, path, scope);
  if (textAt(context, 'procMount') === 'Unmasked' && spec['hostUsers'] !== false) {
    const detail = '`hostUsers` must be false to use `Unmasked`';
    errors.invalid(`${path}.procMount`, 'Unmasked', detail);
  }
  if (context['allowPrivilegeEscalation'] !== false) return;
  if (flagAt(context, 'privileged')) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true';
    errors.invalid(path, '', detail);
  }
  const added = textsAt(recordAt(context, 'capabilities'), 'add');
  if (added.includes('CAP_SYS_ADMIN')) {
    const detail =
      'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
    errors.invalid(path, '', detail);
  }
}

const notOnWindows = {
  spec: ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'],
  pod: [
    'appArmorProfile',
    'seLinuxOptions',
    'seccompProfile',
    'fsGroup',
    'fsGroupChangePolicy',
    'sysctls',
    'runAsUser',
    'runAsGroup',
    'supplementalGroups',
    'supplementalGroupsPolicy',
    'seLinuxChangePolicy',
  ],
  container: [
    'appArmorProfile',
    'seLinuxOptions',
    'seccompProfile',
    'capabilities',
    'readOnlyRootFilesystem',
    'privileged',
    'allowPrivilegeEscalation',
    'procMount',
    'runAsUser',
    'runAsGroup',
  ],
} as const;

/** Members that the pod's operating system does not know. */
function validateSystem({ spec, errors, osName }: PodScope, path: string): void {
  if (osName !== 'linux' && osName !== 'windows') return;
  const refuse = (of: Holder, names: readonly string[], at: string): void => {
    for (const name of names) {
      const value = valueAt(of, name);
      if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) {
        continue;
      }
      if (at === path && value === false && name !== 'hostUsers') continue;
      errors.forbidden(`${at}.${name}`, `cannot be set for a ${osName} pod`);
    }
  };
  const isWindows = osName === 'windows';
  if (isWindows) refuse(spec, notOnWindows.spec, path);
  const own = recordAt(spec, 'securityContext');
  const podNames = isWindows ? notOnWindows.pod : ['windowsOptions'];
  refuse(own, podNames, `${path}.securityContext`);
  const names = isWindows ? notOnWindows.container : ['windowsOptions'];
  for (const list of containerLists) {
    for (const [at, container] of recordsAt(spec, list).entries()) {
      const context = recordAt(container, 'securityContext');
      refuse(context, names, `${path}.${list}[${String(at)}].securityContext`);
    }
  }
}

function validateWindows({ spec, errors }: PodScope, path: string): void {
  const contexts: (readonly [string, JsonObject])[] = [];
  const add = (of: Holder, at: string): JsonObject | undefined => {
    const options = recordAt(recordAt(of, 'securityContext'), 'windowsOptions');
    if (options !== undefined) contexts.push([`${at}.securityContext.windowsOptions`, options]);
    return options;
  };
  const pod = add(spec, path);
  const hostProcess: boolean[] = [];
  for (const list of containerLists) {
    for (const [at, container] of recordsAt(spec, list).entries()) {
      const own = add(container, `${path}.${list}[${String(at)}]`);
      const isHost = isSet(own, 'hostProcess')
        ? flagAt(own, 'hostProcess')
        : flagAt(pod, 'hostProcess');
      hostProcess.push(isHost);
      if (!isSet(pod, 'hostProcess') || !isSet(own, 'hostProcess')) continue;
      if (flagAt(pod, 'hostProcess') === flagAt(own, 'hostProcess')) continue;
      const where = `${path}.${list}[${String(at)}].securityContext.windowsOptions.hostProcess`;
      errors.invalid(
        where,
        own?.['hostProcess'],
        `pod hostProcess value must be identical if both are specified`,
      );
    }
  }
  for (const [at, options] of contexts) validateOptions(options, at, errors);
  if (!hostProcess.includes(true)) return;
  if (hostProcess.includes(false)) {
    const detail =
      'If pod contains any hostProcess containers then ' +
      'all containers must be HostProcess containers';
    errors.invalid(path, '', detail);
  }
  if (!flagAt(spec, 'hostNetwork')) {
    errors.invalid(
      `${path}.hostNetwork`,
      false,
      'hostNetwork must be true if pod contains any hostProcess containers',
    );
  }
}

function validateOptions(options: JsonObject, path: string, errors: PodScope['errors']): void {
  if (isSet(options, 'gmsaCredentialSpec')) {
    const bytes = Buffer.byteLength(textAt(options, 'gmsaCredentialSpec'));
    const at = `${path}.gmsaCredentialSpec`;
    if (bytes === 0) errors.invalid(at, '', 'gmsaCredentialSpec cannot be an empty string');
    else if (bytes > 65_536)
      errors.invalid(at, bytes, 'gmsaCredentialSpec size must be under 64 KiB');
  }
  if (!isSet(options, 'runAsUserName')) return;
  const name = textAt(options, 'runAsUserName');
  const at = `${path}.runAsUserName`;
  const parts = name.split('\\');
  const user = parts.at(-1) ?? '';
  const domain = parts.length > 1 ? (parts[0] ?? '') : undefined;
  if (name === '') errors.invalid(at, name, 'runAsUserName cannot be an empty string');
  else if (/\p{Cc}/u.test(name))
    errors.invalid(at, name, 'runAsUserName cannot contain control characters');
  else if (parts.length > 2)
    errors.invalid(at, name, 'runAsUserName cannot contain more than one backslash');
  else {
    if (domain === '')
      errors.invalid(at, name, "runAsUserName's Domain doesn't match a NetBIOS or DNS name");
    if ((domain ?? '').length > 256)
      errors.invalid(at, name, "runAsUserName's Domain length must be at most 256 characters");
    if (user === '') errors.invalid(at, name, "runAsUserName's User cannot be empty");
    if (user.length > 104)
      errors.invalid(at, name, "runAsUserName's User length must be at most 104 characters");
    if (/["/\\:;|=,+*?<>@[\]]/.test(user))
      errors.invalid(at, name, "runAsUserName's User cannot contain special characters");
  }
}

export const graceSecondsOf = (spec: Holder): number =>
  numberAt(spec, 'terminationGracePeriodSeconds') ?? 30;
