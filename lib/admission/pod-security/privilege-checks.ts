// Checks of rights: privileged containers, rights gained later, and capabilities.
import { flagAt, recordAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { containersOf, contextOf, named, namesWhere, quoted } from './check.ts';
import { sortedOnce, unlessWindows } from './check.ts';
import type { Check, CheckedPod, PodCheck } from './check.ts';

const isPrivileged: PodCheck = (pod) => {
  const names = namesWhere(pod, (context) => flagAt(context, 'privileged'));
  if (names.length === 0) return undefined;
  const detail = `${named('container', names)} must not set securityContext.privileged=true`;
  return { reason: 'privileged', detail };
};

const mayEscalate: PodCheck = (pod) => {
  const names = namesWhere(pod, (context) => context?.['allowPrivilegeEscalation'] !== false);
  if (names.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${named('container', names)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

/** What a container may add in the baseline: what runtimes give by themselves, but NET_RAW. */
const usualCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);
const restrictedCapabilities: ReadonlySet<string> = new Set(['NET_BIND_SERVICE']);

/** What containers add beyond `allowed`; undefined: nothing. */
function addedText(pod: CheckedPod, allowed: ReadonlySet<string>): string | undefined {
  const added = (context: JsonObject | undefined): readonly string[] =>
    textsAt(recordAt(context, 'capabilities'), 'add').filter((name) => !allowed.has(name));
  const names = namesWhere(pod, (context) => added(context).length > 0);
  if (names.length === 0) return undefined;
  const found = sortedOnce(containersOf(pod).flatMap((container) => added(contextOf(container))));
  return (
    `${named('container', names)} must not include ${quoted(found)} ` +
    'in securityContext.capabilities.add'
  );
}

const addsUnusual: PodCheck = (pod) => {
  const detail = addedText(pod, usualCapabilities);
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail };
};

const keepsCapabilities: PodCheck = (pod) => {
  const details: string[] = [];
  const names = namesWhere(
    pod,
    (context) => !textsAt(recordAt(context, 'capabilities'), 'drop').includes('ALL'),
  );
  if (names.length > 0) {
    details.push(`${named('container', names)} must set securityContext.capabilities.drop=["ALL"]`);
  }
  const added = addedText(pod, restrictedCapabilities);
  if (added !== undefined) details.push(added);
  if (details.length === 0) return undefined;
  return { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

export const privilegeChecks: readonly Check[] = [
  { id: 'privileged', level: 'baseline', versions: [{ since: 0, check: isPrivileged }] },
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 8, check: mayEscalate },
      { since: 25, check: unlessWindows(mayEscalate) },
    ],
  },
  { id: 'capabilities_baseline', level: 'baseline', versions: [{ since: 0, check: addsUnusual }] },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    versions: [
      { since: 22, check: keepsCapabilities },
      { since: 25, check: unlessWindows(keepsCapabilities) },
    ],
    overrides: 'capabilities_baseline',
  },
];
