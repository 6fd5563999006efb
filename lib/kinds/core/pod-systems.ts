// What an operating system rules out in the security of a pod, and what Windows has of its own.
import { flagAt, isSet, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder } from '../validator.ts';
import type { PodScope } from './pod-scope.ts';

/** In the order in which a pod's containers are looked at. */
export const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

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
const notOnLinux = ['windowsOptions'];
/** Their presence is not tracked: off is not set. */
const plainFlags: readonly string[] = ['hostPID', 'hostIPC'];

/** Members that the pod's operating system does not know. */
export function validateSystem({ spec, errors, osName }: PodScope, path: string): void {
  if (osName !== 'linux' && osName !== 'windows') return;
  const isWindows = osName === 'windows';
  const refuse = (of: Holder, names: readonly string[], at: string): void => {
    for (const name of names) {
      const value = valueAt(of, name);
      if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
      if (value === false && plainFlags.includes(name)) continue;
      const what = isWindows ? '' : 'windows options ';
      errors.forbidden(`${at}.${name}`, `${what}cannot be set for a ${osName} pod`);
    }
  };
  if (isWindows) refuse(spec, notOnWindows.spec, path);
  const own = recordAt(spec, 'securityContext');
  refuse(own, isWindows ? notOnWindows.pod : notOnLinux, `${path}.securityContext`);
  const names = isWindows ? notOnWindows.container : notOnLinux;
  for (const list of containerLists) {
    for (const [at, container] of recordsAt(spec, list).entries()) {
      const context = recordAt(container, 'securityContext');
      refuse(context, names, `${path}.${list}[${String(at)}].securityContext`);
    }
  }
}

/** Containers that are processes of the host: all of them, in its network. */
export function validateHostProcesses({ spec, errors }: PodScope, path: string): void {
  const optionsOf = (of: Holder): JsonObject | undefined =>
    recordAt(recordAt(of, 'securityContext'), 'windowsOptions');
  const pod = optionsOf(spec);
  const isPodHost = flagAt(pod, 'hostProcess');
  let containerCount = 0;
  let hostCount = 0;
  for (const list of containerLists) {
    for (const [at, container] of recordsAt(spec, list).entries()) {
      const own = optionsOf(container);
      const isOwn = isSet(own, 'hostProcess');
      const isHost = isOwn ? flagAt(own, 'hostProcess') : isPodHost;
      containerCount += 1;
      if (isHost) hostCount += 1;
      if (!isOwn || !isSet(pod, 'hostProcess') || isHost === isPodHost) continue;
      const where = `${path}.${list}[${String(at)}].securityContext.windowsOptions.hostProcess`;
      const detail =
        'pod hostProcess value must be identical if both are specified, ' +
        `was ${String(isPodHost)}`;
      errors.invalid(where, isHost, detail);
    }
  }
  if (hostCount === 0) return;
  if (hostCount !== containerCount) {
    const detail =
      'If pod contains any hostProcess containers then ' +
      'all containers must be HostProcess containers';
    errors.invalid(path, '', detail);
  }
  if (flagAt(spec, 'hostNetwork')) return;
  const detail = 'hostNetwork must be true if pod contains any hostProcess containers';
  errors.invalid(`${path}.hostNetwork`, false, detail);
}

const specKibMax = 64;
const domainLengthMax = 256;
const userLengthMax = 104;
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const dnsName = new RegExp(`^${label}(?:\\.${label})*$`);

/** `windowsOptions` of a pod or a container; the format of a name is an option of its field. */
export function validateWindowsOptions(
  options: JsonObject,
  path: string,
  errors: PodScope['errors'],
): void {
  if (isSet(options, 'gmsaCredentialSpec')) {
    const text = textAt(options, 'gmsaCredentialSpec');
    const at = `${path}.gmsaCredentialSpec`;
    if (text === '') errors.invalid(at, text, 'gmsaCredentialSpec cannot be an empty string');
    else if (Buffer.byteLength(text) > specKibMax * 1024) {
      errors.invalid(at, text, `gmsaCredentialSpec size must be under ${String(specKibMax)} KiB`);
    }
  }
  if (!isSet(options, 'runAsUserName')) return;
  const name = textAt(options, 'runAsUserName');
  for (const problem of userNameProblems(name)) {
    errors.invalid(`${path}.runAsUserName`, name, `runAsUserName${problem}`);
  }
}

function userNameProblems(name: string): readonly string[] {
  if (name === '') return [' cannot be an empty string'];
  if (/\p{Cc}/u.test(name)) return [' cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return [' cannot contain more than one backslash'];
  const problems: string[] = [];
  const user = parts.at(-1) ?? '';
  const domain = parts.length > 1 ? (parts[0] ?? '') : undefined;
  if (domain !== undefined && domain.length >= domainLengthMax) {
    problems.push(`'s Domain length must be under ${String(domainLengthMax)} characters`);
  }
  if (domain !== undefined && !netBiosName.test(domain) && !dnsName.test(domain)) {
    problems.push("'s Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === '') problems.push("'s User cannot be empty");
  else if (user.length > userLengthMax) {
    problems.push(`'s User length must not be longer than ${String(userLengthMax)} characters`);
  }
  if (/^[. ]+$/.test(user)) problems.push("'s User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  }
  return problems;
}
