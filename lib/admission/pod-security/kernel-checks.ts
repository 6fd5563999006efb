// Checks of what containers see and change of the kernel: masks of /proc, and its parameters.
import { isSet, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { containersOf, contextOf, nameOf, named, namesWhere, quoted } from './check.ts';
import { sortedOnce, unlessOwnUsers } from './check.ts';
import type { Check, PodCheck } from './check.ts';

const isUnmasked = (context: JsonObject | undefined): boolean =>
  isSet(context, 'procMount') && textAt(context, 'procMount') !== 'Default';

const unmasksProc: PodCheck = (pod) => {
  const names = namesWhere(pod, isUnmasked);
  if (names.length === 0) return undefined;
  const found = containersOf(pod)
    .map(contextOf)
    .filter(isUnmasked)
    .map((context) => textAt(context, 'procMount'));
  const types = quoted(sortedOnce(found));
  return {
    reason: 'procMount',
    detail: `${named('container', names)} must not set securityContext.procMount to ${types}`,
  };
};

/** Those that change nothing for other pods, by the version that first had them. */
const safeSysctls: readonly (readonly [since: number, names: readonly string[]])[] = [
  [
    0,
    [
      'kernel.shm_rmid_forced',
      'net.ipv4.ip_local_port_range',
      'net.ipv4.tcp_syncookies',
      'net.ipv4.ping_group_range',
      'net.ipv4.ip_unprivileged_port_start',
    ],
  ],
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [
    29,
    [
      'net.ipv4.tcp_keepalive_time',
      'net.ipv4.tcp_fin_timeout',
      'net.ipv4.tcp_keepalive_intvl',
      'net.ipv4.tcp_keepalive_probes',
    ],
  ],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
];

function changesKernel(version: number): PodCheck {
  const known = safeSysctls.filter(([since]) => since <= version);
  const allowed: ReadonlySet<string> = new Set(known.flatMap(([, names]) => names));
  return ({ spec }) => {
    const names = recordsAt(contextOf(spec), 'sysctls').map(nameOf);
    const wrong = names.filter((name) => !allowed.has(name));
    if (wrong.length === 0) return undefined;
    return { reason: 'forbidden sysctls', detail: wrong.join(', ') };
  };
}

export const kernelChecks: readonly Check[] = [
  {
    id: 'procMount',
    level: 'baseline',
    versions: [
      { since: 0, check: unmasksProc },
      { since: 35, check: unlessOwnUsers(unmasksProc) },
    ],
  },
  {
    id: 'procMount_restricted',
    level: 'restricted',
    versions: [{ since: 35, check: unmasksProc }],
    overrides: 'procMount',
  },
  {
    id: 'sysctls',
    level: 'baseline',
    versions: safeSysctls.map(([since]) => ({ since, check: changesKernel(since) })),
  },
];
